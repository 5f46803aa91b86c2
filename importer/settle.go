package importer

import (
	"context"
	"errors"
	"slices"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// Settlement is a decision about one step.
type Settlement struct {
	Step     ledger.StepID
	Decision Decision
	Where    problem.Where // what problems are about; zero for a command's
}

// Settler records operators' decisions in a ledger whose lock is held.
type Settler struct {
	Ledger *ledger.Ledger
	Run    string // names the decisions' events; a UUID that no run has
	// ActivityIDs tells that created activities need their ids, as the
	// environment's wire.activity_id says.
	ActivityIDs bool
	// AnyID takes an id also where it looks like none of the known ids of its kind.
	AnyID bool
}

const (
	reasonOperatorCreated = "an operator found it in the service"
	reasonOperatorAbsent  = "an operator found that it was not created"
	reasonOperatorGaveUp  = "an operator gave it up"
	reasonOperatorUndid   = "an operator took the decision back"
)

// Settle records decisions, durably: all of them, or none. Only steps that are
// uncertain or parked can be decided, and those that were decided as created,
// with a wrong id, while nothing was built on it; Undo is for steps that were
// decided. An id that another step holds already is refused, because one of the
// two would be wrong. What is wrong with the
// decisions is a problem.List, sorted by place; any other error is the ledger's.
func (s Settler) Settle(ctx context.Context, settlements ...Settlement) error {
	var found problem.List
	var events []ledger.Event
	seen := map[ledger.StepID]bool{}
	taken := map[string]bool{} // kind, environment and id that an earlier settlement gives
	for _, one := range settlements {
		event, p, err := s.event(ctx, one)
		if err != nil {
			return err
		}
		given := event.Kind + " " + event.Environment + " " + event.ID
		switch {
		case p.Code != "":
		case seen[one.Step]:
			p = problem.New("decided-twice", "the same step is decided twice")
		case event.ID != "" && taken[given]:
			p = problem.New("id-taken", "the same id is given to two steps").Hinted("each has an id of its own; look both up in the service")
		}
		seen[one.Step], taken[given] = true, true
		if p.Code != "" {
			p.Where = one.Where
			found = append(found, p)
			continue
		}
		events = append(events, event)
	}
	found.Sort()
	if err := found.Err(); err != nil {
		return err
	}
	err := s.Ledger.Append(events...)
	if t, ok := errors.AsType[ledger.Taken](err); ok { // two of them give the same url
		i := slices.IndexFunc(settlements, func(one Settlement) bool { return one.Step == t.Step })
		p := takenProblem(t, settlements[i].Step)
		p.Where = settlements[i].Where
		return problem.List{p}
	}
	return err
}

// event is what a settlement makes happen to its step, or what is wrong with
// it: a problem with a code.
func (s Settler) event(ctx context.Context, one Settlement) (ledger.Event, problem.Problem, error) {
	known, err := s.Ledger.Steps(ctx, one.Step.ClientKey, one.Step.Mapping)
	if err != nil {
		return ledger.Event{}, problem.Problem{}, err
	}
	step, ok := known[one.Step.Step]
	switch {
	case !ok || step.StepID != one.Step:
		return ledger.Event{}, problem.New("unknown-step", "the ledger knows no such step").Hinted("claimsheet settle lists what is uncertain"), nil
	case one.Decision.Choice == Undo || one.Decision.Choice == WasCreated && step.To == ledger.Done && isDecision(step):
		if p, err := s.checkUndo(ctx, step); err != nil || p.Code != "" {
			return ledger.Event{}, p, err
		}
	case step.To != ledger.Uncertain && step.To != ledger.Parked:
		return ledger.Event{}, problem.New("not-uncertain", "the step is %s: only what is uncertain can be decided", step.To).
			Hinted("claimsheet settle lists what is uncertain"), nil
	}
	if p, ok := one.Decision.check(step.Kind, s.ActivityIDs); !ok {
		return ledger.Event{}, p, nil
	}
	event := ledger.Event{StepID: one.Step, Kind: step.Kind, At: time.Now().UTC(), Run: s.Run, Via: ledger.ViaOperator}
	switch one.Decision.Choice {
	case NotCreated:
		event.To, event.Reason = ledger.Failed, reasonOperatorAbsent
	case GiveUp:
		event.To, event.Reason = ledger.GivenUp, reasonOperatorGaveUp
	case Undo:
		event.To, event.Reason = ledger.Uncertain, reasonOperatorUndid
	default:
		event.To, event.Reason = ledger.Done, reasonOperatorCreated
		if step.Kind == ledger.KindLink {
			event.URL = one.Decision.Value
		} else {
			event.ID = one.Decision.Value
		}
	}
	p, err := s.checkHolder(ctx, event)
	return event, p, err
}

// checkHolder refuses an id that is another step's, of whatever kind, one that
// looks like none of its kind, and a url that is another client's.
func (s Settler) checkHolder(ctx context.Context, event ledger.Event) (problem.Problem, error) {
	if event.ID != "" {
		if p, err := s.checkID(ctx, event); err != nil || p.Code != "" {
			return p, err
		}
	}
	t, taken, err := s.Ledger.StepWithID(ctx, event)
	if err != nil || !taken {
		return problem.Problem{}, err
	}
	return takenProblem(t, event.StepID), nil
}

// checkID refuses an id of another kind of step, and one that looks like none of
// its kind.
func (s Settler) checkID(ctx context.Context, event ledger.Event) (problem.Problem, error) {
	for _, kind := range []string{ledger.KindClient, ledger.KindClaim, ledger.KindActivity} {
		other := event
		if other.Kind = kind; kind == event.Kind {
			continue
		}
		if _, taken, err := s.Ledger.StepWithID(ctx, other); err != nil {
			return problem.Problem{}, err
		} else if taken {
			return problem.New("id-taken", "the id is that of a %s, and the step makes a %s", kind, event.Kind).
				Hinted("copy the id of the %s from the service", event.Kind), nil
		}
	}
	return s.checkShape(ctx, event)
}

// takenProblem says that an id or url for a step is another's.
func takenProblem(t ledger.Taken, id ledger.StepID) problem.Problem {
	what := "id is that of another " + kindOf(id.Step)
	if t.URL {
		what = "redirect url is that of another client"
	}
	return problem.New("id-taken", "the %s, which the ledger has as done", what).
		Hinted("look in the service which of the two it belongs to")
}
