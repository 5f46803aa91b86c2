package importer

import (
	"context"
	"regexp"
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// Decided are the steps of environments that an operator decided and no run has
// sent again since, the latest first.
func Decided(ctx context.Context, l *ledger.Ledger, environments []string) ([]Doubt, error) {
	var decided []Doubt
	for _, environment := range environments {
		for u, err := range l.Decided(ctx, environment) {
			if err != nil {
				return nil, err
			}
			if isDecision(u.Step) {
				decided = append(decided, Doubt{Unsettled: u})
			}
		}
	}
	return decided, nil
}

// isDecision reports whether a step is as an operator decided. A fresh link
// comes about by an operator too, and is none.
func isDecision(s ledger.Step) bool {
	return s.Via == ledger.ViaOperator && slices.Contains([]string{reasonOperatorCreated, reasonOperatorAbsent, reasonOperatorGaveUp}, s.Reason)
}

// checkUndo refuses to take back what is no decision, and what other steps were
// built on.
func (s Settler) checkUndo(ctx context.Context, step ledger.Step) (problem.Problem, error) {
	if !isDecision(step) {
		return problem.New("not-decided", "the step is %s, and no decision made it so: there is nothing to take back", step.To).
			Hinted("claimsheet history CLIENT-KEY tells what happened to it"), nil
	}
	others, err := s.Ledger.StepsOfClient(ctx, step.ClientKey)
	if err != nil {
		return problem.Problem{}, err
	}
	for _, other := range others {
		claim, _ := claimOf(other.StepID.Step)
		onClient := step.Kind == ledger.KindClient && other.Kind != ledger.KindClient
		onClaim := step.Kind == ledger.KindClaim && other.Mapping == step.Mapping && claim == step.StepID.Step
		if (onClient || onClaim) && other.To != ledger.Failed && other.To != ledger.NotSent {
			return problem.New("built-on", "the decision cannot be taken back or corrected: a %s that was sent since belongs to this %s and is %s",
				other.Kind, step.Kind, other.To).Hinted("what is wrong now must be corrected in the service"), nil
		}
	}
	return problem.Problem{}, nil
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// shapesCompared is how many known ids an id is compared with.
const shapesCompared = 50

// checkShape refuses an id that is no UUID where all known ids of its kind are.
func (s Settler) checkShape(ctx context.Context, event ledger.Event) (problem.Problem, error) {
	if s.AnyID || uuidShape.MatchString(event.ID) {
		return problem.Problem{}, nil
	}
	known, err := s.Ledger.IDs(ctx, event.Environment, event.Kind, shapesCompared)
	if err != nil || len(known) == 0 || slices.ContainsFunc(known, func(id string) bool { return !uuidShape.MatchString(id) }) {
		return problem.Problem{}, err
	}
	return problem.New("unlike-id", "the id looks like none of the service's: every known id of a %s is a UUID such as %s", event.Kind, known[0]).
		Hinted("copy the id from the service again; if it is right all the same: claimsheet settle --yes --created ID STEP"), nil
}
