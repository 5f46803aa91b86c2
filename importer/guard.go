package importer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"claimsheet/apiclient"
	"claimsheet/importer/retry"
)

// SharedRules are the stop rules of a run that several processes carry out. They are safe for
// concurrent use.
type SharedRules interface {
	// Change calls update with the rules and keeps what it makes of them. No other process
	// changes them meanwhile. It may call update more than once, with the rules as they are
	// then. After an error the rules may or may not have been changed.
	Change(update func(*StopRules)) error
}

// errRules ends the part of a process that cannot reach the rules which all processes share.
const errRules = cutOff("the stop rules, which all processes of the run share, cannot be read")

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
		g.cutOff = fmt.Errorf("%w: %w", errRules, err)
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
	switch why {
	case "":
		return nil
	case errSignal.Error():
		return errSignal
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
	for pace := retry.NewPolicy(retry.Pace{}); ctx.Err() == nil; {
		if ask(ctx) {
			return
		}
		retry.Sleep(ctx, pace.Backoff())
	}
}

// canary lets one client go first: nothing is sent for another until a client is
// finished for which the service has answered a creating request. So a pointer or a
// mapping that is wrong for all clients does harm for one of them only.
type canary struct {
	turn     chan struct{} // has a token while no client goes first
	answered chan struct{} // closed when the others may follow
}

func newCanary() canary {
	c := canary{make(chan struct{}, 1), make(chan struct{})}
	c.turn <- struct{}{}
	return c
}

// enter returns when something may be sent for a client, or when ctx is done. It sets leads when the
// client goes first.
func (c canary) enter(ctx context.Context, leads *bool) {
	if *leads {
		return
	}
	select {
	case <-c.answered:
	case <-c.turn:
		*leads = true
	case <-ctx.Done():
	}
}

// leave lets the others follow the client who went first. If the service has not answered a creating
// request for it, the next client goes first.
func (c canary) leave(leads *bool, answered bool) {
	switch {
	case !*leads:
		return
	case answered:
		close(c.answered)
	default:
		c.turn <- struct{}{}
	}
	*leads = false
}

// pass lets every client go on at once.
func (c canary) pass() {
	<-c.turn
	close(c.answered)
}

// passed reports whether others may follow.
func (c canary) passed() bool {
	select {
	case <-c.answered:
		return true
	default:
		return false
	}
}

// Fault is a panic: a defect of Claimsheet. Its text says where it happened and of what kind it is,
// and leaves out the panic's value, which may be personal data or a secret.
type Fault struct {
	Kind  string   // the runtime's words, else the value's type
	Stack []string // “function file:line”, the innermost first
}

// Caught makes a Fault of what recover returned. Call it in the deferred function itself.
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

// ErrCutOff is wrapped by an error that ends this process's part in a run, and not the run: the
// process cannot know any more what the others do.
var ErrCutOff = errors.New("this process was cut off from the others")

// cutOff is an error that wraps ErrCutOff and says why in its own words.
type cutOff string

func (c cutOff) Error() string { return string(c) }

func (c cutOff) Unwrap() error { return ErrCutOff }
