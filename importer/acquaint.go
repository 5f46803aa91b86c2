package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// meeting is what the service says of a client whom the ledger does not know.
// All fields empty: it knows nobody, or was not asked.
type meeting struct {
	id     string
	reason string // why the client cannot be gone on with
	advice string
}

// acquaintances finds out whether the service knows clients already, and sees
// to it that no two workers ask for one person at the same time: the second
// waits until the first has created the client, and finds it.
type acquaintances struct {
	service *apiclient.Client

	mu     sync.Mutex
	learnt map[apiclient.By]error
	busy   map[string]chan struct{}
	owners map[string]mapping.Identity // client id → whose it is in this run
}

func newAcquaintances(service *apiclient.Client) *acquaintances {
	return &acquaintances{
		service: service,
		learnt:  map[apiclient.By]error{},
		busy:    map[string]chan struct{}{},
		owners:  map[string]mapping.Identity{},
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

// meet asks the service for the client. An error is one that no other client
// will be spared.
func (a *acquaintances) meet(ctx context.Context, plan mapping.Plan) (meeting, error) {
	by, values := asks(plan.Lookup)
	var answers []apiclient.Found
	for i := range by {
		if err := a.learn(ctx, by[i]); err != nil {
			return meeting{}, err
		}
		found, err := a.service.Find(ctx, by[i], values[i])
		if err != nil {
			if stops(err) {
				return meeting{}, err
			}
			return meeting{reason: err.Error(), advice: adviceLookup}, nil
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

// learn finds out, once for each kind of look-up, what an answer that finds
// nobody looks like, so that an error page is not taken for one.
func (a *acquaintances) learn(ctx context.Context, by apiclient.By) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err, asked := a.learnt[by]
	if !asked {
		err = a.service.LearnAbsent(ctx, by)
		if ctx.Err() == nil {
			a.learnt[by] = err
		}
	}
	return err
}

// own notes whose client an id is. Two identities with one id are told apart
// by nobody, so the second is refused.
func (a *acquaintances) own(id string, who mapping.Identity) (other mapping.Identity, clash bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if other, known := a.owners[id]; known && other != who {
		return other, true
	}
	a.owners[id] = who
	return mapping.Identity{}, false
}

// alone waits until no other worker is busy with the same e-mail address or
// phone number, and makes the others wait until done is called.
func (a *acquaintances) alone(l mapping.Lookup) (done func()) {
	var keys []string
	if l.Email != "" {
		keys = append(keys, "email "+strings.ToLower(l.Email))
	}
	if l.Phone != "" {
		keys = append(keys, "phone "+l.Phone)
	}
	slices.Sort(keys) // one order for all: nobody waits in a circle
	var held []chan struct{}
	for _, key := range keys {
		a.mu.Lock()
		for a.busy[key] != nil {
			other := a.busy[key]
			a.mu.Unlock()
			<-other
			a.mu.Lock()
		}
		mine := make(chan struct{})
		a.busy[key] = mine
		a.mu.Unlock()
		held = append(held, mine)
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for i, key := range keys {
			delete(a.busy, key)
			close(held[i])
		}
	}
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

func clashReason(other mapping.Identity) string {
	return fmt.Sprintf("the service has one client for this key and for the key “%s”", other.Key)
}
