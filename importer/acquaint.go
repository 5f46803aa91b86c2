package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// meeting is what the service says of a client whom the ledger does not know.
// All fields empty: it knows nobody, or was not asked.
type meeting struct {
	id     string
	reason string // why the client cannot be gone on with
	advice string
	unmet  bool // a look-up failed: that is the reason
	http   int  // the status that it got, 0 for none
}

// acquaintances finds out whether the service knows clients already, and sees
// to it that no two workers ask for one person at the same time: the second
// waits until the first has created the client, and finds it.
type acquaintances struct {
	service *apiclient.Client
	first   time.Duration // as in Patiently
	dogged  bool          // goes on with the next client though the service answers none

	mu     sync.Mutex
	learnt map[apiclient.By]bool
	heard  bool                         // the service has answered a look-up
	deaf   int                          // look-ups given up since it last did
	last   map[string]chan struct{}     // the last turn at an address
	known  map[mapping.Identity]meeting // what was asked before the client's turn
	owners *people                      // whose a client's id is in this run
	tried  *people                      // for whom this run creates, or may have created, a client of an address

	doubtful *people // for whom earlier runs may have created one
}

func newAcquaintances(service *apiclient.Client, first time.Duration, dogged bool) *acquaintances {
	return &acquaintances{
		service: service,
		first:   first,
		dogged:  dogged,
		learnt:  map[apiclient.By]bool{},
		last:    map[string]chan struct{}{},
		known:   map[mapping.Identity]meeting{},
		owners:  newPeople(),
		tried:   newPeople(),

		doubtful: newPeople(),
	}
}

// asks are the look-ups for a client: e-mail decides, the phone is asked only
// where there is no e-mail, unless both are to be confirmed.
func asks(l mapping.Lookup) (by []apiclient.By, values []string) {
	if l.Email != "" {
		by, values = append(by, apiclient.ByEmail), append(values, l.Email)
	}
	if l.Phone != "" && (l.Email == "" || l.Confirm) {
		by, values = append(by, apiclient.ByPhone), append(values, l.Phone)
	}
	return by, values
}

// early meets a client before its turn, and keeps what is said until then.
func (a *acquaintances) early(ctx context.Context, plan mapping.Plan) (meeting, error) {
	a.mu.Lock()
	met, known := a.known[plan.Client]
	a.mu.Unlock()
	if known {
		return met, nil
	}
	met, err := a.ask(ctx, plan)
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.known[plan.Client] = met
	}
	return met, err
}

// meet asks the service for the client, unless it was asked early and no
// client of the same address was created since.
func (a *acquaintances) meet(ctx context.Context, plan mapping.Plan) (meeting, error) {
	if met, ok := a.recall(plan); ok {
		return met, nil
	}
	return a.ask(ctx, plan)
}

func (a *acquaintances) recall(plan mapping.Plan) (met meeting, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) == 0 {
		return meeting{}, false
	}
	met, ok = a.known[plan.Client]
	delete(a.known, plan.Client)
	for _, key := range addresses(plan.Lookup) {
		_, tried := a.tried.of(key)
		ok = ok && !tried
	}
	return met, ok
}

// ask asks the service for the client. An error is one that no other client
// will be spared: a refused authentication, or the end of ctx.
func (a *acquaintances) ask(ctx context.Context, plan mapping.Plan) (meeting, error) {
	by, values := asks(plan.Lookup)
	var answers []apiclient.Found
	for i := range by {
		found, err := a.find(ctx, by[i], values[i])
		switch {
		case err != nil && (stops(err) || ctx.Err() != nil):
			return meeting{}, err
		case err != nil:
			return unmet(err), nil
		}
		answers = append(answers, found)
	}
	if len(answers) == 0 {
		return meeting{}, nil
	}
	if len(answers) == 2 && answers[0].ID != answers[1].ID {
		return meeting{reason: "the look-ups by e-mail and by phone disagree", advice: adviceWhoIsIt}, nil
	}
	if answers[0].Absent {
		return meeting{}, nil
	}
	if field, ok := a.service.Agrees(answers[0], fieldTexts(plan)); !ok {
		return meeting{reason: "the service knows a client by that " + string(by[0]) + ", whose “" + field + "” differs", advice: adviceWhoIsIt}, nil
	}
	return meeting{id: answers[0].ID}, nil
}

// unmet is what a failed look-up leaves to say.
func unmet(err error) meeting {
	met := meeting{reason: err.Error(), advice: adviceAfter(err), unmet: true}
	if f, ok := errors.AsType[*apiclient.Failure](err); ok {
		met.http = f.Status
	}
	return met
}

// claim takes a client's addresses for its creation. taken is why it cannot:
// another client of this run has the address by which this one is looked up,
// and was created or may have been. That a look-up does not show it yet proves
// nothing.
func (a *acquaintances) claim(plan mapping.Plan) (taken string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range askedAddresses(plan.Lookup) {
		if other, tried := a.tried.of(key); tried && other != plan.Client {
			return takenReason(key, other)
		}
	}
	for _, key := range addresses(plan.Lookup) {
		if key != plan.Client.Space+" "+plan.Client.Key { // an address that is the client's key is nobody else's
			a.tried.note(key, plan.Client)
			a.settled(key, plan.Client)
		}
	}
	return ""
}

// unclaim gives the addresses back: the client was surely not created.
func (a *acquaintances) unclaim(plan mapping.Plan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range addresses(plan.Lookup) {
		if who, known := a.tried.of(key); known && who == plan.Client {
			a.tried.forget(key)
		}
		a.settled(key, plan.Client)
	}
}

// own notes whose client an id is. Two identities with one id are told apart
// by nobody, so the second is refused.
func (a *acquaintances) own(id string, who mapping.Identity) (other mapping.Identity, clash bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if other, known := a.owners.of(id); known && other != who {
		return other, true
	}
	a.owners.note(id, who)
	return mapping.Identity{}, false
}

// addresses are what two clients can have in common.
func addresses(l mapping.Lookup) []string {
	var keys []string // a space of mapping.Identity and what could be a key in it
	if l.Email != "" {
		keys = append(keys, addressIn("email", l.Email))
	}
	if l.Phone != "" {
		keys = append(keys, addressIn("phone", l.Phone))
	}
	slices.Sort(keys)
	return keys
}

// fieldTexts are the client fields as text, by dotted path, to compare with a
// look-up's answer.
func fieldTexts(plan mapping.Plan) map[string]string {
	texts := map[string]string{}
	for _, step := range plan.Steps {
		for _, f := range step.Fields {
			texts[strings.Join(f.Path, ".")] = f.Value.Literal
		}
	}
	return texts
}

// clashReason tells that the service has one client for two of ours.
func clashReason(who, other mapping.Identity) string {
	if at, ok := ledger.Erased(other.Key); ok {
		return "the service has one client for this key and for one who was erased on " + at.Format(time.DateOnly)
	}
	if who.Key == other.Key {
		return fmt.Sprintf("the service has one client for this key of the key space “%s” and for the same key “%s” of the key space “%s”",
			who.Space, other.Key, other.Space)
	}
	return fmt.Sprintf("the service has one client for this key and for the key “%s”", other.Key)
}

// takenReason tells that another client of the run has an address, one of
// addresses. The service has not said so.
func takenReason(address string, other mapping.Identity) string {
	what := "e-mail address"
	if strings.HasPrefix(address, "phone ") {
		what = "phone number"
	}
	return fmt.Sprintf("another client of the sheet, with the key “%s”, has the same %s", other.Key, what)
}
