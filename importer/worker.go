package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// A worker carries out plans that the coordinator of a run hands over (see coordinator.go).
// Plans and outcomes travel as JSON. encodePlans writes the plans of a group and Job.Work
// reads them; Job.Work writes their outcomes (wireGroup) and Job.recordDispatched reads them.

// mostEncoded is how many bytes of plans are handed over together at most. Their outcome has
// then less than the 32 MB that River takes.
const mostEncoded = 4 << 20

// encodePlans are the plans of a group as they are handed over. ok is false where they would
// not arrive as they are: a text of the sheet is not valid UTF-8, or they are too many.
func encodePlans(plans []mapping.Plan) (encoded []byte, ok bool) {
	encoded, err := json.Marshal(plans)
	var arrive []mapping.Plan
	ok = err == nil && len(encoded) <= mostEncoded && json.Unmarshal(encoded, &arrive) == nil && reflect.DeepEqual(plans, arrive)
	return encoded, ok
}

// Join prepares the job of a worker for Work. Runs, Environment, Binding, Service, Ledger,
// Journal, Concurrency, MaxFailures and Rules are to be set; KnownIDs
// are those of the coordinator (TakeFacts). The job ends with ctx.
func (j *Job) Join(ctx context.Context) error {
	j.guard.most = j.MaxFailures
	j.guard.share(j.Rules)
	j.canary.proven = true // the coordinator has let the first client go ahead
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	if err := j.load(j.ctx, j.MaxFailures.Lifted()); err != nil {
		return err
	}
	j.refreshing.Go(func() { j.refreshRules(j.ctx) })
	return nil
}

// Leave stops what Join has started in the background. It does not wait for calls of Work,
// which then end soon.
func (j *Job) Leave() {
	j.cancel(nil)
	j.refreshing.Wait()
}

// Work carries out the plans of a group that the coordinator has handed over, and returns their
// outcomes for it; nil when the job has ended before the group. Several goroutines may call it,
// for different groups. An error means that this process cannot go on: ErrCutOff,
// ledger.ErrStopped and ledger.ErrServer that it may in a new session with the ledger. What was
// done is in the ledger in any case.
func (j *Job) Work(encoded []byte) (outcome []byte, err error) {
	var plans []mapping.Plan
	if err := json.Unmarshal(encoded, &plans); err != nil {
		return nil, fmt.Errorf("a plan cannot be read: %w", err)
	}
	if back, err := j.givesBack(); back {
		return nil, err
	}
	var done wireGroup
	_, err = j.finishGroup(j.ctx, group{plans: plans}, func(o clientOutcome) error {
		done.Clients = append(done.Clients, o)
		return nil
	})
	if errors.Is(err, ledger.ErrStopped) || errors.Is(err, ledger.ErrServer) {
		return nil, err
	}
	if back, cause := j.givesBack(); back {
		return nil, cause
	}
	if err != nil { // it would end the next worker too
		return json.Marshal(wireGroup{Fatal: err.Error()})
	}
	done.Process, done.Sent, done.Retries = j.guard.process, j.Service.Sent(), j.Retries()
	return json.Marshal(done)
}

// givesBack reports whether the process ends, and not the run, so that plans are given back. The
// error says why where that is not its own wish.
func (j *Job) givesBack() (back bool, err error) {
	cause := context.Cause(j.ctx)
	if errors.Is(cause, ErrCutOff) {
		return true, cause
	}
	return cause != nil && !errors.Is(cause, ErrStopped), nil
}
