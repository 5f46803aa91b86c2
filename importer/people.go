package importer

import (
	"encoding/binary"

	"claimsheet/mapping"
)

// people notes which client something belongs to: an address that is being
// used, an id that the service gave. A million of them must fit, so what is
// noted is held by its fingerprint, and the clients as bytes, one behind the
// other.
//
// It is not safe for concurrent use.
type people struct {
	owner   map[[16]byte]uint32 // where in clients the owner of what is noted stands
	clients []byte
}

func newPeople() *people { return &people{owner: map[[16]byte]uint32{}} }

// of is the client that something was noted for.
func (p *people) of(what string) (who mapping.Identity, known bool) {
	at, known := p.owner[fingerprintOf(what)]
	if !known {
		return mapping.Identity{}, false
	}
	space, rest := cutText(p.clients[at:])
	key, _ := cutText(rest)
	return mapping.Identity{Space: space, Key: key}, true
}

// note notes something for a client, unless it is another's already.
func (p *people) note(what string, who mapping.Identity) {
	key := fingerprintOf(what)
	if _, known := p.owner[key]; known {
		return
	}
	p.owner[key] = uint32(len(p.clients))
	p.clients = appendText(appendText(p.clients, who.Space), who.Key)
}

func (p *people) forget(what string) { delete(p.owner, fingerprintOf(what)) }

// appendText writes a text with its length before it.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// cutText reads what appendText wrote, and gives what is behind it.
func cutText(b []byte) (s string, rest []byte) {
	n, size := binary.Uvarint(b)
	return string(b[size : size+int(n)]), b[size+int(n):]
}
