package importer

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// lookedUp is what the service says of a client. It has an id, or unclear; with neither the
// service does not know the client. The zero lookedUp says that it was not asked.
type lookedUp struct {
	id      string    // of the client that the service knows
	unclear string    // why its answers do not say who the client is, or why it gave none
	failed  error     // why it gave no answer
	at      time.Time // when it gave the first answer; zero when it was not asked
	pause   time.Time // when the service's last pause before at ended; zero without one, or while it goes on
}

// nobody reports whether the service does not know the client, or was not asked.
func (r lookedUp) nobody() bool { return r.id == "" && r.unclear == "" }

// status is the HTTP status of a look-up that failed, 0 for none.
func (r lookedUp) status() int {
	if f, ok := errors.AsType[*apiclient.Failure](r.failed); ok {
		return f.Status
	}
	return 0
}

// Service is what the engine needs of the service's client; *apiclient.Client has
// it. What its methods promise stands there.
type Service interface {
	// Look-ups.
	Find(ctx context.Context, by apiclient.By, value string) (apiclient.Found, error)
	LearnAbsent(ctx context.Context, by apiclient.By) error
	KnowsAbsent(by apiclient.By) bool
	Agrees(match apiclient.Found, fields map[string]string) (field string, ok bool)
	PauseEnd() (end time.Time, over bool)

	// Creating requests, and the GET that finds out whether the service answers.
	Reserve(ctx context.Context) (*apiclient.Slot, error)
	CreateReserved(ctx context.Context, slot *apiclient.Slot, r apiclient.Request) apiclient.Verdict
	Do(ctx context.Context, r apiclient.Request) (apiclient.Answer, error)
	Judge(r apiclient.Request, a apiclient.Answer, err error) apiclient.Verdict
	JudgeStored(r apiclient.Request, stored apiclient.Answer) apiclient.Verdict
	Reads(k apiclient.Kind) bool
	ReadingRules() string
	Routes() apiclient.Routes
	LinkBody() json.RawMessage
	Repeatable(k apiclient.Kind) bool

	// How the client's queue stands.
	Queues() bool
	Spacing() time.Duration
	Sent() map[apiclient.Kind]int
	Waiting() (reason string, until time.Time)
}

// lookups are the look-ups of one run. They are safe for concurrent use.
type lookups struct {
	service   Service
	firstWait time.Duration // before a look-up that failed is made again
	now       func() time.Time
	keepGoing bool // go on with the next client although the service has never answered a look-up

	learning singleflight.Group // by the kind of look-up
	answered atomic.Bool        // the service has answered a look-up

	mu         sync.Mutex
	unanswered int                           // look-ups given up since it last did
	prefetched map[mapping.Identity]lookedUp // until the client's turn
}

// askedBy returns the addresses by which a client may be looked up. In the mode first the phone number
// is among them only without an e-mail address, because people may share a phone.
func askedBy(l mapping.Lookup) []string { return mapping.Addresses(l.Asked()) }

// waysOf returns the kinds of look-up that may find a client, in the order in which they are made.
func waysOf(l mapping.Lookup) (ways []apiclient.By) {
	if l.Email != "" {
		ways = append(ways, apiclient.ByEmail)
	}
	if l.AsksByPhone() {
		ways = append(ways, apiclient.ByPhone)
	}
	return ways
}

// fieldsOf returns a plan's client fields as texts, by dotted path, to compare with the client that
// a look-up finds.
func fieldsOf(plan mapping.Plan) map[string]string {
	texts := map[string]string{}
	for _, step := range plan.Steps[:min(1, len(plan.Steps))] { // its contacts have steps of their own
		for _, f := range step.Fields {
			if !f.Value.IsZero() {
				texts[f.Name] = f.Value.Literal
			}
		}
	}
	return texts
}

// withRow returns a context for the requests of a plan's client, which a trace then
// shows with the client's first row.
func withRow(ctx context.Context, plan mapping.Plan) context.Context {
	if len(plan.Rows) == 0 {
		return ctx
	}
	return apiclient.WithRow(ctx, plan.Rows[0].Table()+1, plan.Rows[0].Number())
}

// find looks a plan's client up, or returns once what was found before the client's turn. Its errors are
// those of findBy.
func (l *lookups) find(ctx context.Context, plan mapping.Plan) (lookedUp, error) {
	l.mu.Lock()
	r, known := l.prefetched[plan.Client]
	delete(l.prefetched, plan.Client)
	l.mu.Unlock()
	if known {
		return r, nil
	}
	return l.findBy(ctx, plan.Lookup, fieldsOf(plan))
}

// findBy looks a client up by addresses, and compares the client that is found with fields. An error
// says that no other look-up will get an answer either: a *apiclient.Failure with Stop set, or the
// end of ctx. Any other failure is part of the result.
func (l *lookups) findBy(ctx context.Context, addresses mapping.Lookup, fields map[string]string) (lookedUp, error) {
	var r lookedUp
	looks := 0
	var decisive apiclient.Found // the answer that says who it is
	var asked apiclient.By
	for _, by := range waysOf(addresses) {
		if looks > 0 && addresses.Mode == mapping.LookupEither && !decisive.Absent {
			break
		}
		value := addresses.Email
		if by == apiclient.ByPhone {
			value = addresses.Phone
		}
		found, err := l.ask(ctx, by, value)
		if f, ok := errors.AsType[*apiclient.Failure](err); err != nil && (ok && f.Stop || ctx.Err() != nil) {
			return lookedUp{}, err
		}
		if err != nil {
			return lookedUp{failed: err, unclear: err.Error()}, nil
		}
		if looks == 0 { // the oldest answer counts
			r.at = l.now()
			if end, over := l.service.PauseEnd(); over {
				r.pause = end
			}
		}
		if looks++; looks == 2 && addresses.Mode == mapping.LookupBoth {
			if found.ID != decisive.ID {
				r.unclear = disagree
				return r, nil
			}
			break
		}
		decisive, asked = found, by
	}
	if looks == 0 || decisive.Absent {
		return r, nil
	}
	if field, ok := l.service.Agrees(decisive, fields); !ok {
		r.unclear = "the service knows a client by that " + string(asked) + ", whose “" + field + "” differs"
	} else {
		r.id = decisive.ID
	}
	return r, nil
}

// ask makes one look-up. Before the first of its kind it learns what “not found” looks like, so that
// an error page is not taken for it.
func (l *lookups) ask(ctx context.Context, by apiclient.By, value string) (found apiclient.Found, err error) {
	if err := l.learn(ctx, by); err != nil {
		return found, err
	}
	err = l.get(ctx, func() (err error) {
		found, err = l.service.Find(ctx, by, value)
		return err
	})
	return found, err
}

// get makes a request, and again while it gets no answer. After maxUnanswered requests in a row that
// got none in all attempts, each is made only once; if the service has never answered a look-up, the
// error then has Stop set.
func (l *lookups) get(ctx context.Context, request func() error) error {
	attempts := apiclient.MaxAttempts
	l.mu.Lock()
	if l.unanswered >= maxUnanswered {
		attempts = 1
	}
	l.mu.Unlock()
	err := apiclient.RetryGET(ctx, attempts, l.firstWait, request)
	l.mu.Lock()
	defer l.mu.Unlock()
	f, failed := errors.AsType[*apiclient.Failure](err)
	if !failed || f.Retry != apiclient.Now {
		l.unanswered = 0
		if err == nil {
			l.answered.Store(true)
		}
		return err
	}
	if l.unanswered++; l.unanswered < maxUnanswered || l.answered.Load() || l.keepGoing {
		return err
	}
	return &apiclient.Failure{Stop: true, Err: err, Hint: f.Hint, Reason: "the service answers no look-up: " + f.Reason}
}

// learn learns what “not found” looks like, once for each kind of look-up. Goroutines that need the
// same kind wait for the one that asks.
func (l *lookups) learn(ctx context.Context, by apiclient.By) error {
	_, err, _ := l.learning.Do(string(by), func() (any, error) {
		if l.service.KnowsAbsent(by) {
			return nil, nil
		}
		return nil, l.get(ctx, func() error { return l.service.LearnAbsent(ctx, by) })
	})
	return err
}

// disagree is the reason when the e-mail address and the phone number of a client find two clients.
const disagree = "the look-ups by e-mail and by phone disagree"

// maxUnanswered is after how many unanswered look-ups in a row a service that has
// never answered one is taken to be away.
const maxUnanswered = 3
