package settle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
)

// UncertainStep is a step that may or may not have been created, with what helps
// to find it in the service.
type UncertainStep struct {
	ledger.Step
	// Number is that of the event that led to this state. A number from an old list never means
	// another step, or a later attempt at the same one.
	Number   int64
	ClientID string // of the step's client; "" while the client is uncertain itself
	ClaimID  string // of the activity's claim; "" for other steps
	Template string // the name of the activity's template; "" when the request is no longer kept
	Status   string // the status that an activity was sent with
	Entry    string // of the mapping's contacts, where the person was sent as a further contact; else ""
}

// Uncertain are the steps of environments that are uncertain, those
// that have waited longest first.
func Uncertain(ctx context.Context, l *ledger.Ledger, environments []string) ([]UncertainStep, error) {
	var steps []UncertainStep
	for _, environment := range environments {
		for known, err := range l.Unsettled(ctx, environment) {
			if err != nil {
				return nil, err
			}
			step := UncertainStep{Step: known, Number: known.Ref.Last}
			if err := step.gather(ctx, l); err != nil {
				return nil, err
			}
			steps = append(steps, step)
		}
	}
	slices.SortStableFunc(steps, func(a, b UncertainStep) int { return a.At.Compare(b.At) })
	return steps, nil
}

// gather fills in the ids that lead to the step, and what it asked for.
func (d *UncertainStep) gather(ctx context.Context, l *ledger.Ledger) error {
	known, err := l.Steps(ctx, d.ClientKey, d.Mapping)
	if err != nil {
		return err
	}
	d.ClientID = known[ledger.KindClient].ID
	if claim := ledger.ClaimOf(d.StepID.Step); claim != "" {
		d.ClaimID = known[claim].ID
	}
	var was struct{ Mapping, Template, Status string } // of the request, as the ledger keeps it
	if json.Unmarshal(d.Data, &was) != nil {
		return nil // it was purged
	}
	switch d.Kind {
	case ledger.KindActivity:
		d.Template, d.Status = was.Template, was.Status
	case ledger.KindClient:
		_, d.Entry, _ = strings.Cut(was.Mapping, "/")
	}
	return nil
}

// Decided are the steps of environments that Undo takes back: those whose last event is a decision,
// the latest first, and the clients and claims that are done with an id that a sheet gave (known_id),
// which have no numbers.
func Decided(ctx context.Context, l *ledger.Ledger, environments []string) (decided []UncertainStep, err error) {
	for _, environment := range environments {
		for step, err := range l.Decided(ctx, environment) {
			if err != nil {
				return nil, err
			}
			switch {
			case isDecision(step):
				decided = append(decided, UncertainStep{Step: step, Number: step.Ref.Last})
			case step.IsOfSheet():
				decided = append(decided, UncertainStep{Step: step})
			}
		}
	}
	return decided, nil
}
