package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"
)

// A tombstone stands in place of the key of a client who was erased: the day,
// the ledger's secret, and a keyed hash of who it was, so that a sheet that
// names the client again is recognised and nothing is made anew. All tombstones
// of a ledger share the secret. They begin with a space, which no client key
// does: keys are trimmed.
//
// The hash hides the key from those who read the ledger, not from somebody who
// guesses it and tries.
const tombstonePrefix = " erased "

type tombstone struct {
	at     time.Time
	secret []byte
	hash   string // hex
}

func (t tombstone) String() string {
	return tombstonePrefix + t.at.UTC().Format(time.RFC3339) + " " + hex.EncodeToString(t.secret) + " " + t.hash
}

func readTombstone(client string) (t tombstone, ok bool) {
	text, ok := strings.CutPrefix(client, tombstonePrefix)
	parts := strings.Split(text, " ")
	if !ok || len(parts) != 3 {
		return tombstone{}, false
	}
	at, err := time.Parse(time.RFC3339, parts[0])
	secret, err2 := hex.DecodeString(parts[1])
	return tombstone{at, secret, parts[2]}, errors.Join(err, err2) == nil && len(parts[2]) == 2*sha256.Size
}

// hashed is a keyed hash of texts, in hex.
func hashed(secret []byte, texts ...string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(mac.Sum(nil))
}

func hashOf(secret []byte, o ClientKey) string {
	return hashed(secret, o.Environment, o.Space, o.Client)
}

func newSecret() []byte {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // it never fails
	return secret
}

// Erasures are the clients of an environment who were erased, recognised by
// their keys. The zero Erasures are none.
type Erasures struct {
	secret []byte
	byHash map[string]tombstone
	stones map[string]ClientKey // as the ledger has them now
}

// Erasures are those of an environment.
func (l *Ledger) Erasures(ctx context.Context, environment string) (Erasures, error) {
	owners, err := gather(stream(ctx, l.read, scanOwner, `
		SELECT environment, space, client FROM owners WHERE environment = ? AND client >= ?2 AND client < ?2 || char(0x10FFFF)`,
		environment, tombstonePrefix))
	e := Erasures{byHash: map[string]tombstone{}, stones: map[string]ClientKey{}}
	for _, o := range owners {
		if t, ok := readTombstone(o.Client); ok {
			e.secret, e.byHash[t.hash], e.stones[t.hash] = t.secret, t, o
		}
	}
	return e, err
}

// Find tells whether a client was erased, and when. What is left of the client
// stands under stone.
func (e Erasures) Find(o ClientKey) (stone ClientKey, at time.Time, ok bool) {
	if len(e.byHash) == 0 {
		return ClientKey{}, time.Time{}, false
	}
	hash := hashOf(e.secret, o)
	t, ok := e.byHash[hash]
	return e.stones[hash], t.at, ok
}

// ErasedNamed are the clients of an environment who were erased and had the key, in
// whatever key space, as they stand in the ledger now.
func (l *Ledger) ErasedNamed(ctx context.Context, environment, key string) ([]ClientKey, error) {
	e, err := l.Erasures(ctx, environment)
	if err != nil {
		return nil, err
	}
	var found []ClientKey
	for _, stone := range e.stones {
		for _, k := range []string{key, strings.ToLower(key)} {
			was := ClientKey{Environment: environment, Space: stone.Space, Client: k}
			if k != key && stone.Space != spaceEmail {
				continue
			}
			if is, _, ok := e.Find(was); ok && is == stone && !slices.Contains(found, stone) {
				found = append(found, stone)
			}
		}
	}
	return found, nil
}

// Erased tells whether a client's name is what stands for a client who was
// erased, and when that was.
func Erased(client string) (at time.Time, ok bool) {
	t, ok := readTombstone(client)
	return t.at, ok
}
