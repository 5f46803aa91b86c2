package importer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient"
	"claimsheet/importer/emergency"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// Job is one run over one sheet. Fill in the fields and call Do or Forecast,
// once.
type Job struct {
	Runs        []string // the id of each sheet's run; the first is the run's own
	Environment string   // the ledger's scope
	Binding     *mapping.Binding
	Service     *apiclient.Client
	Ledger      *ledger.Ledger   // what is known, and where Do remembers
	Drafts      []*spool.Results // where Forecast's results go, for each sheet; Do's go into the ledger
	Emergency   *emergency.File  // where outcomes go that the ledger cannot take; nil for nowhere
	Concurrency int              // clients side by side; at least 1
	Limit       int              // take the first clients only; 0 takes all
	Only        mapping.Identity // take this client only; the zero Identity takes all
	NoLookup    bool             // Forecast: do not ask the service who it knows
	NewLedger   bool             // the ledger is new although the service knows the clients
	MaxFailures MaxFailures      // when to stop; the zero value stops at the first failure
	FirstWait   time.Duration    // before a look-up that failed is made again, as in retry.GET
	Patience    []time.Duration  // when an uncertain client is looked up again in the run, each wait after the last
	Believable  time.Duration    // how old an ambiguous attempt must be before a look-up that finds nobody is believed; 0 is ten minutes

	// Now says when a look-up was made and when its answer is acted upon; nil is
	// the wall clock.
	Now func() time.Time

	kept     map[cell.Row]shown // of a rerun: what rows go on showing
	knows    bool               // Forecast: the ledger knows some step of the environment
	lookups  *lookup.Lookups
	cancel   context.CancelCauseFunc
	guard    guard
	canary   canary
	gate     gate
	tally    tally
	holders  holders
	erasures ledger.Erasures
	spelt    *spellings // read by Recorded, once
}

// ErrStopped is wrapped by Do's error when the run had to stop before its end;
// the rows' results are complete all the same.
var ErrStopped = errors.New("the run was stopped")

// Do carries the plans out, clients side by side and each client's steps in
// order. The first client for whom something is sent is finished before the
// others start. When ctx is done, calls in flight are finished, nothing more
// is sent, and the remaining clients are recorded as not started.
//
// The error is ErrStopped when the service's answers said that no other call
// will fare better; any other error means that the ledger or the sheet failed.
func (j *Job) Do(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.guard.most = j.MaxFailures
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	if err := j.know(ctx, j.guard.lifted()); err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(max(j.Concurrency, 1))
	fatal := &firstError{stop: j.stop}
	proven := false
	for plan, err := range j.withoutLoss(ctx, plans) {
		if err != nil {
			fatal.set(err)
		}
		if fatal.get() != nil {
			break
		}
		ticket := j.lookups.Queue(plan)
		if !proven {
			sent, err := j.one(ctx, plan, ticket)
			proven = sent > 0 || j.lookups.Answered()
			fatal.set(err)
			continue
		}
		g.Go(func() error {
			_, err := j.one(ctx, plan, ticket)
			fatal.set(err)
			return nil
		})
	}
	_ = g.Wait() // the functions return nil: fatal has the first error
	if err := fatal.get(); err != nil {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrStopped) {
		return cause
	}
	return nil
}

// know learns from the ledger what counts for all clients.
func (j *Job) know(ctx context.Context, dogged bool) error {
	if j.Now == nil {
		j.Now = time.Now
	}
	j.lookups = lookup.New(j.Service, lookup.Options{FirstWait: j.FirstWait, Now: j.Now, KeepGoing: dogged})
	if err := j.knowErased(ctx); err != nil {
		return err
	}
	if err := j.knowHolders(ctx); err != nil {
		return err
	}
	return j.knowDoubtful(ctx)
}

var errNoURL = errors.New("the first client has no redirect url: the pointer wire.redirect_url of the environment is wrong")

// one carries one plan out and records its outcome.
func (j *Job) one(ctx context.Context, plan mapping.Plan, ticket lookup.Ticket) (sent int, err error) {
	defer ticket.Done()
	outcome, sent, err := j.carryOut(ctx, plan, ticket)
	if f := new(apiclient.Failure); errors.As(err, &f) {
		// A look-up said that no other request will fare better: the client is
		// recorded as not started, as all that follow are.
		j.stop(f)
		outcome, sent, err = j.carryOut(ctx, plan, ticket)
	}
	if err != nil {
		return sent, err
	}
	if failed, refused := outcome.failure(); sent > 0 || outcome.asked {
		if why := j.guard.finished(failed && (sent > 0 || outcome.unmet()), refused); why != nil {
			j.stop(why)
		}
	}
	return sent, j.record(outcome)
}

// stop ends the run: what is in flight is finished, nothing more is sent.
func (j *Job) stop(why error) { j.cancel(fmt.Errorf("%w: %w", ErrStopped, advised(why))) }

// whyStopped is the reason in words, for rows that are not started.
func (j *Job) whyStopped(ctx context.Context) string {
	if cause := context.Cause(ctx); errors.Is(cause, ErrStopped) {
		return cause.Error()
	}
	return ErrStopped.Error()
}

// leavesOut tells why a plan is not among those asked for, "" when it is.
func (j *Job) leavesOut(plan mapping.Plan) string {
	switch {
	case j.Limit > 0 && plan.Number > j.Limit:
		return fmt.Sprintf("left out by --limit %d", j.Limit)
	case j.Only != (mapping.Identity{}) && plan.Client != j.Only:
		return "left out by --only"
	}
	return j.erased(plan.Client)
}

// run is the id of the run in which a plan is carried out: that of the sheet in
// which its first row stands.
func (j *Job) run(plan mapping.Plan) string { return j.Runs[plan.Rows[0].Table()] }

func (j *Job) owner(who mapping.Identity) ledger.ClientKey {
	return ledger.ClientKey{Environment: j.Environment, Space: who.Space, Client: who.Key}
}

// stepID is a step's full name. The client step is shared by all mappings.
func (j *Job) stepID(who mapping.Identity, step *mapping.Step) ledger.StepID {
	id := ledger.StepID{ClientKey: j.owner(who), Mapping: j.Binding.Mapping().Name.Text, Step: step.Key}
	if step.Kind == mapping.ClientStep {
		id.Mapping = ""
	}
	return id
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
