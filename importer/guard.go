package importer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/lookup"
	"claimsheet/importer/retry"
	"claimsheet/mapping"
)

// MaxFailures is how many clients may fail before the run stops: a number, or
// a share of those that are through.
type MaxFailures struct {
	Count   int     // used when Percent is 0
	Percent float64 // 0 to 100; 100 lifts every stop rule but authentication, TLS and disk
}

// DefaultMaxFailures is the rule without --max-failures.
var DefaultMaxFailures = MaxFailures{Percent: 20}

const (
	// enoughClients is how many must be through before a share says anything.
	enoughClients = 20
	// forbiddenInARow and ambiguousInARow are how many 403 end the run, and how
	// many uncertain outcomes pause it.
	forbiddenInARow = 3
	ambiguousInARow = 3
	// doubtsWithoutOne is how many steps of a kind may become uncertain while
	// not one is created: somebody has to decide about each of them.
	doubtsWithoutOne = 10
	// firstClients is how many clients must be refused alike before the mapping is
	// taken to be wrong, and not the clients.
	firstClients = 3
	// takenInARow is how many answers for one kind of step in a row may hold what
	// another step has. One may be an accident of the service's; more mean that it
	// is wrong, or that a wire pointer leads to a constant.
	takenInARow = 2
)

// guard watches a run's answers and says when to stop or to pause. Rows that
// are invalid and steps that were uncertain before the run do not come here.
type guard struct {
	most MaxFailures

	mu        sync.Mutex
	through   int                      // clients for which something was sent, or that were looked up
	failed    int                      // of them
	first     []int                    // the 4xx of each of the first clients, 0 for none
	forbidden int                      // 403 in a row
	ambiguous int                      // uncertain outcomes in a row
	taken     map[mapping.StepKind]int // answers in a row that hold what another step has
	doubts    map[mapping.StepKind]int // uncertain outcomes of a kind of step, until one is created
	proven    map[mapping.StepKind]bool
}

func (g *guard) lifted() bool { return g.most.Percent >= 100 }

// saw takes one verdict into account. pause says that the workers must wait until
// the service answers a GET again.
func (g *guard) saw(v apiclient.Verdict) (stop error, pause bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.Effect == apiclient.Uncertain {
		g.ambiguous++
	} else {
		g.ambiguous = 0
	}
	if v.Status == 403 {
		g.forbidden++
	} else {
		g.forbidden = 0
	}
	switch {
	case v.Stop:
		return hinted(errors.New(v.Reason), v.Hint), false
	case g.forbidden >= forbiddenInARow && !g.lifted():
		return fmt.Errorf("%d answers in a row were HTTP 403 Forbidden", g.forbidden), false
	case g.ambiguous >= ambiguousInARow:
		g.ambiguous = 0
		return nil, true
	}
	return nil, false
}

// allowed takes an answer into account that was not a 403.
func (g *guard) allowed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forbidden = 0
}

// ended takes a step into account that is not sent again in this run.
func (g *guard) ended(kind mapping.StepKind, effect apiclient.Effect) (stop error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.countDoubts(kind, effect)
	if n := g.doubts[kind]; n >= doubtsWithoutOne && !g.lifted() {
		return fmt.Errorf("%d steps of the kind %s are uncertain and none was created: the environment is wrong, or the service is ill", n, kind)
	}
	return nil
}

// countDoubts counts the uncertain steps of a kind of which none was ever created.
// g.mu is held.
func (g *guard) countDoubts(kind mapping.StepKind, effect apiclient.Effect) {
	if g.doubts == nil {
		g.doubts, g.proven = map[mapping.StepKind]int{}, map[mapping.StepKind]bool{}
	}
	switch {
	case effect == apiclient.Created || g.proven[kind]:
		g.proven[kind], g.doubts[kind] = true, 0
	case effect == apiclient.Uncertain:
		g.doubts[kind]++
	}
}

// gave takes an answer into account by which a step was created; taken says that it
// holds an id or url that another step has.
func (g *guard) gave(kind mapping.StepKind, taken bool) (stop error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !taken {
		delete(g.taken, kind)
		return nil
	}
	if g.taken == nil {
		g.taken = map[mapping.StepKind]int{}
	}
	if g.taken[kind]++; g.taken[kind] < takenInARow || g.lifted() {
		return nil
	}
	return fmt.Errorf("the service gave %d steps of the kind %s in a row what other steps have already: it is at fault, or a wire pointer of the environment leads to the wrong place",
		g.taken[kind], kind)
}

// made takes into account that a step was created after all: a look-up found it.
func (g *guard) made(kind mapping.StepKind) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.countDoubts(kind, apiclient.Created)
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

// finished takes into account a client for which something was sent, or that was only
// looked up. refused is the 4xx that its first refused step or look-up got, 0 for
// none.
func (g *guard) finished(failed bool, refused int) (stop error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.through++
	if failed {
		g.failed++
	}
	if len(g.first) < firstClients {
		g.first = append(g.first, refused)
	}
	switch {
	case g.lifted():
		return nil
	case len(g.first) == firstClients && g.through == firstClients && g.alike():
		return fmt.Errorf("each of the first %d clients was refused with HTTP %d: the mapping or the environment is wrong", firstClients, g.first[0])
	case g.most.Percent > 0 && g.through >= enoughClients && float64(g.failed)*100 > g.most.Percent*float64(g.through):
		return fmt.Errorf("%d of %d clients failed, more than --max-failures %g%%", g.failed, g.through, g.most.Percent)
	case g.most.Percent == 0 && g.failed > g.most.Count:
		return fmt.Errorf("%d clients failed, more than --max-failures %d", g.failed, g.most.Count)
	}
	return nil
}

func (g *guard) alike() bool {
	for _, status := range g.first {
		if status == 0 || status != g.first[0] {
			return false
		}
	}
	return true
}

// react lets the guard see a verdict, and does what the guard says.
func (j *Job) react(ctx context.Context, v apiclient.Verdict) {
	stop, pause := j.guard.saw(v)
	if stop != nil {
		j.stop(stop)
	}
	if pause {
		j.gate.probe(ctx, j.answers)
	}
}

// seeLookUp lets the guard see whether a look-up was forbidden.
func (j *Job) seeLookUp(ctx context.Context, found lookup.Result) {
	switch {
	case found.Status() == 403:
		j.react(ctx, apiclient.Verdict{Effect: apiclient.Refused, Status: 403})
	case found.Failed == nil:
		j.guard.allowed()
	}
}

// answers asks whether the service is there again: any answer but a 5xx will do.
// One that ends the run (a redirect, a 401) ends it here, before another POST gets
// it.
func (j *Job) answers(ctx context.Context) bool {
	req := j.Service.Routes().Templates()
	a, err := j.Service.Do(ctx, req)
	if err == nil && a.Status/100 != 2 && retry.Exceeds(a.RetryAfter) {
		j.stop(tooLong(a.RetryAfter))
	}
	if v := j.Service.Judge(req, a, err); v.Stop {
		j.stop(hinted(errors.New(v.Reason), v.Hint))
	}
	return err == nil && a.Status < 500
}

// tooLong is why a run stops that is asked to wait for longer than it does.
func tooLong(wait time.Duration) error { return errors.New("the service " + retry.TooLong(wait)) }

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
	leader *clientRun    // who goes first, nil while nobody does
	ended  chan struct{} // closed when the leader is through
}

// enter returns when something may be sent for r's client, or when ctx is done.
func (c *canary) enter(ctx context.Context, r *clientRun) {
	for {
		c.mu.Lock()
		if c.leader == nil && !c.proven {
			c.leader, c.ended = r, make(chan struct{})
		}
		free, ended := c.proven || c.leader == r, c.ended
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

// leads reports whether the service has answered for r's client before any other.
func (c *canary) leads(r *clientRun) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader == r && r.answered
}

// leave lets the others go on, if r's client goes first. Where nothing reached the
// service for it, the next client goes first.
func (c *canary) leave(r *clientRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader != r {
		return
	}
	c.leader, c.proven = nil, r.answered
	close(c.ended)
}
