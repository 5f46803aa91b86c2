package cli

import (
	"context"
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// linkWaits refuses a link that no client has got yet while a step before it is
// not done: as in a run, it is for what is behind it.
func (d *desk) linkWaits(ctx context.Context, number int, link ledger.StepID) (problem.Problem, error) {
	earlier, err := d.stepsBefore(ctx, link)
	if err != nil {
		return problem.Problem{}, err
	}
	for _, s := range earlier {
		if s.Step.To == ledger.Done {
			continue
		}
		what := "a step of the kind " + s.RunStep.Kind
		if s.Title != "" {
			what = "the " + s.RunStep.Kind + " “" + s.Title + "”"
		}
		state, hint := string(s.Step.To), "run the sheet again: it sends what is missing, and the link behind it"
		switch s.Step.To {
		case "":
			state = "not started"
		case ledger.Uncertain, ledger.Parked:
			hint = d.where.command("settle") + " decides what is uncertain; then run the sheet again"
		case ledger.GivenUp:
			hint = "what depends on a step that was given up is not sent"
		case ledger.Failed:
			hint = "correct the row and run again, which makes the link too; " + d.where.command("history", "CLIENT-KEY") + " tells more"
		}
		return problem.New("link-waits", "the link of key %d waits for %s, which is %s; nothing was sent", number, what, state).Hinted("%s", hint), nil
	}
	return problem.Problem{}, nil
}

// stepsBefore are the steps before a client's link: those of the newest plan, or
// where none is kept all that the ledger knows.
func (d *desk) stepsBefore(ctx context.Context, link ledger.StepID) ([]ledger.RunStepState, error) {
	steps, err := d.known.PlanOfClient(ctx, link.Owner, link.Mapping)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		known, err := d.known.StepsOfClient(ctx, link.Owner)
		if err != nil {
			return nil, err
		}
		for _, s := range known {
			steps = append(steps, ledger.RunStepState{RunStep: ledger.RunStep{StepID: s.StepID, Kind: s.Kind}, Step: s})
		}
	}
	return slices.DeleteFunc(steps, func(s ledger.RunStepState) bool {
		return s.RunStep.Kind == ledger.KindLink || s.RunStep.Mapping != "" && s.RunStep.Mapping != link.Mapping
	}), nil
}
