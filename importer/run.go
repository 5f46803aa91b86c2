// Package importer carries plans out. A plan of API calls goes in for each client
// of a sheet; what became of the client and of each of its rows comes out.
//
// A Survey groups the rows of a sheet by client and yields the plans. Before
// anything is sent, Job.CheckIdentity refuses a mapping that would create again,
// under other names, what the ledger says is done. Job.Do then takes the plans one
// by one: the ledger says what is done, the service says which clients it knows
// already, decide says what is missing, and that is created, step by step. Each
// request is recorded in the ledger before it leaves and again when its outcome is
// known, so a run that is killed loses nothing, and the next run does the rest.
// Whatever cannot be proved to have failed is uncertain and is never sent again
// without somebody's decision. A guard ends or pauses a run whose answers say that
// no other request will fare better.
//
// Job.Forecast is a dry run: the same code with effects that create nothing.
//
// Failures of rows are data: they are in the results. A Go error means that the
// run cannot go on.
package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/parallel"
	"claimsheet/importer/result"
	"claimsheet/importer/spool"
	"claimsheet/importer/stoprule"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// Ledger is what the engine needs of the ledger; *ledger.Ledger has it. What its
// methods promise stands there.
type Ledger interface {
	// What became of steps.
	Append(events ...ledger.Event) error
	Steps(ctx context.Context, owner ledger.ClientKey, mapping string) (map[string]ledger.Step, error)
	StepsOfClients(ctx context.Context, environment, mapping string, owners []ledger.ClientKey) ([]map[string]ledger.Step, error)
	StepsOfClient(ctx context.Context, owner ledger.ClientKey) ([]ledger.Step, error)
	Events(ctx context.Context, id ledger.StepID) ([]ledger.Event, error)
	AnswerStatus(ctx context.Context, id ledger.StepID) (status int, err error)
	StepWithID(ctx context.Context, e ledger.Event) (t ledger.Taken, ok bool, err error)
	AddressOwners(ctx context.Context, environment string, addresses []string) (map[string][]ledger.AddressOwner, error)
	ClientsWithID(ctx context.Context, environment, id string) iter.Seq2[ledger.ClientKey, error]
	Erasures(ctx context.Context, environment string) (ledger.Erasures, error)

	// Who works on which client, where several processes write the ledger.
	Shared() bool
	Lock(ctx context.Context, names ...string) (unlock func(), err error)
	Holds() bool
	Stopped() error

	// Whether it knows the mapping and the environment.
	Knows(ctx context.Context, environment string) (known bool, err error)
	KnownClients(ctx context.Context, environment string, most int) (n int, err error)
	Trusted(ctx context.Context, environment string) (bool, error)
	Trust(environment string) error
	Definition(ctx context.Context, environment, mapping string) (definition string, ok bool, err error)
	Definitions(ctx context.Context, environment string) (map[string]string, error)
	OtherMappings(ctx context.Context, environment, mapping string) ([]string, error)
	ClaimedElsewhere(ctx context.Context, owner ledger.ClientKey, mapping string, steps []string) (otherMapping string, ok bool, err error)
	ClientsWithSteps(ctx context.Context, environment, mapping string, steps []string) (map[string][]ledger.ClientKey, error)
	HasSteps(ctx context.Context, environment, mapping, prefix string) (has bool, err error)
}

// Service is what the engine needs of the service's client; *apiclient.Client has
// it. What its methods promise stands there.
type Service interface {
	lookup.Service

	// Creating requests, and the GET that finds out whether the service answers.
	Reserve(ctx context.Context) (*apiclient.Slot, error)
	CreateReserved(ctx context.Context, slot *apiclient.Slot, r apiclient.Request) apiclient.Verdict
	Do(ctx context.Context, r apiclient.Request) (apiclient.Answer, error)
	Judge(r apiclient.Request, a apiclient.Answer, err error) apiclient.Verdict
	JudgeStored(r apiclient.Request, stored apiclient.Answer) apiclient.Verdict
	Reads(k apiclient.Kind) bool
	Routes() apiclient.Routes
	LinkBody() json.RawMessage
	Repeatable(k apiclient.Kind) bool

	// How the client's queue stands.
	Queues() bool
	Spacing() time.Duration
	Sent() map[apiclient.Kind]int
	Waiting() (reason string, until time.Time)
}

// Job is one run over one sheet. Fill in the fields and call Do or Forecast,
// once.
type Job struct {
	Runs        []string // the id of each sheet's run; the first is the run's own
	Environment string   // the ledger's scope
	Binding     *mapping.Binding
	Service     Service
	Ledger      Ledger               // what is done, and where Do records it
	Drafts      []*spool.Results     // for each sheet: where the results go
	Journal     *journal.File        // where outcomes go that the ledger cannot take; nil for nowhere
	Concurrency int                  // requests that the service may have in flight; see workers
	Limit       int                  // take the first clients only; 0 takes all
	Only        mapping.Identity     // take this client only; the zero Identity takes all
	NoLookup    bool                 // Forecast: do not ask the service which clients it knows
	NewLedger   bool                 // the ledger is new although the service knows the clients
	SimilarKeys bool                 // claims are new although the client has one with a similar key
	MaxFailures stoprule.MaxFailures // when to stop; the zero value stops at the first failure
	FirstWait   time.Duration        // before a look-up that failed is made again, as retry.Pace.First
	LookAgain   []time.Duration      // when an uncertain client is looked up again in the run, each wait after the last
	Believable  time.Duration        // how old an uncertain attempt must be before a look-up that finds nobody is believed; 0 is ten minutes

	// Clock gives events their time, and look-ups and uncertain attempts their age;
	// nil is time.Now. It is called by several goroutines.
	Clock func() time.Time

	// KnownIDs are the ids that the sheets give, and Groups the clients who belong together;
	// see Survey.
	KnownIDs KnownIDs
	Groups   Groups

	// Dispatch hands plans over to workers; nil for a run that one process carries out.
	Dispatch Dispatcher
	// Rules are those of the run that a worker works for; see Join.
	Rules SharedRules

	// Prior are cells that rows keep showing; see rerun.Comparison.
	Prior map[cell.Row]result.Row

	mode     mode
	knows    bool // the ledger knew some step of the environment when the run began
	lookups  *lookup.Lookups
	overlay  overlay // of a dry run
	waiting  waiting
	cancel   context.CancelCauseFunc
	guard    guard
	canary   canary
	gate     gate
	inDoubt  chan struct{} // has room for mostInDoubt clients, from the commit of an intent to that of its outcome
	tally    tally
	contacts furtherContacts
	erasures ledger.Erasures

	dispatched dispatched
	refreshing sync.WaitGroup  // what refreshRules does
	ctx        context.Context // of a worker's job, until Leave
}

// mode is what a job does with the plans.
type mode int

const (
	carriesOut mode = iota // a run
	dry                    // a dry run: nothing is created or recorded
	projects               // a report: nothing is asked either
)

// ErrStopped is wrapped by Do's error when the run had to stop before its end;
// the rows' results are still complete.
var ErrStopped = errors.New("the run was stopped")

// Do carries the plans out, several groups of clients at a time, the clients of a group one
// after the other, and each client's steps in order. The first client for which something is
// sent is finished before the others start. When ctx is done, calls in flight are finished,
// nothing more is sent, and the remaining clients are recorded as not started.
//
// The error is ErrStopped when the service's answers said that no other call will
// fare better; any other error means that the ledger or the sheet failed.
func (j *Job) Do(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.guard.most = j.MaxFailures
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	if err := j.load(ctx, j.MaxFailures.Lifted()); err != nil {
		return err
	}
	fatal := &firstError{stop: j.stop}
	undone, endDispatch := j.beginDispatch(ctx, fatal)
	j.carryOutAll(ctx, plans, undone, fatal)
	endDispatch()
	if err := fatal.get(); err != nil {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrStopped) {
		return cause
	}
	return nil
}

// carryOutAll carries plans out, group by group. With a Dispatcher, groups go to undone as
// soon as the service has answered for a first client.
func (j *Job) carryOutAll(ctx context.Context, plans iter.Seq2[mapping.Plan, error], undone chan<- []mapping.Plan, fatal *firstError) {
	var g errgroup.Group
	g.SetLimit(j.workers())
	proven := false
	for group, err := range j.read(j.Groups.Grouped(j.detectLostLedger(ctx, plans))) {
		if err != nil {
			fatal.set(err)
		}
		switch {
		case fatal.get() != nil:
			_ = g.Wait() // the functions return nil: fatal has the first error
			return
		case j.Dispatch != nil && j.canary.passed() && ctx.Err() == nil && !group.isSettled():
			undone <- group.plans
		case !proven:
			sent, err := j.carryOut(ctx, group)
			proven = sent || j.lookups.Answered()
			fatal.set(err)
		default:
			g.Go(func() error {
				_, err := j.carryOut(ctx, group)
				fatal.set(err)
				return nil
			})
		}
	}
	_ = g.Wait()
}

// group is the plans of clients who are worked on together. What the ledger knows of the
// first client may have been read ahead.
type group struct {
	plans []mapping.Plan
	first *clientRun
}

// isSettled reports whether nothing is left to be done for the clients of a group, by what
// the ledger knew when it was read.
func (g group) isSettled() bool {
	return len(g.plans) == 1 && g.first != nil && g.first.nothingLeft()
}

// readAhead is of how many clients a run reads from the ledger at once.
const readAhead = 64

// read yields the groups, for which the ledger is read some ahead on every core. What it
// knows of a client changes only by the work on the client's own group, or on a further
// contact, who is read again before anything is sent. Where several processes write the
// ledger, it is read again when the group is locked.
func (j *Job) read(groups iter.Seq2[[]mapping.Plan, error]) iter.Seq2[group, error] {
	return func(yield func(group, error) bool) {
		for chunk, err := range parallel.Map(chunked(groups, readAhead), j.readGroups) {
			if err != nil {
				yield(group{}, err)
				return
			}
			for _, g := range chunk {
				if !yield(g, nil) {
					return
				}
			}
		}
	}
}

// readGroups reads from the ledger what it knows of the first client of each group, all at once.
func (j *Job) readGroups(chunk [][]mapping.Plan) []group {
	first := make([]mapping.Plan, len(chunk))
	for i, plans := range chunk {
		first[i] = plans[0]
	}
	groups := make([]group, len(chunk))
	for i, r := range j.prepareClients(first) {
		groups[i] = group{chunk[i], r}
	}
	return groups
}

// carryOut carries out the plans of a group one after the other, and records their outcomes.
// sent reports whether a creating request went out.
func (j *Job) carryOut(ctx context.Context, g group) (sent bool, err error) {
	return j.finishGroup(ctx, g, j.record)
}

// finishGroup carries out the plans of a group, and calls done with the outcome of each.
func (j *Job) finishGroup(ctx context.Context, g group, done func(clientOutcome) error) (sent bool, err error) {
	first := g.first
	if j.Ledger.Shared() && !g.isSettled() {
		unlock, err := j.lock(ctx, g.plans)
		if err != nil {
			return false, err
		}
		defer unlock()
		first = nil // read again what other processes may have done
	}
	for i, plan := range g.plans {
		r := first
		if i > 0 || r == nil {
			r = j.newClientRun(plan)
			r.readAndPrepare()
		}
		outcome, of, err := j.finishClient(ctx, r)
		if sent = sent || of; err != nil {
			return sent, err
		}
		if err := done(outcome); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// mostAhead is how many clients more than requests in flight are in work at most.
const mostAhead = 32

// workers is how many clients are in work at a time. They are more than the
// requests that may be in flight, so that the service has as many as it may have
// while others are looked up and decided about. With one request in flight it is one
// client after the other, in the order of the sheet.
func (j *Job) workers() int { return ClientsAtOnce(j.Concurrency) }

// ClientsAtOnce is how many clients are in work at a time with so many requests in flight.
func ClientsAtOnce(concurrency int) int {
	if concurrency <= 1 {
		return 1
	}
	return concurrency + min(concurrency, mostAhead)
}

// mostInDoubt is how many steps a process leaves in doubt at most when it is killed, with so
// many requests in flight: those, and an eighth more whose intents or outcomes are being
// committed meanwhile.
func mostInDoubt(concurrency int) int {
	if concurrency <= 1 {
		return 1
	}
	return concurrency + max(1, concurrency/8)
}

// load reads from the ledger what counts for all clients.
func (j *Job) load(ctx context.Context, keepGoing bool) (err error) {
	j.lookups = lookup.New(j.Service, lookup.Options{FirstWait: j.FirstWait, Now: j.now, KeepGoing: keepGoing})
	j.inDoubt = make(chan struct{}, mostInDoubt(j.Concurrency))
	if j.knows, err = j.Ledger.Knows(ctx, j.Environment); err != nil {
		return err
	}
	return j.loadErased(ctx)
}

var errNoURL = errors.New("the first client has no redirect url: the pointer wire.redirect_url of the environment is wrong")

// finishClient carries one client's plan out, and lets the guard see its outcome. Where the
// ledger refuses to record a step, because somebody else has changed it meanwhile, the client
// is read again, once.
func (j *Job) finishClient(ctx context.Context, r *clientRun) (outcome clientOutcome, sent bool, err error) {
	outcome, err = r.execute(ctx)
	if isChanged(err) {
		r = r.again(false)
		outcome, err = r.execute(ctx)
	}
	if changed, ok := err.(*stepChanged); ok {
		r = r.again(true)
		outcome, err = r.changedOutcome(changed)
	}
	if f, failed := errors.AsType[*apiclient.Failure](err); failed {
		// A look-up said that no other request will fare better: the client is
		// recorded as not started, like all that follow.
		j.stop(f)
		r = r.again(false)
		outcome, err = r.execute(ctx)
	}
	if err != nil {
		return outcome, r.sent > 0, err
	}
	if failed, refused := outcome.failure(); (r.sent > 0 || r.lookedUp) && !j.ends() {
		if why := j.guard.finished(failed && (r.sent > 0 || outcome.unanswered()), refused); why != nil {
			j.stop(why)
		}
	}
	return outcome, r.sent > 0, nil
}

// prepareClients reads from the ledger what it knows of some clients, all at once.
func (j *Job) prepareClients(plans []mapping.Plan) []*clientRun {
	owners := make([]ledger.ClientKey, len(plans))
	for i, plan := range plans {
		owners[i] = j.owner(plan.Client)
	}
	known, err := make([]map[string]ledger.Step, len(plans)), error(nil)
	if j.readsLedger() {
		// A record of what was done is read whether or not the run is being stopped.
		known, err = j.Ledger.StepsOfClients(context.Background(), j.Environment, j.Binding.Mapping().Name.Text, owners)
	}
	runs := make([]*clientRun, len(plans))
	for i, plan := range plans {
		if runs[i] = j.newClientRun(plan); err != nil {
			runs[i].failed = err
			continue
		}
		runs[i].prepare(known[i])
	}
	return runs
}

// chunked yields items n at a time.
func chunked[T any](items iter.Seq2[T, error], n int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		chunk := make([]T, 0, n)
		for item, err := range items {
			if err != nil {
				yield(nil, err)
				return
			}
			if chunk = append(chunk, item); len(chunk) == n {
				if !yield(chunk, nil) {
					return
				}
				chunk = make([]T, 0, n)
			}
		}
		if len(chunk) > 0 {
			yield(chunk, nil)
		}
	}
}

// stop ends the run: what is in flight is finished, nothing more is sent.
func (j *Job) stop(why error) {
	ends := j.ends()
	cause := fmt.Errorf("%w: %w", ErrStopped, advised(why))
	if errors.Is(why, errSignal) { // the rows say it in the words of the process that got it
		cause = ErrStopped
	}
	j.cancel(cause)
	if !ends {
		j.guard.announce(why)
	}
}

// leavesOut is why a plan is not among those asked for, "" when it is.
func (j *Job) leavesOut(plan mapping.Plan) string {
	switch {
	case plan.Role != "": // as far as its client is asked for
	case j.Limit > 0 && plan.Number > j.Limit:
		return fmt.Sprintf("left out by --limit %d", j.Limit)
	case j.Only != (mapping.Identity{}) && plan.Client != j.Only:
		return "left out by --only"
	}
	return j.erased(plan.Client)
}

// loadErased reads which clients were erased. Nothing is sent for them, and nothing
// about them is recorded again.
func (j *Job) loadErased(ctx context.Context) (err error) {
	// What was promised to a person is read whether or not the run is being stopped.
	j.erasures, err = j.Ledger.Erasures(context.WithoutCancel(ctx), j.Environment)
	return err
}

// erased is why an erased client is left out, "" for others.
func (j *Job) erased(who mapping.Identity) string {
	_, at, ok := j.erasures.Find(j.owner(who))
	if !ok {
		return ""
	}
	return "the client was erased on " + at.Format(time.DateOnly) + ": nothing is sent or recorded; take the row out of the export"
}

// runID is the id of the run in which a plan is carried out: that of the sheet in
// which its first row stands.
func (j *Job) runID(plan mapping.Plan) string { return j.Runs[plan.Rows[0].Table()] }

func (j *Job) owner(who mapping.Identity) ledger.ClientKey {
	return ledger.ClientKey{Environment: j.Environment, Space: who.Space, Client: who.Key}
}

// stepID is a step's full name. The client step is shared by all mappings, and by all
// clients who have that client as a further contact.
func (j *Job) stepID(who mapping.Identity, step *mapping.Step) ledger.StepID {
	id := ledger.StepID{ClientKey: j.owner(who), Mapping: j.Binding.Mapping().Name.Text, Step: step.Key}
	if contact, own, ok := mapping.ContactOf(step.Key); ok {
		id.ClientKey, id.Step = j.owner(contact), own
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

// firstError keeps the first error and stops the run at it.
type firstError struct {
	mu   sync.Mutex
	err  error
	stop func(error)
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && f.err == nil {
		f.err = err
		f.stop(err)
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
