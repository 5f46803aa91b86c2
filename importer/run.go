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
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient"
	"claimsheet/importer/emergency"
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
	ClaimsWith(ctx context.Context, environment, text string) iter.Seq2[ledger.Step, error]
	Events(ctx context.Context, id ledger.StepID) ([]ledger.Event, error)
	AnswerStatus(ctx context.Context, id ledger.StepID) (status int, err error)
	StepWithID(ctx context.Context, e ledger.Event) (t ledger.Taken, ok bool, err error)
	UndecidedClients(ctx context.Context, environment string) iter.Seq2[ledger.Step, error]
	AddressOwners(ctx context.Context, environment string, addresses []string) (map[string]ledger.AddressOwner, error)
	Erasures(ctx context.Context, environment string) (ledger.Erasures, error)

	// Who works on which client, where several processes write the ledger.
	Shared() bool
	Lease(at time.Time, groups []ledger.LeaseGroup) (leased []bool, err error)
	Release(group ledger.LeaseGroup) error
	Reserve(who ledger.LeaseMember, duration time.Duration) error
	Leased() bool
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
	Emergency   *emergency.File      // where outcomes go that the ledger cannot take; nil for nowhere
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

	// KnownIDs are the ids that the sheets give; see Survey.
	KnownIDs KnownIDs

	// Dispatch hands plans over to workers; nil for a run that one process carries out.
	Dispatch Dispatcher
	// Rules are those of the run that a worker works for; see Join.
	Rules SharedRules

	// Prior are cells that rows keep showing; see rerun.Comparison.
	Prior map[cell.Row]result.Row

	knows    bool // the ledger knew some step of the environment when the run began
	effects  effects
	lookups  *lookup.Lookups
	cancel   context.CancelCauseFunc
	guard    guard
	canary   canary
	gate     gate
	inDoubt  chan struct{} // has room for mostInDoubt clients, from the commit of an intent to that of its outcome
	tally    tally
	met      metContacts
	claims   claimContacts
	holders  holders
	erasures ledger.Erasures

	elsewhere  elsewhere
	dispatched dispatched
	refreshing sync.WaitGroup  // what refreshRules does
	ctx        context.Context // of a worker's job, until Leave
}

// ErrStopped is wrapped by Do's error when the run had to stop before its end;
// the rows' results are still complete.
var ErrStopped = errors.New("the run was stopped")

// Do carries the plans out, several clients at a time and each client's steps in
// order. The first client for which something is sent is finished before the
// others start. When ctx is done, calls in flight are finished, nothing more is
// sent, and the remaining clients are recorded as not started.
//
// The error is ErrStopped when the service's answers said that no other call will
// fare better; any other error means that the ledger or the sheet failed.
func (j *Job) Do(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.guard.most = j.MaxFailures
	j.effects = j.carryOutEffects()
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	if err := j.load(ctx, j.MaxFailures.Lifted()); err != nil {
		return err
	}
	fatal := &firstError{stop: j.stop}
	undone, endDispatch := j.beginDispatch(ctx, fatal)
	j.carryOutAll(ctx, plans, undone, fatal)
	endDispatch()
	if fatal.get() == nil {
		j.runElsewhere(ctx, fatal)
	}
	if err := fatal.get(); err != nil {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrStopped) {
		return cause
	}
	return nil
}

// carryOutEffects are the effects of a run.
func (j *Job) carryOutEffects() effects {
	return effects{
		commit: j.commit,
		write:  j.writeResults,
		create: func(ctx context.Context, r *clientRun, d decision) (stepOutcome, error) { return r.send(ctx, d) },
		look:   func(mapping.Lookup) {},
		looked: j.seeLookUp,
	}
}

// carryOutAll carries plans out, except those on whose clients another process works, which
// go to elsewhere. With a Dispatcher, plans go to undone as soon as the service has
// answered for a first client.
func (j *Job) carryOutAll(ctx context.Context, plans iter.Seq2[mapping.Plan, error], undone chan<- mapping.Plan, fatal *firstError) {
	var g errgroup.Group
	g.SetLimit(j.workers())
	proven := false
	for r, err := range j.prepared(j.detectLostLedger(ctx, plans), preparedAtOnce) {
		if err != nil {
			fatal.set(err)
		}
		if fatal.get() != nil {
			break
		}
		if r.undone {
			if j.canary.passed() && ctx.Err() == nil {
				undone <- r.plan
				continue
			}
			r = j.takeUp(ctx, r)
		}
		if !r.leased {
			j.elsewhere.add(r.plan)
			continue
		}
		r.queue()
		if !proven {
			sent, err := j.runClient(ctx, r)
			proven = sent || j.lookups.Answered()
			fatal.set(err)
			continue
		}
		g.Go(func() error {
			_, err := j.runClient(ctx, r)
			fatal.set(err)
			return nil
		})
	}
	_ = g.Wait() // the functions return nil: fatal has the first error
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
	j.lookups = lookup.New(j.Service, lookup.Options{FirstWait: j.FirstWait, Now: j.now, KeepGoing: keepGoing,
		KeySpaces: len(j.Binding.Mapping().Contacts) > 0})
	j.met.of = map[mapping.Identity]metContact{}
	j.inDoubt = make(chan struct{}, mostInDoubt(j.Concurrency))
	if j.knows, err = j.Ledger.Knows(ctx, j.Environment); err != nil {
		return err
	}
	if err := j.loadErased(ctx); err != nil {
		return err
	}
	j.beginHolders()
	return j.loadUndecided(ctx, false)
}

// loadUndecided reads the addresses of the clients that earlier runs may have
// created, the earliest attempt first; with others, only of those that other runs may
// have created, which share the ledger.
func (j *Job) loadUndecided(ctx context.Context, others bool) error {
	for step, err := range j.Ledger.UndecidedClients(ctx, j.Environment) {
		if err != nil {
			return err
		}
		if others && (step.To == ledger.Intent || j.guard.shared == nil && slices.Contains(j.Runs, step.Run)) {
			continue // another process has leased it, and a process that is alone knows its own
		}
		who := mapping.Identity{Space: step.Space, Key: step.Client}
		keys := []string{lookup.Address(who)}
		var was wanted
		if json.Unmarshal(step.Data, &was) == nil { // it is purged otherwise
			keys = append(keys, was.Addresses...)
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		j.lookups.AddUndecided(who, keys)
	}
	return nil
}

var errNoURL = errors.New("the first client has no redirect url: the pointer wire.redirect_url of the environment is wrong")

// preparedAtOnce is of how many clients a run reads from the ledger at once.
const preparedAtOnce = 64

// prepared yields the plans' clients, prepared some ahead on every core, n at a
// time. What the ledger knows of a client changes by the client's own run, so it does
// not matter how early it is read. Somebody who is a contact of others may be created,
// or get another id, by their runs: that is read again before anything is sent (await).
func (j *Job) prepared(plans iter.Seq2[mapping.Plan, error], n int) iter.Seq2[*clientRun, error] {
	prepare := j.prepareClients
	if j.Dispatch != nil {
		prepare = j.findUndone
	}
	return func(yield func(*clientRun, error) bool) {
		for runs, err := range parallel.Map(chunked(plans, n), prepare) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range runs {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// runClient carries one client's plan out and records its outcome. sent reports
// whether a creating request went out.
func (j *Job) runClient(ctx context.Context, r *clientRun) (sent bool, err error) {
	group := r.group
	defer func() {
		if released := j.release(group); err == nil { // else the ledger says the same again
			err = released
		}
	}()
	outcome, sent, err := j.finishClient(ctx, r)
	if err != nil {
		return sent, err
	}
	return sent, j.record(outcome)
}

// finishClient carries one client's plan out, and lets the guard see its outcome.
func (j *Job) finishClient(ctx context.Context, r *clientRun) (outcome clientOutcome, sent bool, err error) {
	tickets := r.tickets
	defer func() {
		for _, ticket := range tickets {
			ticket.Done()
		}
	}()
	outcome, r, err = r.executeUnchanged(ctx)
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

// Forecast says what Do would do, by the same decisions, and sends nothing but
// look-ups (none with NoLookup, which takes unknown clients for new ones). It
// counts the requests, by kind, that Do then makes.
func (j *Job) Forecast(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.effects = effects{
		dryRun:   true,
		noLookup: j.NoLookup,
		commit:   func([]ledger.Event) error { return nil },
		write:    j.writePlanned,
		create: func(_ context.Context, _ *clientRun, d decision) (stepOutcome, error) {
			if d.step.On != "" && j.met.isPlanned(d.step.Key) {
				return stepOutcome{Step: d.step, Status: result.Unchanged}, nil
			}
			j.tally.planned(d.step.Kind)
			return stepOutcome{Step: d.step, Status: result.Planned}, nil
		},
		look:   j.tally.lookUp,
		looked: func(context.Context, lookup.Result) {},
	}
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	if err := j.load(ctx, false); err != nil {
		return err
	}
	inChunks := chunked(j.detectLostLedger(ctx, plans), 4*max(j.Concurrency, 1))
	for runs, err := range parallel.Map(inChunks, j.prepareClients) {
		if err != nil {
			return err
		}
		j.prefetch(ctx, runs)
		for _, r := range runs {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			outcome, err := r.execute(ctx)
			if f, ok := errors.AsType[*apiclient.Failure](err); ok {
				return fmt.Errorf("%w: %w", ErrStopped, advised(f))
			}
			if err != nil {
				return err
			}
			if err := j.record(outcome); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepareClients reads from the ledger what it knows of some clients, all at once.
func (j *Job) prepareClients(plans []mapping.Plan) []*clientRun {
	owners := make([]ledger.ClientKey, len(plans))
	for i, plan := range plans {
		owners[i] = j.owner(plan.Client)
	}
	known := make([]map[string]ledger.Step, len(plans))
	groups, leased, err := j.lease(plans)
	if err == nil && j.readsLedger() {
		// A record of what was done is read whether or not the run is being stopped.
		known, err = j.Ledger.StepsOfClients(context.Background(), j.Environment, j.Binding.Mapping().Name.Text, owners)
	}
	runs := make([]*clientRun, len(plans))
	for i, plan := range plans {
		runs[i] = j.newClientRun(plan)
		if runs[i].leased = leased[i]; leased[i] {
			runs[i].group = groups[i]
		}
		if err != nil {
			runs[i].failed, runs[i].leased = err, true
			continue
		}
		if leased[i] {
			runs[i].prepare(known[i])
		}
	}
	return runs
}

// prefetch looks some clients up side by side; their runs find the answers, and
// ask again where there is none.
func (j *Job) prefetch(ctx context.Context, runs []*clientRun) {
	if j.NoLookup {
		return
	}
	var g errgroup.Group
	g.SetLimit(max(j.Concurrency, 1))
	for _, r := range runs {
		for _, d := range r.decisions {
			plan := r.plan
			if d.step.Contact != nil {
				plan = *d.step.Contact
			} else if d.step.Kind != mapping.ClientStep {
				continue
			}
			if _, met := j.met.find(plan.Client); met || d.known.To != "" || !j.looksUp(plan) {
				continue
			}
			g.Go(func() error {
				defer func() {
					if v := recover(); v != nil {
						j.stop(Caught(v))
					}
				}()
				if _, err := j.lookups.Prefetch(ctx, plan); err != nil {
					j.stop(err)
				}
				return nil
			})
		}
	}
	_ = g.Wait() // the functions return nil
}

// chunked yields plans n at a time.
func chunked(plans iter.Seq2[mapping.Plan, error], n int) iter.Seq2[[]mapping.Plan, error] {
	return func(yield func([]mapping.Plan, error) bool) {
		chunk := make([]mapping.Plan, 0, n)
		for plan, err := range plans {
			if err != nil {
				yield(nil, err)
				return
			}
			if chunk = append(chunk, plan); len(chunk) == n {
				if !yield(chunk, nil) {
					return
				}
				chunk = make([]mapping.Plan, 0, n)
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
