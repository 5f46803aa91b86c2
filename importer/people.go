package importer

import (
	"strings"

	"claimsheet/mapping"
)

// people notes which client something belongs to: an address that is being
// used, an id that the service gave. A million of them must fit, so clients
// are held once, by number, and what is noted by its fingerprint.
//
// It is not safe for concurrent use.
type people struct {
	numbers map[[16]byte]int32 // by client
	clients []mapping.Identity
	owner   map[[16]byte]int32 // by what is noted
}

func newPeople() *people {
	return &people{numbers: map[[16]byte]int32{}, owner: map[[16]byte]int32{}}
}

// of is the client that something was noted for.
func (p *people) of(what string) (who mapping.Identity, known bool) {
	n, known := p.owner[fingerprintOf(what)]
	if !known {
		return mapping.Identity{}, false
	}
	return p.clients[n], true
}

// note notes something for a client, unless it is another's already.
func (p *people) note(what string, who mapping.Identity) {
	key := fingerprintOf(what)
	if _, known := p.owner[key]; !known {
		p.owner[key] = p.number(who)
	}
}

func (p *people) forget(what string) { delete(p.owner, fingerprintOf(what)) }

func (p *people) number(who mapping.Identity) int32 {
	key := fingerprint(who)
	n, known := p.numbers[key]
	if !known {
		n = int32(len(p.clients))
		p.numbers[key] = n
		// A copy: the key may be a piece of its row's text.
		p.clients = append(p.clients, mapping.Identity{Space: who.Space, Key: strings.Clone(who.Key)})
	}
	return n
}
