package importer

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// Do carries the plans out, several groups of clients at a time, the clients of a group one
// after the other, and each client's steps in order. The first client for which something is
// sent is finished before the others start. When ctx is done, calls in flight are finished,
// nothing more is sent, and the remaining clients are recorded as not started. The plans may
// be read twice.
//
// The error is ErrStopped when the service's answers said that no other call will
// fare better; any other error means that the ledger or the sheet failed.
func (j *Job) Do(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.guard.most = j.MaxFailures
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	if err := j.load(ctx); err != nil {
		return err
	}
	toWorkers, endDispatch := j.beginDispatch(ctx)
	j.fail(j.detectLostLedger(ctx, plans))
	j.runGroups(ctx, plans, toWorkers)
	endDispatch()
	if err := j.failed.Load(); err != nil {
		return *err
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrStopped) {
		return cause
	}
	return nil
}

// runGroups carries plans out, group by group: one after the other until the service has
// answered, then side by side. With a Dispatcher, groups with work left go to toWorkers as soon as
// the service has answered for the first client.
func (j *Job) runGroups(ctx context.Context, plans iter.Seq2[mapping.Plan, error], toWorkers chan<- []mapping.Plan) {
	var all errgroup.Group
	defer all.Wait() // the functions return nil: Job.failed has the first error
	all.SetLimit(ClientsAtOnce(j.Concurrency))
	sideBySide := false
	for group, err := range j.read(j.grouped(plans)) {
		j.fail(err)
		switch {
		case j.failed.Load() != nil:
			return
		case j.Dispatch != nil && j.canary.passed.Load() && ctx.Err() == nil && !group.nothingLeft():
			toWorkers <- group.plans
		case !sideBySide:
			j.fail(j.runGroup(ctx, group, j.keepOutcome))
			sideBySide = j.canary.passed.Load() || j.lookups.answered.Load()
		default:
			all.Go(func() error {
				j.fail(j.runGroup(ctx, group, j.keepOutcome))
				return nil
			})
		}
	}
}

// FirstFailures returns the first rows that failed or are uncertain, each with its step and the
// class of what happened, and nothing personal. Call it after Do or Forecast.
func (j *Job) FirstFailures() problem.List { return j.tally.failures }

// Summary returns the counts of the run, every problem of its rows, and whether done steps differ
// because of the mapping. Call it after Do or Forecast.
func (j *Job) Summary() (result.Summary, problem.List, bool) {
	s := j.summary()
	s.DryRun = j.mode == modeDry
	return s, j.tally.listed(), j.tally.mapping
}

// sent are the requests that this process has sent, and those that workers have.
func (j *Job) sent() map[apiclient.Kind]int {
	j.guard.mu.Lock()
	defer j.guard.mu.Unlock()
	sum := maps.Clone(j.Service.Sent())
	for _, sent := range j.guard.rules.Sent {
		for kind, n := range sent {
			sum[kind] += n
		}
	}
	return sum
}

func (j *Job) summary() result.Summary {
	of := j.tally.whole
	s := result.Summary{Run: j.Runs[0], Rows: of.rows, Clients: of.clients, WithoutLink: of.withoutLink}
	if j.Service == nil { // a report has sent nothing
		return s
	}
	n := j.sent()
	for kind, planned := range j.tally.planned { // beside the look-ups of a dry run
		n[kind] += planned
	}
	s.Requests = result.Requests{Client: n[apiclient.CreateClient], Claim: n[apiclient.CreateClaim], Activity: n[apiclient.CreateActivity],
		Link: n[apiclient.CreateLink], Lookup: n[apiclient.FindClient], Templates: n[apiclient.ReadTemplates]}
	return s
}

// OfSheet returns the part of a whole run's summary that is about one sheet. Requests
// stay those of the whole run: one client may have rows in several sheets.
func (j *Job) OfSheet(whole result.Summary, table int) result.Summary {
	whole.Run = j.Runs[table]
	if len(j.Runs) > 1 {
		var of counts // zero for a sheet without rows
		if j.tally.sheets != nil {
			of = j.tally.sheets[table]
		}
		whole.Rows, whole.Clients, whole.WithoutLink = of.rows, of.clients, of.withoutLink
	}
	return whole
}

// Progress says how far a run has come. It is for display only.
type Progress struct {
	Clients  result.Counts // those that are finished
	Requests int           // sent so far, whatever came of them
	// Waiting is why nothing is sent at present, one line without personal data;
	// "" when nothing is waited for.
	Waiting string
	// Until is when the waiting ends, zero when that is not known.
	Until time.Time
}

// Progress returns how far Do or Forecast has come. It may be called from any
// goroutine.
func (j *Job) Progress() Progress {
	var p Progress
	j.tally.mu.Lock()
	p.Clients = j.tally.whole.clients
	j.tally.mu.Unlock()
	for _, n := range j.sent() {
		p.Requests += n
	}
	p.Waiting, p.Until = j.Service.Waiting()
	switch {
	case !j.gate.open():
		p.Waiting, p.Until = "waiting for the service to answer again", time.Time{}
	case p.Waiting != "":
	case j.waiting.Load() > 0:
		p.Waiting = "another run is at work on the clients that are left"
	case j.noWorker.Load():
		p.Waiting = "no worker is at work: start claimsheet worker"
	}
	return p
}

// Project writes the results of a run that is over into Drafts, by what the ledger knows now: what
// the run Runs did is done, what was done before it is unchanged, and a step that the ledger does
// not have is not started. It needs no service and records nothing. It returns the counts and the
// problems of the rows. Call it once, in place of Do.
func (j *Job) Project(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) (result.Summary, problem.List, error) {
	j.mode = modeReport
	if err := j.loadErased(); err != nil {
		return result.Summary{}, nil, err
	}
	prepare := func(groups [][]mapping.Plan) []*clientRun { return j.prepareClients(slices.Concat(groups...)) }
	for r, err := range inParallel(chunked(j.grouped(plans), readAhead), prepare) {
		if err == nil {
			err = r.project(ctx, j.keepOutcome)
		}
		if err != nil {
			return result.Summary{}, nil, err
		}
	}
	return j.summary(), j.tally.listed(), ctx.Err()
}
