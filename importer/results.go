package importer

import (
	"context"
	"iter"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// RowResults are a run's results by source row, ascending.
func RowResults(ctx context.Context, l *ledger.Ledger, run string) iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		for r, err := range l.Rows(ctx, run) {
			row := result.Row{Row: r.Row, Client: r.Number, Status: result.Status(r.Status), ClientID: r.ClientID, ClaimIDs: r.ClaimIDs, URL: r.URL,
				FailedStep: r.FailedStep, Error: r.Error, Advice: r.Advice}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// StepResults are the steps of a run's plans by client and step, with what
// has become of them by now.
func StepResults(ctx context.Context, l *ledger.Ledger, run string) iter.Seq2[result.Step, error] {
	return stepResults(l.RunSteps(ctx, run))
}

// StepResultsAsOf are StepResults as they were when an event was the ledger's
// newest.
func StepResultsAsOf(ctx context.Context, l *ledger.Ledger, run string, event int64) iter.Seq2[result.Step, error] {
	return stepResults(l.RunStepsAsOf(ctx, run, event))
}

func stepResults(steps iter.Seq2[ledger.RunStepState, error]) iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		number := 0
		for s, err := range steps {
			number++
			step := result.Step{Number: number, Client: s.Number / maxSteps, ClientKey: s.RunStep.Client, Step: s.RunStep.Step,
				Kind: s.RunStep.Kind, Title: s.Title, State: string(s.Step.To),
				ID: s.Step.ID, Attempts: s.Step.Attempts, Status: s.Step.Event.Status, At: s.Step.At}
			if step.State == "" {
				step.State = string(result.Planned)
			}
			if !yield(step, err) || err != nil {
				return
			}
		}
	}
}
