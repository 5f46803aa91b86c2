package importer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"claimsheet/apiclient"
	"claimsheet/importer/retry"
	"claimsheet/importer/stoprule"
	"claimsheet/mapping"
)

// SharedRules are the stop rules of a run that several processes carry out. They are safe for
// concurrent use.
type SharedRules interface {
	// Change calls update with the rules and keeps what it makes of them. No other process
	// changes them meanwhile. It may call update more than once, with the rules as they are
	// then. After an error the rules may or may not have been changed.
	Change(update func(*stoprule.Rules)) error
}

// errRules ends the part of a process that cannot reach the rules which all processes share.
const errRules = cutOff("the stop rules, which all processes of the run share, cannot be read")

// guard watches a run's answers and says when to stop or to pause. Where other processes
// carry the run out too, all add what they observe to the rules that they share: at once
// what may stop or pause the run, else several times a second (see Job.refreshRules).
type guard struct {
	most    stoprule.MaxFailures
	shared  SharedRules // nil when this process carries the run out alone
	process string      // its name in the shared rules

	mu     sync.Mutex
	rules  stoprule.Rules         // the shared ones as they were seen last
	added  int                    // observations that the shared rules have
	unsaid []stoprule.Observation // those that they may not have yet
	due    bool                   // the rules say that all pause, and this process has not done so yet
	cutOff error                  // why the shared rules cannot be reached; for good
}

// share has the guard use rules that other processes use too.
func (g *guard) share(rules SharedRules) { g.shared, g.process = rules, rand.Text() }

// observe takes an observation into account. pause says that the workers must wait until
// the service answers a GET again.
func (g *guard) observe(o stoprule.Observation) (stop error, pause bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shared != nil {
		if g.unsaid = append(g.unsaid, o); !o.MayStop(g.rules.Through) {
			return nil, false
		}
		return g.exchange()
	}
	pauses := g.rules.Pauses
	return reasonOf(g.rules.Observe(o, g.most)), g.rules.Pauses > pauses
}

// reasonOf is why the run stops, nil for "".
func reasonOf(why string) error {
	switch why {
	case "":
		return nil
	case errSignal.Error():
		return errSignal
	}
	return errors.New(why)
}

// exchange adds to the shared rules what they do not have, and learns what the others have
// seen. When it has failed once it is not tried again, because this process ends. g.mu is
// held.
func (g *guard) exchange() (stop error, pause bool) {
	if g.cutOff != nil {
		return g.cutOff, false
	}
	var now stoprule.Rules
	err := g.shared.Change(func(rules *stoprule.Rules) {
		rules.Add(g.process, g.added, g.unsaid, g.most)
		now = *rules
	})
	if err != nil {
		g.cutOff = fmt.Errorf("%w: %w", errRules, err)
		return g.cutOff, false
	}
	g.added, g.unsaid = g.added+len(g.unsaid), g.unsaid[:0]
	g.due = g.due || now.Pauses > g.rules.Pauses
	g.rules = now
	return reasonOf(now.Stop), g.due
}

// refresh is exchange for a caller that does not hold g.mu. When pause is true, the caller
// must pause.
func (g *guard) refresh() (stop error, pause bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	stop, pause = g.exchange()
	g.due = false
	return stop, pause
}

// announce says in the shared rules that this process stops the run, and why.
func (g *guard) announce(why error) {
	if g.shared == nil || errors.Is(why, ErrCutOff) { // then only this process ends
		return
	}
	_, _ = g.observe(stoprule.Observation{Of: stoprule.Ended, Stop: advised(why).Error()}) // the reason comes back
}

// saw takes one verdict into account.
func (g *guard) saw(v apiclient.Verdict) (stop error, pause bool) {
	o := stoprule.Observation{Of: stoprule.Verdict, Effect: v.Effect, Status: v.Status}
	if v.Stop {
		o.Stop = hinted(errors.New(v.Reason), v.Hint).Error()
	}
	stop, pause = g.observe(o)
	if pause {
		g.paused()
	}
	return stop, pause
}

// paused notes that this process pauses.
func (g *guard) paused() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due = false
}

// allowed takes an answer into account that was not a 403.
func (g *guard) allowed() { _, _ = g.observe(stoprule.Observation{Of: stoprule.Allowed}) } // never stops a run

// ended takes a step into account that is not sent again in this run.
func (g *guard) ended(kind mapping.StepKind, effect apiclient.Effect) (stop error) {
	stop, _ = g.observe(stoprule.Observation{Of: stoprule.Step, Kind: kind, Effect: effect})
	return stop
}

// gave takes an answer into account by which a step was created; taken says that it
// holds an id or url that another step has.
func (g *guard) gave(kind mapping.StepKind, taken bool) (stop error) {
	stop, _ = g.observe(stoprule.Observation{Of: stoprule.Answer, Kind: kind, Bad: taken})
	return stop
}

// made takes into account that a step was created after all: a look-up found it.
func (g *guard) made(kind mapping.StepKind) {
	_, _ = g.observe(stoprule.Observation{Of: stoprule.Found, Kind: kind, Effect: apiclient.Created}) // never stops a run
}

// finished takes into account a client for which something was sent, or that was only
// looked up. refused is the 4xx that its first refused step or look-up got, 0 for
// none.
func (g *guard) finished(failed bool, refused int) (stop error) {
	stop, _ = g.observe(stoprule.Observation{Of: stoprule.Client, Bad: failed, Status: refused})
	return stop
}

// hinted returns err with a hint behind it, if there is one.
func hinted(err error, hint string) error {
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// advised returns err with the hint of the failed request that it wraps, if any.
func advised(err error) error {
	if f, ok := errors.AsType[*apiclient.Failure](err); ok {
		return hinted(err, f.Hint)
	}
	return err
}

// gate is what all workers pass before they send. It is shut while the service does
// not answer.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil while no probe is under way
}

// wait returns when the gate is open, or when ctx is done.
func (g *gate) wait(ctx context.Context) {
	for ctx.Err() == nil {
		g.mu.Lock()
		shut := g.shut
		g.mu.Unlock()
		if shut == nil {
			return
		}
		select {
		case <-shut:
		case <-ctx.Done():
		}
	}
}

// open reports whether nobody has to wait.
func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut == nil
}

// probe shuts the gate until ask says that the service answers; of several
// callers one asks.
func (g *gate) probe(ctx context.Context, ask func(context.Context) bool) {
	g.mu.Lock()
	if g.shut != nil {
		g.mu.Unlock()
		return
	}
	open := make(chan struct{})
	g.shut = open
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.shut = nil
		close(open)
	}()
	for pace := retry.NewPolicy(retry.Pace{}); ctx.Err() == nil; {
		if ask(ctx) {
			return
		}
		retry.Sleep(ctx, pace.Backoff())
	}
}

// canary lets one client go first: nothing is sent for another until a client is
// finished for which the service has answered a creating request. So a pointer or a
// mapping that is wrong for all clients does harm for one of them only. The zero
// canary lets the first come.
type canary struct {
	mu     sync.Mutex
	proven bool
	leader *bool         // whether the service has answered for the client who goes first; nil before a client goes first
	ended  chan struct{} // closed when the leader is through
}

// enter returns when something may be sent for a client, or when ctx is done. answered is set
// when the service has answered a creating request for the client, who is known by its address.
func (c *canary) enter(ctx context.Context, answered *bool) {
	for {
		c.mu.Lock()
		if c.leader == nil && !c.proven {
			c.leader, c.ended = answered, make(chan struct{})
		}
		free, ended := c.proven || c.leader == answered, c.ended
		c.mu.Unlock()
		if free {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// passed reports whether others may follow: the service has answered for the first.
func (c *canary) passed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proven
}

// leads reports whether the service has answered for a client before any other.
func (c *canary) leads(answered *bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader == answered && *answered
}

// leave lets the others go on, if the client goes first. Where nothing reached the
// service for it, the next client goes first.
func (c *canary) leave(answered *bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader != answered {
		return
	}
	c.leader, c.proven = nil, *answered
	close(c.ended)
}

// Fault is a panic: a defect of Claimsheet. Its text says where it happened and of
// what kind it is, and holds nothing of the panic's value, which may be personal data
// or a secret.
type Fault struct {
	Kind  string   // the runtime's words, else the value's type
	Stack []string // “function file:line”, the innermost first
}

// Caught makes a Fault of what recover returned. It must be called by the
// deferred function itself.
func Caught(value any) *Fault {
	f := &Fault{Kind: fmt.Sprintf("panic with a %T", value)}
	if err, ok := value.(runtime.Error); ok {
		f.Kind = err.Error() // made of numbers and types
	}
	const skip, most = 3, 32 // runtime.Callers, Caught, the deferred function
	var callers [most]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(skip, callers[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			f.Stack = append(f.Stack, fmt.Sprintf("%s %s:%d", frame.Function, frame.File, frame.Line))
		}
		if !more {
			return f
		}
	}
}

// Error says what happened and where, on one line.
func (f *Fault) Error() string {
	at := ""
	if len(f.Stack) > 0 {
		at = ", in " + f.Stack[0]
	}
	return "a fault of Claimsheet's own: " + f.Kind + at
}

// errSignal is why workers stop when the coordinator gets a signal.
var errSignal = errors.New("the run was stopped by a signal")

// ErrCutOff is wrapped by what ends the part of this process in a run, and not the run: it
// cannot know any more what the other processes do.
var ErrCutOff = errors.New("this process was cut off from the others")

// cutOff is an error that wraps ErrCutOff and says why in its own words.
type cutOff string

func (c cutOff) Error() string { return string(c) }

func (c cutOff) Unwrap() error { return ErrCutOff }

// waiting is why the gate is shut, "" when it is not.
func (g *gate) waiting() string {
	if g.open() {
		return ""
	}
	return "waiting for the service to answer again"
}
