package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
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

// ErrGivenBack is returned for a plan that was not carried out to its end, because this
// process ends or has lost its locks. Another one goes on with it.
var ErrGivenBack = errors.New("the plan was not carried out to its end by this process")

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
// outcomes for it. Several goroutines may call it, for different groups. ErrGivenBack is
// returned when the job has ended before the group; any other error means that this process
// cannot go on: ErrCutOff, ledger.ErrStopped and ledger.ErrServer that it may in a new session
// with the ledger. What was done is in the ledger in any case.
func (j *Job) Work(encoded []byte) (outcome []byte, err error) {
	var plans []mapping.Plan
	if err := json.Unmarshal(encoded, &plans); err != nil {
		return nil, fmt.Errorf("a plan cannot be read: %w", err)
	}
	if err := j.givesBack(); err != nil {
		return nil, err
	}
	var done wireGroup
	_, err = j.finishGroup(j.ctx, group{plans: plans}, func(o clientOutcome) error {
		done.Clients = append(done.Clients, wireOf(o))
		return nil
	})
	if errors.Is(err, ledger.ErrStopped) || errors.Is(err, ledger.ErrServer) {
		return nil, err
	}
	if back := j.givesBack(); back != nil {
		return nil, back
	}
	if err != nil { // it would end the next worker too
		return json.Marshal(wireGroup{Fatal: err.Error()})
	}
	done.Process, done.Sent, done.Retries = j.guard.process, j.Service.Sent(), j.Retries()
	return json.Marshal(done)
}

// givesBack returns the error with which plans are given back when the process ends, and not
// the run; nil while it does not.
func (j *Job) givesBack() error {
	switch cause := context.Cause(j.ctx); {
	case errors.Is(cause, ErrCutOff):
		return cause
	case cause != nil && !errors.Is(cause, ErrStopped):
		return ErrGivenBack
	}
	return nil
}

// wireGroup is the outcomes of a group on their way to the coordinator, with what the process
// has sent for the run so far.
type wireGroup struct {
	Clients []wireOutcome

	Fatal string // why the run cannot go on; "" as a rule

	Process string // of the worker, in the shared rules
	Sent    map[apiclient.Kind]int
	Retries map[string]int
}

// wireOutcome is the outcome of one client.
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

func wireOf(o clientOutcome) wireOutcome {
	w := wireOutcome{Number: o.Number, Client: o.Client, Status: o.Status, URL: o.URL, Rows: o.Rows, Problems: o.Problems, MappingChanged: o.MappingChanged}
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
