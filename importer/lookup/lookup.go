// Package lookup finds out who the service knows.
//
// Find asks the service for a client by e-mail address or phone number, after it
// has learnt what an answer that finds nobody looks like. The package knows facts only:
// what to do with a client who is found, or cannot be told from another, is for the engine
// to decide.
package lookup

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"claimsheet/apiclient"
	"claimsheet/importer/retry"
	"claimsheet/mapping"
)

// Service is what this package asks of the service's client; *apiclient.Client
// has it.
type Service interface {
	Find(ctx context.Context, by apiclient.By, value string) (apiclient.Found, error)
	LearnAbsent(ctx context.Context, by apiclient.By) error
	KnowsAbsent(by apiclient.By) bool
	Agrees(match apiclient.Found, fields map[string]string) (field string, ok bool)
	PauseEnd() (end time.Time, over bool)
}

// Result is what the service says of a client. Where it holds nothing but At and
// Looks, the service knows nobody; the zero Result says that it was not asked.
type Result struct {
	ID      string    // the client that it knows
	Unclear string    // why its answers do not say who the client is
	Failed  error     // why it gave no answer
	Looks   int       // how many look-ups were made
	At      time.Time // when it was asked first
	Pause   time.Time // when the service's last pause before that had ended; zero for none, and where it had not
}

// Nobody reports whether nobody was found, or nobody was asked.
func (r Result) Nobody() bool { return r.ID == "" && r.Unclear == "" && r.Failed == nil }

// Status is the HTTP status of a look-up that failed, 0 for none.
func (r Result) Status() int {
	if f, ok := errors.AsType[*apiclient.Failure](r.Failed); ok {
		return f.Status
	}
	return 0
}

// Disagree is Unclear where e-mail address and phone number lead to different
// clients.
const Disagree = "the look-ups by e-mail and by phone disagree"

// Options are how look-ups are made. The zero Options are usual.
type Options struct {
	FirstWait time.Duration    // before a look-up that failed is made again, as retry.Pace.First
	Now       func() time.Time // nil is the wall clock
	KeepGoing bool             // continue with the next client though the service has never answered a look-up
}

// Lookups are the look-ups of one run. They are safe for
// concurrent use.
type Lookups struct {
	service Service
	options Options

	learning singleflight.Group // by the kind of look-up

	mu         sync.Mutex
	answered   bool                        // the service has answered a look-up
	unanswered int                         // look-ups given up since it last did
	prefetched map[mapping.Identity]Result // until the client's turn
}

// New returns the look-ups of a run.
func New(service Service, options Options) *Lookups {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Lookups{service: service, options: options, prefetched: map[mapping.Identity]Result{}}
}

// Answered reports whether the service has answered a look-up.
func (l *Lookups) Answered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered
}

// WithRow returns a context for the requests of a plan's client, which a trace then
// shows with the client's first row.
func WithRow(ctx context.Context, plan mapping.Plan) context.Context {
	if len(plan.Rows) == 0 {
		return ctx
	}
	return apiclient.WithRow(ctx, plan.Rows[0].Table()+1, plan.Rows[0].Number())
}

// Prefetch looks a client up before its turn, and keeps the result for Find.
func (l *Lookups) Prefetch(ctx context.Context, plan mapping.Plan) (Result, error) {
	r, err := l.Find(WithRow(ctx, plan), plan)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.prefetched[plan.Client] = r
	}
	return r, err
}

// Find looks a plan's client up, unless that was done by Prefetch. Its errors are those of
// FindBy.
func (l *Lookups) Find(ctx context.Context, plan mapping.Plan) (Result, error) {
	l.mu.Lock()
	r, known := l.prefetched[plan.Client]
	delete(l.prefetched, plan.Client)
	l.mu.Unlock()
	if known {
		return r, nil
	}
	return l.FindBy(ctx, plan.Lookup, Fields(plan))
}

// FindBy looks a client up by addresses, and compares who is found with fields.
// An error says that no other look-up will get an answer either: a
// *apiclient.Failure with Stop set, or the end of ctx. Any other failure is part
// of the Result.
func (l *Lookups) FindBy(ctx context.Context, addresses mapping.Lookup, fields map[string]string) (Result, error) {
	var r Result
	var decisive apiclient.Found // the answer that says who it is
	var asked apiclient.By
	for _, by := range By(addresses) {
		if r.Looks > 0 && addresses.Mode == mapping.LookupEither && !decisive.Absent {
			break
		}
		value := addresses.Email
		if by == apiclient.ByPhone {
			value = addresses.Phone
		}
		found, err := l.ask(ctx, by, value)
		if f, ok := errors.AsType[*apiclient.Failure](err); err != nil && (ok && f.Stop || ctx.Err() != nil) {
			return Result{Looks: r.Looks + 1}, err
		}
		if err != nil {
			return Result{Failed: err, Looks: r.Looks + 1}, nil
		}
		if r.Looks == 0 { // the oldest answer counts
			r.At = l.options.Now()
			if end, over := l.service.PauseEnd(); over {
				r.Pause = end
			}
		}
		if r.Looks++; r.Looks == 2 && addresses.Mode == mapping.LookupBoth {
			if found.ID != decisive.ID {
				r.Unclear = Disagree
				return r, nil
			}
			break
		}
		decisive, asked = found, by
	}
	if r.Looks == 0 || decisive.Absent {
		return r, nil
	}
	if field, ok := l.service.Agrees(decisive, fields); !ok {
		r.Unclear = "the service knows a client by that " + string(asked) + ", whose “" + field + "” differs"
	} else {
		r.ID = decisive.ID
	}
	return r, nil
}

// ask makes one look-up. Before the first of its kind it learns what an answer
// that finds nobody looks like, so that an error page is not taken for one.
func (l *Lookups) ask(ctx context.Context, by apiclient.By, value string) (found apiclient.Found, err error) {
	if err := l.learn(ctx, by); err != nil {
		return found, err
	}
	err = l.get(ctx, func() (err error) {
		found, err = l.service.Find(ctx, by, value)
		return err
	})
	return found, err
}

// get makes a request, again where it gets no answer. Where the last few got none in spite of all
// attempts, the next clients' requests are made once. The error of one that shows that the service
// is away has Stop set.
func (l *Lookups) get(ctx context.Context, request func() error) error {
	attempts := retry.Attempts
	l.mu.Lock()
	if l.unanswered >= maxUnanswered {
		attempts = 1
	}
	l.mu.Unlock()
	err := retry.GET(ctx, attempts, retry.Pace{First: l.options.FirstWait, Now: l.options.Now}, request)
	l.mu.Lock()
	defer l.mu.Unlock()
	f, failed := errors.AsType[*apiclient.Failure](err)
	if !failed || f.Retry != apiclient.Now {
		l.unanswered, l.answered = 0, l.answered || err == nil
		return err
	}
	if l.unanswered++; l.unanswered < maxUnanswered || l.answered || l.options.KeepGoing {
		return err
	}
	return &apiclient.Failure{Stop: true, Err: err, Hint: f.Hint, Reason: "the service answers no look-up: " + f.Reason}
}

// Learn learns what Find has to know before it looks a plan's client up.
func (l *Lookups) Learn(ctx context.Context, plan mapping.Plan) error {
	for _, by := range By(plan.Lookup) {
		if err := l.learn(ctx, by); err != nil {
			return err
		}
	}
	return nil
}

// learn learns what an answer that finds nobody looks like, once for each kind of
// look-up. Workers that need the same kind wait for the one that asks; the others
// do not.
func (l *Lookups) learn(ctx context.Context, by apiclient.By) error {
	_, err, _ := l.learning.Do(string(by), func() (any, error) {
		if l.service.KnowsAbsent(by) {
			return nil, nil
		}
		return nil, l.get(ctx, func() error { return l.service.LearnAbsent(ctx, by) })
	})
	return err
}

// maxUnanswered is after how many unanswered look-ups in a row a service that has
// never answered one is taken to be away.
const maxUnanswered = 3
