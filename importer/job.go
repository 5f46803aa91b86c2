package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
)

// Ledger is what the engine needs of the ledger; *ledger.Ledger has it. What its
// methods promise stands there.
type Ledger interface {
	// What became of steps.
	Append(events ...ledger.Event) error
	Steps(ctx context.Context, owner ledger.ClientKey, mapping string) (map[string]ledger.Step, error)
	StepsOfClients(ctx context.Context, environment, mapping string, owners []ledger.ClientKey) ([]map[string]ledger.Step, error)
	BriefStepsOfClients(ctx context.Context, environment, mapping string, owners []ledger.ClientKey) ([]map[string]ledger.Step, error)
	AnswersReadBy(ctx context.Context, environment, rules string) (before int64, err error)
	StepWithID(ctx context.Context, e ledger.Event) (t ledger.Taken, ok bool, err error)
	AddressOwners(ctx context.Context, environment string, addresses []string) ([]ledger.AddressOwner, error)
	Erasures(ctx context.Context, environment string) (ledger.Erasures, error)

	// Who works on which client, where several processes write the ledger.
	Shared() bool
	Lock(ctx context.Context, names ...string) (unlock func(), err error)
	Holds() bool
	Stopped() error

	// Whether it knows the mapping and the environment.
	KnownClients(ctx context.Context, environment string, most int) (n int, err error)
	Trusted(ctx context.Context, environment string) (bool, error)
	Trust(environment string) error
	Definitions(ctx context.Context, environment string) (map[string]string, error)
	ClaimedElsewhere(ctx context.Context, owner ledger.ClientKey, mapping string, steps []string) (otherMapping string, ok bool, err error)
	ClientsWithSteps(ctx context.Context, environment, mapping string, steps []string) (map[string][]ledger.ClientKey, error)
	HasSteps(ctx context.Context, environment, mapping, prefix string) (has bool, err error)
}

// Job is one run over one or several sheets. Fill in the exported fields, and call one of Do,
// Forecast and Project, once; a worker calls Join.
type Job struct {
	Runs        []string // the id of each sheet's run; the first is the run's own
	Environment string   // the ledger's scope
	Binding     *mapping.Binding
	Service     Service
	Ledger      Ledger           // what is done, and where Do records it
	Drafts      []*spool.Results // for each sheet: where the results go
	Journal     *journal.File    // where outcomes go that the ledger cannot take; nil for nowhere
	Concurrency int              // requests that the service may have in flight; see ClientsAtOnce
	Limit       int              // take the first clients only; 0 takes all
	Only        mapping.Identity // take this client only; the zero Identity takes all
	NoLookup    bool             // Forecast: do not ask the service which clients it knows
	NewLedger   bool             // the ledger is new although the service knows the clients
	SimilarKeys bool             // claims are new although the client has one with a similar key
	MaxFailures MaxFailures      // when to stop; the zero value stops at the first failure
	FirstWait   time.Duration    // before a look-up that failed is made again, as in apiclient.NewRetryPolicy
	LookAgain   []time.Duration  // the waits before each look-up of a client who has become uncertain in this run
	Believable  time.Duration    // how old an uncertain attempt must be before a look-up that does not find the client is believed; 0 is ten minutes

	// Clock gives events their time, and look-ups and uncertain attempts their age;
	// nil is time.Now. It is called by several goroutines.
	Clock func() time.Time

	Groups Groups // the clients who belong together; see Survey

	// Dispatch hands plans over to workers; nil for a run that one process carries out.
	Dispatch Dispatcher
	// Rules are those of the run that a worker works for; see Join.
	Rules SharedRules

	mode    mode
	lookups *lookups
	// readByOthers is the number of the last event whose answer may have been read by other rules.
	readByOthers int64
	waiting      atomic.Int32 // groups that wait for other processes
	cancel       context.CancelCauseFunc
	failed       atomic.Pointer[error] // the first error after which the run cannot go on
	guard        guard
	canary       canary
	gate         gate
	openIntents  chan struct{} // an entry for each client whose intent is committed and its outcome not yet; at most maxInDoubt
	tally        tally
	contacts     sync.Map // *furtherContact by mapping.Identity
	erasures     ledger.Erasures

	noWorker   atomic.Bool     // groups are out, and no worker is at work
	working    atomic.Int32    // groups that this process, a worker, carries out
	refreshing sync.WaitGroup  // the goroutines of refreshRules
	ctx        context.Context // of a worker's job, until Leave
}

// mode is what a job does with the plans.
type mode int

const (
	modeRun    mode = iota // a run
	modeDry                // a dry run: nothing is created, and what is recorded stays in memory (overlay)
	modeReport             // a report, or a coordinator of workers: nothing is asked either
)

// ErrStopped is wrapped by Do's error when the run had to stop before its end;
// the rows' results are still complete.
var ErrStopped = errors.New("the run was stopped")

// uninterrupted is the context in which the ledger is asked about clients: what was done is
// read whether or not the run is being stopped.
var uninterrupted = context.Background()

// load reads from the ledger what counts for all clients.
func (j *Job) load(ctx context.Context) (err error) {
	j.lookups = &lookups{service: j.Service, firstWait: j.FirstWait, now: j.now, keepGoing: j.MaxFailures.Lifted(),
		prefetched: map[mapping.Identity]lookedUp{}}
	j.openIntents, j.canary.first = make(chan struct{}, maxInDoubt(j.Concurrency)), make(chan struct{}, 1)
	if j.readByOthers, err = j.Ledger.AnswersReadBy(ctx, j.Environment, j.Service.ReadingRules()); err != nil {
		return err
	}
	return j.loadErased()
}

// stop ends the run: what is in flight is finished, nothing more is sent.
func (j *Job) stop(why error) {
	ends := j.ends() // before cancel, which ends j.ctx too
	j.cancel(fmt.Errorf("%w: %w", ErrStopped, advised(why)))
	if !ends {
		j.guard.announce(why)
	}
}

// ends reports whether this process is a worker whose job ends. What requests come to then says
// nothing about the run.
func (j *Job) ends() bool { return j.ctx != nil && j.ctx.Err() != nil }

// fail ends the run with an error; the first one counts.
func (j *Job) fail(err error) {
	if err != nil && j.failed.CompareAndSwap(nil, &err) {
		j.stop(err)
	}
}

// observe lets the guard see something, and stops the run if the guard says so.
func (j *Job) observe(o observation) (pause bool) {
	stop, pause := j.guard.observe(o)
	if stop != nil {
		j.stop(stop)
	}
	return pause
}

// seeVerdict lets the guard see a verdict, and waits for the service if the guard says so.
func (j *Job) seeVerdict(ctx context.Context, v apiclient.Verdict) {
	if j.ends() && v.Effect == apiclient.NotSent {
		return
	}
	o := observation{of: ofVerdict, effect: v.Effect, status: v.Status}
	if v.Stop {
		o.stop = reasonWith(v.Reason, v.Hint)
	}
	if j.observe(o) {
		j.gate.probe(ctx, j.answers)
	}
}

// seeLookUp lets the guard see the answer to a look-up, if there is one.
func (j *Job) seeLookUp(found lookedUp) {
	if status := found.status(); found.failed == nil || status == 403 {
		j.observe(observation{of: ofLookUp, status: status})
	}
}

// answers asks whether the service answers again: any answer but a 5xx will do. One that ends the run
// (a redirect, a 401) ends it here, before another POST gets it.
func (j *Job) answers(ctx context.Context) bool {
	req := j.Service.Routes().Templates()
	a, err := j.Service.Do(ctx, req)
	if err == nil && a.Status/100 != 2 && apiclient.IsLongWait(a.RetryAfter) {
		j.stop(tooLong(a.RetryAfter))
	}
	if v := j.Service.Judge(req, a, err); v.Stop {
		j.stop(errors.New(reasonWith(v.Reason, v.Hint)))
	}
	return err == nil && a.Status < 500
}

// tooLong is why a run stops when the service asks it to wait longer than a run ever waits.
func tooLong(wait time.Duration) error {
	return errors.New("the service " + apiclient.DescribeLongWait(wait))
}

// refreshRules keeps the guard up with the shared rules until ctx is done.
func (j *Job) refreshRules(ctx context.Context) {
	for tick := time.NewTicker(refreshEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		stop, pause := j.guard.refresh()
		if stop != nil {
			j.stop(stop)
		}
		if pause {
			j.refreshing.Go(func() { j.gate.probe(ctx, j.answers) })
		}
	}
}

// refreshEvery is how often a process adds what it has seen to the shared rules, and learns
// that the run stops or pauses.
const refreshEvery = 200 * time.Millisecond

// Where several processes write the ledger, a process locks the clients of a group and all their
// addresses before it reads what the ledger knows of them. So two processes seldom work on the same
// client. Safety does not need the locks: the ledger refuses what another process has done
// meanwhile.

// lock returns when this process may work on the clients of some plans; held are the plans of a group
// that the caller has locked. If a deadline of ctx passes, it returns that error. If the run is being
// stopped, it returns without a lock: then nothing is sent for the clients.
func (j *Job) lock(ctx context.Context, plans, held []mapping.Plan) (unlock func(), err error) {
	if !j.Ledger.Shared() {
		return func() {}, nil
	}
	has := j.lockNames(held)
	names := slices.DeleteFunc(j.lockNames(plans), func(name string) bool { return slices.Contains(has, name) })
	if len(names) == 0 {
		return func() {}, nil
	}
	waits := time.AfterFunc(time.Second, func() { j.waiting.Add(1) })
	unlock, err = j.Ledger.Lock(ctx, names...)
	if !waits.Stop() {
		j.waiting.Add(-1)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return func() {}, nil
	}
	return unlock, err
}

// lockNames returns what is locked for the clients of plans: their keys and their addresses.
func (j *Job) lockNames(plans []mapping.Plan) (names []string) {
	for _, plan := range plans {
		if plan.Client == (mapping.Identity{}) || len(plan.Steps) == 0 || len(plan.Problems) > 0 || j.leavesOut(plan) != "" {
			continue
		}
		names = append(names, j.clientKey(plan.Client).LockName())
		for _, address := range mapping.Addresses(plan.Addresses) {
			names = append(names, ledger.AddressLockName(j.Environment, address))
		}
	}
	return names
}

// stillLocked reports whether a request may leave. If another process may have taken over clients
// of this run, because this one was paused or cut off for too long, it ends the run.
func (j *Job) stillLocked() bool {
	if j.Ledger.Holds() {
		return true
	}
	j.stop(fmt.Errorf("%w: it was paused, or did not reach the ledger's server, for so long that another one may have taken its clients over", ErrCutOff))
	return false
}

// ifKnown returns what the mapping says about a client whom the service knows. Contacts are
// always reused.
func (j *Job) ifKnown(plan mapping.Plan) string {
	if plan.Role != "" {
		return mapping.Reuse
	}
	return j.Binding.Mapping().Client.Existing
}

// looksUp reports whether a plan's client is looked up when the ledger does not know it. One whose
// id the sheet gives is not.
func (j *Job) looksUp(plan mapping.Plan) bool {
	return !givesID(plan) && j.ifKnown(plan) != mapping.Create && len(waysOf(plan.Lookup)) > 0
}

// leavesOut returns why the run leaves a plan out; "" for one that it takes.
func (j *Job) leavesOut(plan mapping.Plan) string {
	switch {
	case plan.Role != "": // a contact is taken or left out with its client
	case j.Limit > 0 && plan.Number > j.Limit:
		return fmt.Sprintf("left out by --limit %d", j.Limit)
	case j.Only != (mapping.Identity{}) && plan.Client != j.Only:
		return "left out by --only"
	}
	if why := j.erased(plan.Client); why != "" || !j.hasContacts() {
		return why
	}
	wanted := plan.Wanted()
	for i := range wanted {
		if c := wanted[i].Contact; c != nil && j.erased(c.Client) != "" {
			return "the contact “" + wanted[i].Title + "” was erased: nothing is sent for the client; take the contact out of the export"
		}
	}
	return ""
}

// loadErased reads which clients were erased. Nothing is sent for them, and nothing
// about them is recorded again.
func (j *Job) loadErased() (err error) {
	j.erasures, err = j.Ledger.Erasures(uninterrupted, j.Environment)
	return err
}

// erased returns why an erased client is left out; "" for others.
func (j *Job) erased(who mapping.Identity) string {
	_, at, ok := j.erasures.Find(j.clientKey(who))
	if !ok {
		return ""
	}
	return "the client was erased on " + at.Format(time.DateOnly) + ": nothing is sent or recorded; take the row out of the export"
}

// readSteps reads what the ledger knows of a plan's client.
func (j *Job) readSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	if plan.Client == (mapping.Identity{}) {
		return nil, nil
	}
	return j.Ledger.Steps(uninterrupted, j.clientKey(plan.Client), j.Binding.Mapping().Name.Text)
}

// hasContacts reports whether a person may be in the plans of several clients.
func (j *Job) hasContacts() bool { return len(j.Binding.Mapping().Contacts) > 0 }

// runID returns the id of the run in which a plan is carried out: that of the sheet of its first
// row.
func (j *Job) runID(plan mapping.Plan) string { return j.Runs[plan.Rows[0].Table()] }

func (j *Job) clientKey(who mapping.Identity) ledger.ClientKey {
	return ledger.ClientKey{Environment: j.Environment, Space: who.Space, Client: who.Key}
}

// stepID returns a step's full name in the ledger. The client step is shared by all mappings, and by
// all clients who have that client as a further contact.
func (j *Job) stepID(who mapping.Identity, key string) ledger.StepID {
	id := ledger.StepID{ClientKey: j.clientKey(who), Mapping: j.Binding.Mapping().Name.Text, Step: key}
	if contact, own, ok := mapping.ContactOf(key); ok {
		id.ClientKey, id.Step = j.clientKey(contact), own
	}
	if id.Step == string(mapping.ClientStep) {
		id.Mapping = ""
	}
	return id
}

// now is the time by the wall clock.
func (j *Job) now() time.Time {
	if j.Clock == nil {
		return time.Now()
	}
	return j.Clock()
}

// stamped returns an event with the present time.
func (j *Job) stamped(e ledger.Event) ledger.Event {
	e.At = j.now().UTC()
	return e
}

// maxAhead is by how many the clients who are worked on may exceed the requests in flight.
const maxAhead = 32

// ClientsAtOnce returns how many clients are worked on at a time, with so many requests in flight at
// most. They are more than the requests, so that some send while others are decided about. With one
// request in flight it is one client after the other, in the order of the sheet.
func ClientsAtOnce(concurrency int) int {
	if concurrency <= 1 {
		return 1
	}
	return concurrency + min(concurrency, maxAhead)
}

// maxInDoubt returns how many steps a process leaves in doubt at most when it is killed, with so
// many requests in flight at most: those, and an eighth more whose intents or outcomes are being
// committed meanwhile.
func maxInDoubt(concurrency int) int {
	if concurrency <= 1 {
		return 1
	}
	return concurrency + max(1, concurrency/8)
}

// readAhead is how many clients a run reads from the ledger at once.
const readAhead = 64

// furtherContact is a contact on whom a run works. The client who needs it first creates it; others
// wait meanwhile, and do not try again what has failed.
type furtherContact struct {
	mu     sync.Mutex   // held while a client works on the contact
	failed *stepOutcome // what became of it; nil while it may be tried
}

// Dispatcher hands plans over to workers. Its errors mean that the run cannot go on; what the
// ledger has stays true. SharedRules alone is safe for concurrent use.
type Dispatcher interface {
	SharedRules
	// Add hands groups of plans over, by numbers of their own in the run.
	Add(ctx context.Context, groups map[int64][]byte) error
	// Collect calls do with groups that are finished, if any, and forgets them when that succeeds. When
	// the run stops, workers begin nothing more, and groups that no worker carries out are finished too.
	Collect(ctx context.Context, stops bool, do func(groups map[int64][]byte) error) error
	// Check gives the groups of dead workers to others, and returns how many workers have groups at work. It
	// fails when fewer groups than out are left in the database.
	Check(ctx context.Context, out int) (workers int, err error)
}
