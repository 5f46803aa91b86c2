package importer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// MaxFailures is how many clients may fail before the run stops: a number, or
// a share of the finished ones. The zero value stops at the first.
type MaxFailures struct {
	Count   int     // used when Percent is 0
	Percent float64 // 0 to 100; 100 lifts every stop rule but authentication, TLS and disk
}

// DefaultMaxFailures is the rule without --max-failures.
var DefaultMaxFailures = MaxFailures{Percent: 20}

// Lifted reports whether the run goes on whatever fails, but for authentication, TLS and disk.
func (m MaxFailures) Lifted() bool { return m.Percent >= 100 }

const (
	// enoughClients is how many must be finished before a share of failures counts.
	enoughClients = 20
	// forbiddenInARow is how many 403 in a row end the run, and ambiguousInARow how
	// many uncertain outcomes in a row pause it.
	forbiddenInARow = 3
	ambiguousInARow = 3
	// doubtsInARow is how many steps of a kind may become uncertain while not one is
	// created between them: a person has to decide about each.
	doubtsInARow = 10
	// firstClients is how many clients, the first of the run, must be refused alike
	// before the mapping counts as wrong, and not the clients.
	firstClients = 3
	// takenInARow is how many answers for one kind of step in a row may hold what
	// another step has. One may be an accident of the service's; more mean that it
	// is wrong, or that a wire pointer leads to a constant.
	takenInARow = 2
)

// StopRules are what was observed in a run so far, as far as that decides when it stops or
// pauses, and what its workers have sent. The zero value is that of a run that begins. Rows that
// are invalid and steps that were uncertain before the run are not in them. They are not safe for
// concurrent use.
type StopRules struct {
	Through   int                      // clients that are finished: something was sent for them, or they were looked up
	Failed    int                      // clients of Through that failed
	First     []int                    // the 4xx of each of the first clients, 0 for none
	Forbidden int                      // 403 in a row
	Ambiguous int                      // uncertain outcomes in a row
	Taken     map[mapping.StepKind]int // answers in a row that hold what another step has
	Doubts    map[mapping.StepKind]int // uncertain outcomes of a kind of step since one was created
	Pauses    int                      // how often to wait until the service answers a GET again
	Stop      string                   // why the run stops; "" while it goes on

	Sent map[string]map[apiclient.Kind]int // how many requests each worker has sent
}

// observation is something that a process has seen in a run.
type observation struct {
	of     subject
	kind   mapping.StepKind // of the step
	effect apiclient.Effect
	status int    // of a verdict or look-up; of a client the 4xx of its first refused request, 0 for none
	stop   string // of a verdict and of an end: why the run has to stop; "" for no reason
	bad    bool   // of a client: it failed; of an answer: it holds what another step has
}

// subject is what an observation is about.
type subject int

// The subjects.
const (
	ofVerdict subject = iota // the answer to a request, or that there was none
	ofLookUp                 // the answer to a look-up
	ofStep                   // a step that is not sent again in this run, or that a look-up found after that
	ofAnswer                 // an answer by which a step was created
	ofClient                 // a client for which something was sent, or that was only looked up
	ofEnd                    // a process ends the run for a reason of its own
	ofNothing                // the process wants the rules as they are now
)

// mayStop reports whether an observation may stop or pause a run that goes on. The others can
// wait for a moment before other processes hear of them. through is the Through of the rules,
// which may have been read some time ago.
func (o observation) mayStop(through int) bool {
	counts := o.of == ofClient && through < enoughClients // a share may count from this one on
	return counts || o.bad || o.of >= ofEnd || o.stop != "" || o.status == 403 || o.effect == apiclient.Uncertain
}

// observe takes an observation into account, and returns why it stops the run; "" when it does not.
// Stop keeps the first reason.
func (r *StopRules) observe(o observation, most MaxFailures) (why string) {
	if r.Taken == nil {
		r.Taken, r.Doubts = map[mapping.StepKind]int{}, map[mapping.StepKind]int{}
	}
	switch o.of {
	case ofVerdict, ofLookUp:
		if o.of == ofVerdict {
			r.Ambiguous = inARow(r.Ambiguous, o.effect == apiclient.Uncertain)
		}
		if r.Forbidden = inARow(r.Forbidden, o.status == 403); r.Forbidden >= forbiddenInARow {
			why = fmt.Sprintf("%d answers in a row were HTTP 403 Forbidden", r.Forbidden)
		}
	case ofStep:
		switch o.effect {
		case apiclient.Created:
			r.Doubts[o.kind] = 0
		case apiclient.Uncertain:
			r.Doubts[o.kind]++
		}
		if d := r.Doubts[o.kind]; d >= doubtsInARow {
			why = fmt.Sprintf("%d steps of the kind %s are uncertain, and none was created between them: the environment is wrong, or the service is faulty", d, o.kind)
		}
	case ofAnswer:
		if r.Taken[o.kind] = inARow(r.Taken[o.kind], o.bad); r.Taken[o.kind] >= takenInARow {
			why = fmt.Sprintf("the service gave %d steps of the kind %s in a row what other steps have already: it is at fault, or a wire pointer of the environment leads to the wrong place",
				r.Taken[o.kind], o.kind)
		}
	case ofClient:
		why = r.observeClient(o, most)
	}
	switch {
	case o.stop != "":
		why = o.stop
	case most.Lifted():
		why = ""
	}
	if why == "" && o.of == ofVerdict && r.Ambiguous >= ambiguousInARow {
		r.Ambiguous = 0
		r.Pauses++
	}
	if r.Stop == "" {
		r.Stop = why
	}
	return why
}

// inARow returns n+1 if something happened again, else 0.
func inARow(n int, again bool) int {
	if again {
		return n + 1
	}
	return 0
}

func (r *StopRules) observeClient(o observation, most MaxFailures) (why string) {
	r.Through++
	if o.bad {
		r.Failed++
	}
	if len(r.First) < firstClients {
		r.First = append(r.First, o.status)
	}
	first := r.First[0]
	alike := first != 0 && !slices.ContainsFunc(r.First, func(status int) bool { return status != first })
	switch {
	case r.Through == firstClients && alike:
		return fmt.Sprintf("each of the first %d clients was refused with HTTP %d: the mapping or the environment is wrong", firstClients, first)
	case most.Percent > 0 && r.Through >= enoughClients && float64(r.Failed)*100 > most.Percent*float64(r.Through):
		return fmt.Sprintf("%d of %d clients failed, more than --max-failures %g%%", r.Failed, r.Through, most.Percent)
	case most.Percent == 0 && r.Failed > most.Count:
		return fmt.Sprintf("%d clients failed, more than --max-failures %d", r.Failed, most.Count)
	}
	return ""
}

// SharedRules are the stop rules of a run that several processes carry out. They are safe for
// concurrent use.
type SharedRules interface {
	// Change calls update with the rules and keeps what it makes of them. No other process
	// changes them meanwhile. It may call update more than once, with the rules as they are
	// then. After an error the rules may or may not have been changed.
	Change(update func(*StopRules)) error
}

// guard watches a run's answers and says when to stop or to pause. Where several processes carry the
// run out, all add what they observe to the rules that they share: at once what may stop or pause
// the run, everything else several times a second (see Job.refreshRules).
type guard struct {
	most    MaxFailures
	shared  SharedRules                   // nil when this process carries the run out alone
	process string                        // its name in the shared rules
	sent    func() map[apiclient.Kind]int // what a worker has sent for the run; nil in other processes

	mu     sync.Mutex
	rules  StopRules     // the shared ones as they were seen last
	unsaid []observation // those that the shared rules do not have yet
	due    bool          // the rules say that all pause, and this process has not done so yet
	cutOff error         // why the shared rules could not be reached; they are not tried again
}

// share has the guard use rules that other processes use too.
func (g *guard) share(rules SharedRules) { g.shared, g.process = rules, rand.Text() }

// observe takes an observation into account. pause says that the process must wait until
// the service answers a GET again; only a verdict pauses it.
func (g *guard) observe(o observation) (stop error, pause bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shared == nil {
		pauses := g.rules.Pauses
		return reasonOf(g.rules.observe(o, g.most)), g.rules.Pauses > pauses
	}
	if g.unsaid = append(g.unsaid, o); !o.mayStop(g.rules.Through) {
		return nil, false
	}
	return g.exchange(o.of == ofVerdict)
}

// refresh exchanges observations with the other processes.
func (g *guard) refresh() (stop error, pause bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.exchange(true)
}

// exchange adds to the shared rules what they do not have, and learns what the others have
// seen. When it has failed once it is not tried again, because this process ends. The caller
// holds g.mu. pauses says whether the caller can pause now, and pause that it has to.
func (g *guard) exchange(pauses bool) (stop error, pause bool) {
	if g.cutOff != nil {
		return g.cutOff, false
	}
	var now StopRules
	err := g.shared.Change(func(rules *StopRules) {
		for _, o := range g.unsaid {
			rules.observe(o, g.most)
		}
		if g.sent != nil {
			if rules.Sent == nil {
				rules.Sent = map[string]map[apiclient.Kind]int{}
			}
			rules.Sent[g.process] = g.sent()
		}
		now = *rules
	})
	if err != nil {
		g.cutOff = fmt.Errorf("%w: the stop rules, which all processes of the run share, cannot be read: %w", ErrCutOff, err)
		return g.cutOff, false
	}
	g.unsaid = g.unsaid[:0]
	g.due = g.due || now.Pauses > g.rules.Pauses
	g.rules = now
	pause = g.due && pauses
	g.due = g.due && !pauses
	return reasonOf(now.Stop), pause
}

// reasonOf is why the run stops, nil for "".
func reasonOf(why string) error {
	if why == "" {
		return nil
	}
	return errors.New(why)
}

// announce says in the shared rules that this process stops the run, and why.
func (g *guard) announce(why error) {
	if g.shared == nil || errors.Is(why, ErrCutOff) { // then only this process ends
		return
	}
	_, _ = g.observe(observation{of: ofEnd, stop: advised(why).Error()}) // the reason comes back
}

// advised returns err with the hint of the failed request that it wraps, if any.
func advised(err error) error {
	if f, ok := errors.AsType[*apiclient.Failure](err); ok && f.Hint != "" {
		return fmt.Errorf("%w; %s", err, f.Hint)
	}
	return err
}

// gate is what all workers pass before they send. It is shut while the service does
// not answer.
type gate struct {
	shut atomic.Pointer[chan struct{}] // closed when the gate opens; nil while no probe is under way
}

// wait returns when the gate is open, or when ctx is done.
func (g *gate) wait(ctx context.Context) {
	for shut := g.shut.Load(); shut != nil && ctx.Err() == nil; shut = g.shut.Load() {
		select {
		case <-*shut:
		case <-ctx.Done():
		}
	}
}

// open reports whether no worker has to wait.
func (g *gate) open() bool { return g.shut.Load() == nil }

// probe shuts the gate until ask says that the service answers. While one caller asks, probe
// returns at once for the others.
func (g *gate) probe(ctx context.Context, ask func(context.Context) bool) {
	opens := make(chan struct{})
	if !g.shut.CompareAndSwap(nil, &opens) {
		return
	}
	defer func() {
		g.shut.Store(nil)
		close(opens)
	}()
	for pace := apiclient.NewRetryPolicy(0); ctx.Err() == nil; {
		if ask(ctx) {
			return
		}
		apiclient.Sleep(ctx, pace.Backoff())
	}
}

// canary lets one client go first: nothing is sent for another until a client is
// finished for which the service has answered a creating request. So a pointer or a
// mapping that is wrong for all clients does harm for one of them only.
type canary struct {
	first  chan struct{} // has an entry while a client goes first, and room for one
	passed atomic.Bool   // the others may follow
}

// enter returns when something may be sent for a client, or when ctx is done. It sets leads when the
// client goes first.
func (c *canary) enter(ctx context.Context, leads *bool) {
	if *leads || c.passed.Load() {
		return
	}
	select {
	case c.first <- struct{}{}:
		if *leads = !c.passed.Load(); !*leads {
			<-c.first
		}
	case <-ctx.Done():
	}
}

// leave lets the others follow the client who went first. If the service has not answered a creating
// request for it, the next client goes first.
func (c *canary) leave(leads *bool, answered bool) {
	if *leads {
		*leads = false
		c.passed.Store(answered)
		<-c.first
	}
}

// ErrCutOff is wrapped by an error that ends this process's part in a run, and not the run: the
// process cannot know any more what the others do.
var ErrCutOff = errors.New("this process was cut off from the others")
