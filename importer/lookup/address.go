package lookup

import (
	"maps"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// Address names an e-mail address, a phone number or a client's key: the form in
// which this package compares them, and in which the ledger keeps them.
func Address(who mapping.Identity) string { return who.Space + " " + who.Key }

// Addresses are all addresses of a plan's client, of which two clients may have
// some in common.
func Addresses(plan mapping.Plan) []string {
	list := make([]string, len(plan.Addresses))
	for i, who := range plan.Addresses {
		list[i] = Address(who)
	}
	return list
}

// Asked are the addresses by which a client is looked up, and which decide who it
// is. People may share a phone: where there is an e-mail address, that decides.
func Asked(l mapping.Lookup) []string {
	var list []string
	if l.Email != "" {
		list = append(list, Address(l.EmailAddress))
	}
	if l.Phone != "" && (l.Email == "" || l.Confirm) {
		list = append(list, Address(l.PhoneNumber))
	}
	return list
}

// By are the look-ups that find a client: by e-mail address, by phone where there
// is none, and by both where both are to be confirmed.
func By(l mapping.Lookup) []apiclient.By {
	var by []apiclient.By
	if l.Email != "" {
		by = append(by, apiclient.ByEmail)
	}
	if l.Phone != "" && (l.Email == "" || l.Confirm) {
		by = append(by, apiclient.ByPhone)
	}
	return by
}

// Fields are a plan's client fields as text, by dotted path, to compare with who
// is found.
func Fields(plan mapping.Plan) map[string]string {
	texts := map[string]string{}
	for _, step := range plan.Steps {
		for _, f := range step.Fields {
			texts[strings.Join(f.Path, ".")] = f.Value.Literal
		}
	}
	return texts
}

// Holder is a client of this run who has an address by which another is looked
// up.
type Holder struct {
	Client mapping.Identity
	Phone  bool // the address is a phone number
	Sole   bool // the other is looked up by no address of anybody else's
}

// Reserve takes a client's addresses for its creation. It fails where another
// client of this run, who was created or may have been, has an address by which
// this one is looked up: that a look-up does not find that client yet proves
// nothing.
func (l *Lookups) Reserve(plan mapping.Plan) (taken Holder, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := Asked(plan.Lookup)
	for _, address := range asked {
		if other, known := l.reserved.Owner(address); known && other != plan.Client {
			sole := !slices.ContainsFunc(asked, func(a string) bool {
				owner, _ := l.reserved.Owner(a)
				return owner != other
			})
			return Holder{Client: other, Phone: strings.HasPrefix(address, "phone "), Sole: sole}, false
		}
	}
	for _, address := range Addresses(plan) {
		if l.options.KeySpaces || address != Address(plan.Client) { // an address that is the client's key is nobody else's
			l.reserved.Note(address, plan.Client)
		}
	}
	return Holder{}, true
}

// Release gives the addresses of a client back that was certainly not created.
func (l *Lookups) Release(plan mapping.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, address := range Addresses(plan) {
		if who, known := l.reserved.Owner(address); known && who == plan.Client {
			l.reserved.forget(address)
		}
	}
}

// AddUndecided notes the addresses of a client that an earlier run may have
// created. Of two such clients with one address it is the first one's. They stay
// noted for the whole run, whatever it finds out, so that the order of the rows
// makes no difference to other clients.
func (l *Lookups) AddUndecided(who mapping.Identity, addresses []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, address := range addresses {
		l.undecided.Note(address, who)
	}
	l.undecidedOf[who] = addresses
}

// OwnerOf returns another client to whom one of the addresses belongs by which a
// client is looked up, because an earlier run may have created that one with it.
// So whoever a look-up finds there may be that client, and a look-up that finds
// nobody proves nothing. With found, the clients of this run count too: somebody
// was found there.
func (l *Lookups) OwnerOf(who mapping.Identity, asked []string, found bool) (other mapping.Identity, owned bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, address := range asked {
		if other, known := l.undecided.Owner(address); known && other != who {
			return other, true
		}
		if other, known := l.reserved.Owner(address); found && known && other != who {
			return other, true
		}
	}
	return mapping.Identity{}, false
}

// Ticket is a client's place among those with the same e-mail address or phone
// number, now or when an earlier run may have created them. Of two such clients
// the earlier one in the sheet is created, as a dry run says, whichever worker is
// faster. The zero Ticket is no place at all.
type Ticket struct {
	lookups *Lookups
	place   *place
}

// place is what a Ticket stands for. Lookups.mu guards it.
type place struct {
	addresses []string
	turn      chan struct{} // closed when all those ahead have passed
	ahead     int           // how many of them have not
	behind    []*place
	done      bool // it has passed, too, as soon as it has its turn
}

// Queue takes the places of a client and of its contacts, who do not wait for each
// other. Call it in the order of the sheet: each place is taken at all addresses at
// once, so nobody waits in a circle.
func (l *Lookups) Queue(plans ...mapping.Plan) []Ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	tickets := make([]Ticket, len(plans))
	for i, plan := range plans {
		addresses := append(slices.Concat(Addresses(plan), l.undecidedOf[plan.Client]), Address(plan.Client))
		slices.Sort(addresses)
		tickets[i] = Ticket{l, &place{addresses: slices.Compact(addresses), turn: make(chan struct{})}}
	}
	last := map[string][]*place{}
	for _, t := range tickets {
		p := t.place
		var ahead []*place
		for _, address := range p.addresses {
			ahead = append(ahead, l.last[address]...)
			last[address] = append(last[address], p)
		}
		for i, before := range ahead {
			if !slices.Contains(ahead[:i], before) {
				before.behind = append(before.behind, p)
				p.ahead++
			}
		}
		if p.ahead == 0 {
			close(p.turn)
		}
	}
	maps.Copy(l.last, last)
	return tickets
}

// Wait returns when the clients ahead are done, and those ahead of them.
func (t Ticket) Wait() {
	if t.place != nil {
		<-t.place.turn
	}
}

// Done gives the place up. The next client goes on as soon as those ahead of this one
// are done too, also where this one never waited for them. Call it for each ticket;
// again, it does nothing.
func (t Ticket) Done() {
	if t.place == nil {
		return
	}
	l := t.lookups
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.place.done {
		return
	}
	t.place.done = true
	for passing := []*place{t.place}; len(passing) > 0; {
		p := passing[0]
		passing = passing[1:]
		if !p.done || p.ahead > 0 {
			continue
		}
		l.forgetPlace(p)
		for _, next := range p.behind {
			if next.ahead--; next.ahead == 0 {
				close(next.turn)
				passing = append(passing, next)
			}
		}
	}
}

// forgetPlace has those who come later not wait for a place. l.mu is held.
func (l *Lookups) forgetPlace(p *place) {
	for _, address := range p.addresses {
		l.last[address] = slices.DeleteFunc(l.last[address], func(other *place) bool { return other == p })
		if len(l.last[address]) == 0 {
			delete(l.last, address)
		}
	}
}
