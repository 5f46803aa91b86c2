package lookup

import (
	"crypto/sha256"
	"encoding/binary"

	"claimsheet/mapping"
)

// Index notes which client something belongs to: an address, or an id that the
// service gave. It is made for a million entries: what is noted is held as a
// fingerprint of 16 bytes, and the clients as bytes, one after the other.
//
// An Index is not safe for concurrent use.
type Index struct {
	owner   map[[16]byte]uint32 // where in clients the owner of an entry begins
	clients []byte
}

// NewIndex returns an empty index.
func NewIndex() *Index { return &Index{owner: map[[16]byte]uint32{}} }

// Owner returns the client for which something was noted.
func (x *Index) Owner(of string) (who mapping.Identity, known bool) {
	at, known := x.owner[fingerprint(of)]
	if !known {
		return mapping.Identity{}, false
	}
	space, rest := cutText(x.clients[at:])
	key, _ := cutText(rest)
	return mapping.Identity{Space: space, Key: key}, true
}

// Note notes something for a client, unless it is another client's already.
func (x *Index) Note(what string, who mapping.Identity) {
	key := fingerprint(what)
	if _, known := x.owner[key]; known {
		return
	}
	x.owner[key] = uint32(len(x.clients))
	x.clients = appendText(appendText(x.clients, who.Space), who.Key)
}

// fingerprint is the first half of a text's SHA-256.
func fingerprint(text string) [16]byte {
	sum := sha256.Sum256([]byte(text))
	return [16]byte(sum[:16])
}

// appendText appends a text with its length before it.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// cutText reads what appendText wrote, and returns what follows it.
func cutText(b []byte) (s string, rest []byte) {
	n, size := binary.Uvarint(b)
	return string(b[size : size+int(n)]), b[size+int(n):]
}
