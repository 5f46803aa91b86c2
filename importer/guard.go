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

// StopRules are what the answers of a run have said so far, as far as that decides when
// the run stops or pauses. Where several processes carry a run out, they share them; see
// Team. Rows that are invalid and steps that were uncertain before the run are not in them.
type StopRules struct {
	Through   int                      // clients for which something was sent, or that were looked up
	Failed    int                      // of them
	First     []int                    // the 4xx of each of the first clients, 0 for none
	Forbidden int                      // 403 in a row
	Ambiguous int                      // uncertain outcomes in a row
	Taken     map[mapping.StepKind]int // answers in a row that hold what another step has
	Doubts    map[mapping.StepKind]int // uncertain outcomes of a kind of step, until one is created
	Proven    map[mapping.StepKind]bool
	Pauses    int    // how often the processes have had to wait until the service answers a GET again
	Stop      string // why the run stops; "" while it goes on
}

// news is something that the rules take into account.
type news struct {
	what   topic
	kind   mapping.StepKind
	effect apiclient.Effect
	status int    // of a verdict; of a client the first 4xx
	stop   string // why the verdict ends the run by itself
	bad    bool   // of a client: it failed; of an answer: it holds what another step has
}

// topic is what news are about.
type topic int

const (
	ofVerdict topic = iota
	ofAllowed       // an answer that was not a 403
	ofEnded         // a step that is not sent again in this run
	ofAnswer        // an answer by which a step was created
	ofMade          // a step that was created after all: a look-up found it
	ofClient        // a client for which something was sent, or that was only looked up
	ofStop          // a process ends the run for a reason of its own
)

// mayStop reports whether news may end or pause a run.
func (n news) mayStop() bool {
	return n.bad || n.what == ofStop || n.stop != "" || n.status == 403 || n.effect == apiclient.Uncertain
}

// take takes news into account; most is when the run has to stop. why is what the news stop
// it for, "" for nothing.
func (s *StopRules) take(n news, most MaxFailures) (why string) {
	switch n.what {
	case ofVerdict:
		why = s.takeVerdict(n, most.lifted())
	case ofAllowed:
		s.Forbidden = 0
	case ofEnded, ofMade:
		s.countDoubts(n.kind, n.effect)
		if d := s.Doubts[n.kind]; d >= doubtsWithoutOne && !most.lifted() && n.what == ofEnded {
			why = fmt.Sprintf("%d steps of the kind %s are uncertain and none was created: the environment is wrong, or the service is ill", d, n.kind)
		}
	case ofAnswer:
		why = s.takeAnswer(n, most.lifted())
	case ofClient:
		why = s.takeClient(n, most)
	case ofStop:
		why = n.stop
	}
	if s.Stop == "" {
		s.Stop = why
	}
	return why
}

func (s *StopRules) takeVerdict(n news, lifted bool) (why string) {
	if n.effect == apiclient.Uncertain {
		s.Ambiguous++
	} else {
		s.Ambiguous = 0
	}
	if n.status == 403 {
		s.Forbidden++
	} else {
		s.Forbidden = 0
	}
	switch {
	case n.stop != "":
		return n.stop
	case s.Forbidden >= forbiddenInARow && !lifted:
		return fmt.Sprintf("%d answers in a row were HTTP 403 Forbidden", s.Forbidden)
	case s.Ambiguous >= ambiguousInARow:
		s.Ambiguous = 0
		s.Pauses++
	}
	return ""
}

// countDoubts counts the uncertain steps of a kind of which none was ever created.
func (s *StopRules) countDoubts(kind mapping.StepKind, effect apiclient.Effect) {
	if s.Doubts == nil {
		s.Doubts = map[mapping.StepKind]int{}
	}
	if s.Proven == nil {
		s.Proven = map[mapping.StepKind]bool{}
	}
	switch {
	case effect == apiclient.Created || s.Proven[kind]:
		s.Proven[kind], s.Doubts[kind] = true, 0
	case effect == apiclient.Uncertain:
		s.Doubts[kind]++
	}
}

func (s *StopRules) takeAnswer(n news, lifted bool) (why string) {
	if !n.bad {
		delete(s.Taken, n.kind)
		return ""
	}
	if s.Taken == nil {
		s.Taken = map[mapping.StepKind]int{}
	}
	if s.Taken[n.kind]++; s.Taken[n.kind] < takenInARow || lifted {
		return ""
	}
	return fmt.Sprintf("the service gave %d steps of the kind %s in a row what other steps have already: it is at fault, or a wire pointer of the environment leads to the wrong place",
		s.Taken[n.kind], n.kind)
}

func (s *StopRules) takeClient(n news, most MaxFailures) (why string) {
	s.Through++
	if n.bad {
		s.Failed++
	}
	if len(s.First) < firstClients {
		s.First = append(s.First, n.status)
	}
	switch {
	case most.lifted():
		return ""
	case len(s.First) == firstClients && s.Through == firstClients && s.alike():
		return fmt.Sprintf("each of the first %d clients was refused with HTTP %d: the mapping or the environment is wrong", firstClients, s.First[0])
	case most.Percent > 0 && s.Through >= enoughClients && float64(s.Failed)*100 > most.Percent*float64(s.Through):
		return fmt.Sprintf("%d of %d clients failed, more than --max-failures %g%%", s.Failed, s.Through, most.Percent)
	case most.Percent == 0 && s.Failed > most.Count:
		return fmt.Sprintf("%d clients failed, more than --max-failures %d", s.Failed, most.Count)
	}
	return ""
}

func (s *StopRules) alike() bool {
	for _, status := range s.First {
		if status == 0 || status != s.First[0] {
			return false
		}
	}
	return true
}

func (m MaxFailures) lifted() bool { return m.Percent >= 100 }

// guard watches a run's answers and says when to stop or to pause. Where other processes
// carry the run out too, all say what they see to the rules that they share: at once what
// may end or pause the run, else several times a second (see Job.keepUp).
type guard struct {
	most MaxFailures
	team Team // nil when this process is alone

	mu     sync.Mutex
	rules  StopRules // those of the team as they were last seen
	unsaid []news    // what the team does not know yet
	due    bool      // the team pauses, and this process has not done so yet
}

func (g *guard) lifted() bool { return g.most.lifted() }

// hear takes news into account. pause says that the workers must wait until
// the service answers a GET again.
func (g *guard) hear(n news) (stop error, pause bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.team != nil {
		if g.unsaid = append(g.unsaid, n); !n.mayStop() {
			return nil, false
		}
		return g.exchange()
	}
	pauses := g.rules.Pauses
	return reasonOf(g.rules.take(n, g.most)), g.rules.Pauses > pauses
}

// reasonOf is why the run stops, nil for "".
func reasonOf(why string) error {
	if why == "" {
		return nil
	}
	return errors.New(why)
}

// exchange tells the team what it does not know, and learns what the others have seen.
// While that fails nothing may be sent. g.mu is held.
func (g *guard) exchange() (stop error, pause bool) {
	var now StopRules
	err := g.team.Change(func(rules *StopRules) {
		for _, n := range g.unsaid {
			rules.take(n, g.most)
		}
		now = *rules
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errTeam, err), false
	}
	g.unsaid = g.unsaid[:0]
	g.due = g.due || now.Pauses > g.rules.Pauses
	g.rules = now
	return reasonOf(now.Stop), g.due
}

// keepUp is exchange for one who does not hold g.mu, and pauses then.
func (g *guard) keepUp() (stop error, pause bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	stop, pause = g.exchange()
	g.due = false
	return stop, pause
}

// saw takes one verdict into account.
func (g *guard) saw(v apiclient.Verdict) (stop error, pause bool) {
	n := news{what: ofVerdict, effect: v.Effect, status: v.Status}
	if v.Stop {
		n.stop = hinted(errors.New(v.Reason), v.Hint).Error()
	}
	stop, pause = g.hear(n)
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
func (g *guard) allowed() { _, _ = g.hear(news{what: ofAllowed}) } // says nothing else

// ended takes a step into account that is not sent again in this run.
func (g *guard) ended(kind mapping.StepKind, effect apiclient.Effect) (stop error) {
	stop, _ = g.hear(news{what: ofEnded, kind: kind, effect: effect})
	return stop
}

// gave takes an answer into account by which a step was created; taken says that it
// holds an id or url that another step has.
func (g *guard) gave(kind mapping.StepKind, taken bool) (stop error) {
	stop, _ = g.hear(news{what: ofAnswer, kind: kind, bad: taken})
	return stop
}

// made takes into account that a step was created after all: a look-up found it.
func (g *guard) made(kind mapping.StepKind) {
	_, _ = g.hear(news{what: ofMade, kind: kind, effect: apiclient.Created}) // never stops a run
}

// finished takes into account a client for which something was sent, or that was only
// looked up. refused is the 4xx that its first refused step or look-up got, 0 for
// none.
func (g *guard) finished(failed bool, refused int) (stop error) {
	stop, _ = g.hear(news{what: ofClient, bad: failed, status: refused})
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

// react lets the guard see a verdict, and does what the guard says.
func (j *Job) react(ctx context.Context, v apiclient.Verdict) {
	if j.ends() && v.Effect == apiclient.NotSent {
		return
	}
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

// passed reports whether others may follow: the service has answered for the first.
func (c *canary) passed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proven
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
