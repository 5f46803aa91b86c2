package importer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// meeting is what the service says of a client whom the ledger does not know.
// Without an id and a reason it knows nobody, or was not asked.
type meeting struct {
	id     string
	reason string // why the client cannot be gone on with
	advice string
	unmet  bool      // a look-up failed: that is the reason
	http   int       // the status that it got, 0 for none
	at     time.Time // when it was asked; zero when it was not
}

// acquaintances finds out whether the service knows clients already, and sees
// to it that no two workers ask for one person at the same time: the second
// waits until the first has created the client, and finds it.
type acquaintances struct {
	service *apiclient.Client
	first   time.Duration // as in Patiently
	now     func() time.Time
	dogged  bool // goes on with the next client though the service answers none

	learning singleflight.Group // by the kind of look-up

	mu     sync.Mutex
	learnt map[apiclient.By]bool
	heard  bool                         // the service has answered a look-up
	deaf   int                          // look-ups given up since it last did
	last   map[string]chan struct{}     // the last turn at an address
	known  map[mapping.Identity]meeting // what was asked before the client's turn
	tried  *people                      // for whom this run creates, or may have created, a client of an address

	doubtful *people                       // for whom earlier runs may have created one
	doubts   map[mapping.Identity][]string // the addresses of those clients
}

func newAcquaintances(service *apiclient.Client, first time.Duration, now func() time.Time, dogged bool) *acquaintances {
	return &acquaintances{
		service: service,
		first:   first,
		now:     now,
		dogged:  dogged,
		learnt:  map[apiclient.By]bool{},
		last:    map[string]chan struct{}{},
		known:   map[mapping.Identity]meeting{},
		tried:   newPeople(),

		doubtful: newPeople(),
		doubts:   map[mapping.Identity][]string{},
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
	met, err := a.ask(ctx, plan.Lookup, fieldTexts(plan))
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
	return a.ask(ctx, plan.Lookup, fieldTexts(plan))
}

func (a *acquaintances) recall(plan mapping.Plan) (met meeting, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) == 0 {
		return meeting{}, false
	}
	met, ok = a.known[plan.Client]
	delete(a.known, plan.Client)
	for _, key := range askedAddresses(plan.Lookup) {
		_, tried := a.tried.of(key)
		ok = ok && !tried
	}
	return met, ok
}

// ask asks the service for the client with these addresses and fields. An error is
// one that no other client will be spared: a refused authentication, or the end
// of ctx.
func (a *acquaintances) ask(ctx context.Context, lookup mapping.Lookup, fields map[string]string) (meeting, error) {
	by, values := asks(lookup)
	var met meeting
	var answers []apiclient.Found
	for i := range by {
		found, err := a.find(ctx, by[i], values[i])
		switch {
		case err != nil && (stops(err) || ctx.Err() != nil):
			return meeting{}, err
		case err != nil:
			return unmet(err), nil
		}
		if len(answers) == 0 { // the oldest answer counts
			met.at = a.now()
		}
		answers = append(answers, found)
	}
	if len(answers) == 2 && answers[0].ID != answers[1].ID {
		met.reason, met.advice = reasonDisagree, adviceWhoIsIt
		return met, nil
	}
	if len(answers) == 0 || answers[0].Absent {
		return met, nil
	}
	if field, ok := a.service.Agrees(answers[0], fields); !ok {
		met.reason, met.advice = "the service knows a client by that "+string(by[0])+", whose “"+field+"” differs", adviceWhoIsIt
		return met, nil
	}
	met.id = answers[0].ID
	return met, nil
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
	for _, key := range addressesOf(plan) {
		if key != addressKey(plan.Client) { // an address that is the client's key is nobody else's
			a.tried.note(key, plan.Client)
		}
	}
	return ""
}

// agree reports that all addresses by which a client is looked up are those of one
// other client of this run.
func (a *acquaintances) agree(plan mapping.Plan) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	owners := map[mapping.Identity]bool{}
	for _, key := range askedAddresses(plan.Lookup) {
		other, _ := a.tried.of(key)
		owners[other] = true
	}
	return len(owners) == 1
}

// unclaim gives the addresses back: the client was surely not created.
func (a *acquaintances) unclaim(plan mapping.Plan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range addressesOf(plan) {
		if who, known := a.tried.of(key); known && who == plan.Client {
			a.tried.forget(key)
		}
	}
}

// doubt finds the client to whom an address belongs by which a client is looked
// up: an earlier attempt may have created that one with it. So whoever a look-up
// finds there may be that client, and a look-up that finds nobody proves nothing.
// Where somebody is found, the attempts of this run count too.
func (a *acquaintances) doubt(who mapping.Identity, asked []string, found bool) (other mapping.Identity, doubted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range asked {
		if other, known := a.doubtful.of(key); known && other != who {
			return other, true
		}
		if other, known := a.tried.of(key); found && known && other != who {
			return other, true
		}
	}
	return mapping.Identity{}, false
}

// addressKey is an address, or a client's key, as people note it.
func addressKey(who mapping.Identity) string { return who.Space + " " + who.Key }

// addressesOf are what two clients can have in common.
func addressesOf(plan mapping.Plan) []string {
	keys := make([]string, len(plan.Addresses))
	for i, who := range plan.Addresses {
		keys[i] = addressKey(who)
	}
	return keys
}

// askedAddresses are those that decide who a client is. People may share a
// phone: where there is an e-mail address, it decides.
func askedAddresses(l mapping.Lookup) []string {
	var keys []string
	if l.Email != "" {
		keys = append(keys, addressKey(l.EmailAddress))
	}
	if l.Phone != "" && (l.Email == "" || l.Confirm) {
		keys = append(keys, addressKey(l.PhoneNumber))
	}
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

// doubtReason reports that an address belongs to a client who may have been
// created with it.
func doubtReason(other mapping.Identity) string {
	return fmt.Sprintf("the client of the key “%s” has the same address, and may have been created by an earlier attempt", other.Key)
}

// takenReason reports that another client of the run has an address. The service
// has not said so.
func takenReason(address string, other mapping.Identity) string {
	what := "e-mail address"
	if strings.HasPrefix(address, "phone ") {
		what = "phone number"
	}
	return fmt.Sprintf("another client of the sheet, with the key “%s”, has the same %s", other.Key, what)
}
