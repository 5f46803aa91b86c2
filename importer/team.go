package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// A run may be carried out by several processes. One coordinates it: it has the sheet,
// decides for which clients something is left to be done, carries the first of them out
// itself until the service has answered (see canary), and hands the plans of the others
// over. Workers carry those out, each with a Job of its own, with the same code and the same
// ledger, and hand the outcomes back. The coordinator records and counts them as if they
// were its own.
//
// Leases keep the processes apart, as those of runs that share a ledger. So a plan that
// is carried out twice, or begun again after its worker was killed, does no harm.

// Team is what the processes of a run share while they carry it out. It is safe for
// concurrent use.
type Team interface {
	// Change lets change change the stop rules while no other process does. It may call it
	// more than once.
	Change(change func(*StopRules)) error
}

// Dispatcher hands plans over to workers.
type Dispatcher interface {
	Team
	// Add hands plans over, by numbers of their own.
	Add(ctx context.Context, plans map[int64][]byte) error
	// Collect calls do with outcomes that have come in, and forgets them when that succeeds.
	Collect(ctx context.Context, do func(number int64, outcome []byte) error) (n int, err error)
	// Withdraw takes back what nobody carries out.
	Withdraw(ctx context.Context) (numbers []int64, err error)
	// Check delivers again what was lost on its way; all returns the plans that are out. It
	// returns how many workers carry plans out.
	Check(ctx context.Context, all func() map[int64][]byte) (workers int, err error)
}

// ErrGivenBack is returned for a plan that was not carried out to its end, because this
// process ends or has lost its leases. Another one goes on with it.
var ErrGivenBack = errors.New("the plan was not carried out to its end by this process")

// errTeam ends the part of a process that cannot read the rules that all processes share.
var errTeam = errors.New("the stop rules, which all workers share, cannot be read")

// keepUpEvery is how often a process tells its team what it has seen, and learns that
// the run stops or pauses.
const keepUpEvery = 200 * time.Millisecond

// keepUp keeps the guard up with the team until ctx is done.
func (j *Job) keepUp(ctx context.Context) {
	for tick := time.NewTicker(keepUpEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		stop, pause := j.guard.keepUp()
		if stop != nil {
			j.stop(stop)
		}
		if pause {
			j.keeping.Go(func() { j.gate.probe(ctx, j.answers) })
		}
	}
}

// announce tells the team that the run stops, and why.
func (g *guard) announce(why error) {
	if g.team == nil || errors.Is(why, errLeaseLost) || errors.Is(why, errTeam) { // which is this process's affair
		return
	}
	_, _ = g.hear(news{what: ofStop, stop: advised(why).Error()}) // the reason comes back
}

// Join prepares the job of a worker for Work. Runs, Environment, Binding, Service, Ledger,
// Emergency, Concurrency, MaxFailures and Team are to be set, and KnownIDs and
// Administrators are those of the coordinator (TakeFacts). The job ends with ctx.
func (j *Job) Join(ctx context.Context) error {
	j.guard.most, j.guard.team = j.MaxFailures, j.Team
	j.effects = j.carryOutEffects()
	j.canary.proven = true // the coordinator has let the first client go ahead
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	if err := j.load(j.ctx, j.guard.lifted()); err != nil {
		return err
	}
	j.keeping.Go(func() { j.keepUp(j.ctx) })
	return nil
}

// Leave ends what Join has begun, but for calls of Work, which end soon.
func (j *Job) Leave() {
	j.cancel(nil)
	j.keeping.Wait()
}

// Work carries out a plan that the coordinator has handed over, and returns its outcome for
// it. Several goroutines may call it, for different plans. ErrGivenBack is returned when the
// job has ended before the plan; any other error means that this process cannot go on.
func (j *Job) Work(handed []byte) (outcome []byte, err error) {
	var plan mapping.Plan
	if err := json.Unmarshal(handed, &plan); err != nil {
		return nil, fmt.Errorf("a plan cannot be read: %w", err)
	}
	if j.givesBack() {
		return nil, ErrGivenBack
	}
	r, err := j.awaitLease(j.ctx, plan)
	if err != nil {
		return nil, err
	}
	group := r.group
	o, _, err := j.finishClient(j.ctx, r)
	if released := j.release(group); err == nil { // else the ledger says the same again
		err = released
	}
	switch {
	case j.givesBack() && !errors.Is(err, ledger.ErrStopped): // what was done is in the ledger
		return nil, errors.Join(err, ErrGivenBack)
	case errors.Is(err, ledger.ErrStopped), errors.Is(err, ledger.ErrServer):
		return nil, err
	case err != nil: // it would end the next worker too
		return json.Marshal(wireOutcome{Fatal: err.Error()})
	}
	return json.Marshal(j.wireOf(o))
}

// givesBack reports whether the process ends, and not the run.
func (j *Job) givesBack() bool {
	cause := context.Cause(j.ctx)
	return cause != nil && (!errors.Is(cause, ErrStopped) || errors.Is(cause, errLeaseLost) || errors.Is(cause, errTeam))
}

// ends reports whether this process is a worker whose job ends. What requests come to then says
// nothing about the run.
func (j *Job) ends() bool { return j.ctx != nil && j.ctx.Err() != nil }

// CutOff reports whether another process may have taken over what this one had leased, or
// the team cannot be reached; then the job carries nothing more out.
func (j *Job) CutOff() bool {
	cause := context.Cause(j.ctx)
	return errors.Is(cause, errLeaseLost) || errors.Is(cause, errTeam)
}

// wireOutcome is an outcome on its way to the coordinator, with what the process has sent
// for the run so far.
type wireOutcome struct {
	Number         int
	Client         mapping.Identity
	Status         result.Status
	URL            string
	Rows           []result.Row
	Steps          []wireStep
	Problems       problem.List
	Known          []wireKnown
	MappingChanged bool

	Fatal string // why the run cannot go on; "" as a rule

	Process int64 // the worker's session in the ledger
	Sent    map[apiclient.Kind]int
	Retries map[string]int
}

// wireStep is what the coordinator needs of a stepOutcome.
type wireStep struct {
	Key, Title string
	Kind       mapping.StepKind
	Contact    *mapping.Identity
	Status     result.Status
	ID, URL    string
	Reason     string
	Unanswered bool
}

// wireKnown names a step of the ledger.
type wireKnown struct {
	ledger.StepID
	Kind string
}

func (j *Job) wireOf(o clientOutcome) wireOutcome {
	w := wireOutcome{Number: o.Number, Client: o.Client, Status: o.Status, URL: o.URL, Rows: o.Rows, Problems: o.Problems, MappingChanged: o.MappingChanged,
		Process: j.Ledger.Session(), Sent: j.Service.Sent(), Retries: j.Retries()}
	for _, s := range o.Steps {
		step := wireStep{Key: s.Step.Key, Title: s.Step.Title, Kind: s.Step.Kind, Status: s.Status, ID: s.ID, URL: s.URL, Reason: s.reason, Unanswered: s.unanswered}
		if s.Step.Contact != nil {
			step.Contact = &s.Step.Contact.Client
		}
		w.Steps = append(w.Steps, step)
	}
	for _, s := range o.Known {
		w.Known = append(w.Known, wireKnown{s.StepID, s.Kind})
	}
	return w
}

// outcome is what the coordinator records.
func (w wireOutcome) outcome() clientOutcome {
	o := clientOutcome{Number: w.Number, Client: w.Client, Status: w.Status, URL: w.URL, Rows: w.Rows, Problems: w.Problems, MappingChanged: w.MappingChanged}
	for _, s := range w.Steps {
		step := &mapping.Step{Key: s.Key, Title: s.Title, Kind: s.Kind}
		if s.Contact != nil {
			step.Contact = &mapping.Plan{Client: *s.Contact, Steps: []mapping.Step{{Key: string(mapping.ClientStep), Kind: mapping.ClientStep}}}
		}
		o.Steps = append(o.Steps, stepOutcome{Step: step, Status: s.Status, ID: s.ID, URL: s.URL, reason: s.Reason, unanswered: s.Unanswered})
	}
	for _, k := range w.Known {
		o.Known = append(o.Known, ledger.Step{Event: ledger.Event{StepID: k.StepID, Kind: k.Kind}})
	}
	return o
}

// handedOver are the plans of a coordinator that workers have. It is safe for concurrent
// use.
type handedOver struct {
	mu      sync.Mutex
	last    int64
	plans   map[int64]mapping.Plan
	bytes   map[int64][]byte
	less    chan struct{} // has an element when there are fewer than before
	workers int           // as they were seen last
	sent    map[int64]map[apiclient.Kind]int
	retries map[int64]map[string]int
}

// What a coordinator has handed over at most, so that neither its memory nor the tables
// hold a whole sheet, and how many plans it hands over at once.
const (
	mostHanded   = 4_000
	handedAtOnce = 100
)

// How often a coordinator looks for outcomes, while there are some and while there are
// none, and for what was lost.
const (
	collectEvery = 50 * time.Millisecond
	checkEvery   = 2 * time.Second
)

// encode is a plan as it is handed over. ok is false for one that would not arrive as it
// is: a text of the sheet is not valid UTF-8.
func encode(plan mapping.Plan) (handed []byte, ok bool) {
	handed, err := json.Marshal(plan)
	var arrives mapping.Plan
	ok = err == nil && json.Unmarshal(handed, &arrives) == nil && reflect.DeepEqual(plan, arrives)
	return handed, ok
}

// sift is the first look at some plans: of clients for whom nothing is left to be done, the
// coordinator has the outcome itself. The others are undone.
func (j *Job) sift(plans []mapping.Plan) []*clientRun {
	owners := make([]ledger.ClientKey, len(plans))
	for i, plan := range plans {
		owners[i] = j.owner(plan.Client)
	}
	// A record of what was done is read whether or not the run is being stopped.
	known, err := j.Ledger.StepsOfClients(context.Background(), j.Environment, j.Binding.Mapping().Name.Text, owners)
	runs := make([]*clientRun, len(plans))
	for i, plan := range plans {
		runs[i] = j.newClientRun(plan)
		switch r := runs[i]; {
		case err != nil:
			r.failed, r.leased = err, true
		case j.idle(plan, known[i]):
			r.leased = true
			r.prepare(known[i])
		default:
			r.undone = true
		}
	}
	return runs
}

// idle reports whether nothing is left to be done for a client, by what the ledger knows.
func (j *Job) idle(plan mapping.Plan, known map[string]ledger.Step) bool {
	if plan.Skipped != "" || len(plan.Problems) > 0 || len(plan.Steps) == 0 || j.leavesOut(plan) != "" {
		return true
	}
	if len(contactsOf(plan)) > 0 {
		return false
	}
	if altered, err := j.revise(plan, known, j.reparseOnly); altered || err != nil {
		return false
	}
	return !slices.ContainsFunc(decide(plan, known, j.Binding), func(d decision) bool { return d.action != unchanged })
}

// beginHandOver returns where plans go that are handed over, and what to call behind
// the last of them. Without a Dispatcher nothing is.
func (j *Job) beginHandOver(ctx context.Context, fatal *firstError) (undone chan<- mapping.Plan, end func()) {
	if j.Dispatch == nil {
		return nil, func() {}
	}
	j.guard.team = j.Dispatch
	j.handed.begin()
	keptUp, stop := context.WithCancel(ctx)
	j.keeping.Go(func() { j.keepUp(keptUp) })
	plans, over := make(chan mapping.Plan, handedAtOnce), make(chan struct{})
	go func() {
		defer close(over)
		j.handOver(ctx, plans, fatal)
	}()
	return plans, func() {
		close(plans)
		<-over
		stop()
		j.keeping.Wait()
	}
}

// begin makes room for plans.
func (h *handedOver) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plans, h.bytes, h.less = map[int64]mapping.Plan{}, map[int64][]byte{}, make(chan struct{}, 1)
	h.sent, h.retries = map[int64]map[apiclient.Kind]int{}, map[int64]map[string]int{}
}

// handOver hands plans over as they come, and carries out itself what cannot be. It
// returns when all outcomes are recorded, or the run has stopped.
func (j *Job) handOver(ctx context.Context, undone <-chan mapping.Plan, fatal *firstError) {
	collected := make(chan struct{})
	all, end := context.WithCancel(context.WithoutCancel(ctx)) // outcomes are collected also when the run stops
	defer end()
	go func() {
		defer close(collected)
		fatal.set(j.collect(all))
	}()
	batch := map[int64][]byte{}
	flush := func() {
		if len(batch) > 0 && ctx.Err() == nil {
			fatal.set(j.Dispatch.Add(context.WithoutCancel(ctx), batch)) // what is added is taken back when the run stops
		}
		batch = map[int64][]byte{}
	}
	for plan := range undone {
		handed, ok := encode(plan)
		switch {
		case fatal.get() != nil:
			continue
		case !ok || ctx.Err() != nil:
			fatal.set(j.carryOutHere(ctx, plan))
			continue
		}
		batch[j.handed.add(plan, handed)] = handed
		if len(batch) == handedAtOnce || len(undone) == 0 {
			flush()
			j.handed.await(ctx, mostHanded)
		}
	}
	flush()
	j.handed.await(ctx, 1)
	if ctx.Err() != nil && fatal.get() == nil {
		j.takeBack(ctx, fatal)
	}
	end()
	<-collected
}

// add notes a plan that is handed over and returns its number.
func (h *handedOver) add(plan mapping.Plan, handed []byte) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	h.plans[h.last], h.bytes[h.last] = plan, handed
	return h.last
}

// remove returns a plan that is not out any more; ok is false when it was not out.
func (h *handedOver) remove(number int64) (plan mapping.Plan, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	plan, ok = h.plans[number]
	delete(h.plans, number)
	delete(h.bytes, number)
	select {
	case h.less <- struct{}{}:
	default:
	}
	return plan, ok
}

// await returns when fewer than n plans are out, or ctx is done.
func (h *handedOver) await(ctx context.Context, n int) {
	for h.out() >= n {
		select {
		case <-ctx.Done():
			return
		case <-h.less:
		}
	}
}

func (h *handedOver) out() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.plans)
}

// all are the plans that are out.
func (h *handedOver) all() map[int64][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.bytes)
}

// collect records outcomes as they come in, and sees that what is out arrives, until ctx is
// done.
func (j *Job) collect(ctx context.Context) error {
	tick, check := time.NewTicker(collectEvery), time.NewTicker(checkEvery)
	defer tick.Stop()
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-check.C:
			workers, err := j.Dispatch.Check(ctx, j.handed.all)
			if err != nil && ctx.Err() == nil {
				return err
			}
			j.handed.seen(workers)
		case <-tick.C:
			for n := 1; n > 0 && len(check.C) == 0; {
				var err error
				if n, err = j.Dispatch.Collect(ctx, j.recordHanded); err != nil && ctx.Err() == nil {
					return err
				}
			}
		}
	}
}

func (h *handedOver) seen(workers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.workers = workers
}

// recordHanded records the outcome of a plan that was handed over.
func (j *Job) recordHanded(number int64, outcome []byte) error {
	var w wireOutcome
	if err := json.Unmarshal(outcome, &w); err != nil {
		return fmt.Errorf("an outcome cannot be read: %w", err)
	}
	if w.Fatal != "" {
		return errors.New(w.Fatal)
	}
	j.handed.count(w)
	if !j.handed.has(number) {
		return nil // it came before, and was not forgotten
	}
	if err := j.record(w.outcome()); err != nil {
		return err
	}
	j.handed.remove(number)
	return nil
}

func (h *handedOver) has(number int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.plans[number]
	return ok
}

// count notes what a worker has sent for the run so far.
func (h *handedOver) count(w wireOutcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if total(w.Sent) >= total(h.sent[w.Process]) {
		h.sent[w.Process], h.retries[w.Process] = w.Sent, w.Retries
	}
}

// requests is how many requests the workers have sent.
func (h *handedOver) requests() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, sent := range h.sent {
		n += total(sent)
	}
	return n
}

// addSent adds the requests that the workers have sent.
func (h *handedOver) addSent(r *result.Requests) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, sent := range h.sent {
		for kind, n := range sent {
			addRequests(r, kind, n)
		}
	}
}

// addRetries adds those of the workers.
func (h *handedOver) addRetries(retries map[string]int) map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range h.retries {
		if retries == nil {
			retries = map[string]int{}
		}
		for why, n := range of {
			retries[why] += n
		}
	}
	return retries
}

func total[K comparable](counts map[K]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// takeUp prepares the run of a client for whom something is left to be done, in this process;
// where the run is being stopped, nothing is sent.
func (j *Job) takeUp(ctx context.Context, r *clientRun) *clientRun {
	if ctx.Err() == nil {
		return j.prepareClients([]mapping.Plan{r.plan})[0]
	}
	r.leased = true
	r.readAndPrepare()
	return r
}

// carryOutHere carries a plan out in this process.
func (j *Job) carryOutHere(ctx context.Context, plan mapping.Plan) error {
	r, err := j.awaitLease(ctx, plan)
	if err == nil {
		_, err = j.runClient(ctx, r)
	}
	return err
}

// takeBack ends a run that has stopped: what nobody has begun is recorded as not started,
// and what workers have begun comes back as it is.
func (j *Job) takeBack(ctx context.Context, fatal *firstError) {
	if why := context.Cause(ctx); !errors.Is(why, ErrStopped) {
		j.guard.announce(errSignal)
	}
	for j.handed.out() > 0 && fatal.get() == nil {
		numbers, err := j.Dispatch.Withdraw(context.WithoutCancel(ctx))
		fatal.set(err)
		for _, number := range numbers {
			if plan, out := j.handed.remove(number); out && fatal.get() == nil {
				fatal.set(j.carryOutHere(ctx, plan))
			}
		}
		time.Sleep(collectEvery)
	}
}

// errSignal is why workers stop when the coordinator gets a signal.
var errSignal = errors.New("the run that coordinates was stopped by a signal")

// waiting says that nobody carries out what was handed over; "" when somebody does.
func (h *handedOver) waiting() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.plans) == 0 || h.workers > 0 {
		return ""
	}
	return "no worker is at work: start claimsheet worker"
}
