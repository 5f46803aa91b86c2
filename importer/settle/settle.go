// Package settle is where you decide about uncertain steps: steps that may or
// may not have been created, because no answer came or an answer could not be
// understood. A run never sends such a step again without a decision.
//
// Uncertain lists the steps with what helps to find them in the service, and Settler
// records decisions about them.
//
// Every decision is an event in the ledger with the way ViaByHand, durable when
// the call returns. A wrong id is the most dangerous mistake here, so an id that
// another step has is refused, and so is one that does not look like the service's.
package settle

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// Settlement is a decision about one step.
type Settlement struct {
	Step     ledger.StepID
	Decision Decision
	Where    problem.Where // the cell that holds the decision, for problems; zero when a command gave it
}

// Settler records decisions in a ledger that is open for writing.
type Settler struct {
	Ledger *ledger.Ledger
	Run    string // names the decisions' events; a UUID that no run has
	// ActivityIDs reports whether a created activity needs its id: the environment
	// has wire.activity_id.
	ActivityIDs bool
	// AnyID accepts an id that does not look like the known ids of its kind.
	AnyID bool
}

// The reasons of decisions, as history shows them.
const (
	decidedCreated    = "you decided that it was created"
	decidedNotCreated = "you decided that it was not created"
	decidedToGiveUp   = "you gave it up"
	undidDecision     = "you undid the decision"
	withdrewID        = "you withdrew the id that the sheet gave (known_id)"
)

// Settle records decisions, durably: all of them or none. A step can be decided
// when it is uncertain. A decision can be taken back with Undo, as long as nothing was built
// on it. Undo also withdraws an id that the sheet gave (known_id): the step is as it
// was before. Settle refuses an id that another step has, because one of the two
// would be wrong, and one about a client on whom another process works. What is wrong with
// the decisions is a problem.List, sorted by place; any other error is the ledger's.
func (s Settler) Settle(ctx context.Context, settlements ...Settlement) error {
	var clients []string
	for _, one := range settlements {
		clients = append(clients, one.Step.LockName())
	}
	once, end := context.WithCancel(ctx)
	end() // Lock does not wait
	unlock, err := s.Ledger.Lock(once, clients...)
	if errors.Is(err, context.Canceled) {
		return ledger.Refuse(problem.New("ledger-locked", "another process is at work on a client of these steps, and may find out what became of them").
			Hinted("Decide when it has finished."), ledger.ErrLocked)
	}
	if err != nil {
		return err
	}
	defer unlock()
	var found problem.List
	var events []ledger.Event
	seen := map[ledger.StepID]bool{}
	taken := map[string]bool{} // kind, environment and id of the settlements so far
	for _, one := range settlements {
		event, err := s.event(ctx, one)
		given := event.Kind + " " + event.Environment + " " + event.ID
		switch {
		case err != nil:
		case seen[one.Step]:
			err = problem.New("decided-twice", "the same step is decided twice")
		case event.ID != "" && taken[given]:
			err = problem.New("id-taken", "the same id is given to two steps").Hinted("each has an id of its own; look both up in the service")
		}
		seen[one.Step], taken[given] = true, true
		p, wrong := err.(problem.Problem)
		switch {
		case wrong:
			p.Where = one.Where
			found = append(found, p)
		case err != nil:
			return err
		}
		events = append(events, event)
	}
	found.Sort()
	if err := found.Err(); err != nil {
		return err
	}
	err = s.Ledger.Append(events...)
	if t, ok := errors.AsType[ledger.Taken](err); ok { // two of them give the same url
		i := slices.IndexFunc(settlements, func(one Settlement) bool { return one.Step == t.Step })
		p := takenProblem(t)
		p.Where = settlements[i].Where
		return problem.List{p}
	}
	return err
}

// event returns the event that records a settlement. What is wrong with it is a problem.Problem.
func (s Settler) event(ctx context.Context, one Settlement) (ledger.Event, error) {
	event := ledger.Event{StepID: one.Step, At: time.Now().UTC(), Run: s.Run, Via: ledger.ViaByHand}
	known, err := s.Ledger.Steps(ctx, one.Step.ClientKey, one.Step.Mapping)
	if err != nil {
		return event, err
	}
	step, ok := known[one.Step.Step]
	event.Kind = step.Kind
	switch {
	case !ok || step.StepID != one.Step:
		return event, problem.New("unknown-step", "the ledger knows no such step").Hinted("claimsheet settle lists what is uncertain")
	case one.Decision.Choice == Undo:
		if err := s.checkUndo(ctx, step); err != nil {
			return event, err
		}
	case step.To != ledger.Uncertain:
		return event, problem.New("not-uncertain", "the step is %s: only what is uncertain can be decided", step.To).
			Hinted("claimsheet settle lists what is uncertain, and --undo takes a decision back")
	}
	if err := one.Decision.Check(step.Kind, s.ActivityIDs); err != nil {
		return event, err
	}
	switch one.Decision.Choice {
	case NotCreated:
		event.To, event.Reason = ledger.Refused, decidedNotCreated
	case GiveUp:
		event.To, event.Reason = ledger.Closed, decidedToGiveUp
	case Undo:
		event.To, event.Reason = ledger.Uncertain, undidDecision
		if step.IsOfSheet() {
			event.Reason = withdrewID
			event.To, err = s.beforeSheet(ctx, step)
		}
	default:
		event.To, event.Reason = ledger.Done, decidedCreated
		if step.Kind == ledger.KindLink {
			event.URL = one.Decision.Value
		} else {
			event.ID = one.Decision.Value
		}
	}
	if err == nil {
		err = s.checkHolder(ctx, event)
	}
	return event, err
}

// checkHolder refuses an id that another step of any kind has, an id that does
// not look like those of its kind, and a url that is another client's.
func (s Settler) checkHolder(ctx context.Context, event ledger.Event) error {
	for _, kind := range []string{ledger.KindClient, ledger.KindClaim, ledger.KindActivity} {
		other := event
		if other.Kind = kind; kind == event.Kind || event.ID == "" {
			continue
		}
		if _, taken, err := s.Ledger.StepWithID(ctx, other); err != nil {
			return err
		} else if taken {
			return problem.New("id-taken", "the id is that of a %s, and the step makes a %s", kind, event.Kind).
				Hinted("copy the id of the %s from the service", event.Kind)
		}
	}
	if event.ID != "" && !s.AnyID && !uuidShape.MatchString(event.ID) {
		known, err := s.Ledger.IDs(ctx, event.Environment, event.Kind, shapesCompared)
		if err != nil {
			return err
		}
		if len(known) > 0 && !slices.ContainsFunc(known, func(id string) bool { return !uuidShape.MatchString(id) }) {
			return problem.New("unlike-id", "the id does not look like one of the service's: every known id of a %s is a UUID such as %s", event.Kind, known[0]).
				Hinted("copy the id from the service again; settle --yes accepts it if it is right")
		}
	}
	t, taken, err := s.Ledger.StepWithID(ctx, event)
	if taken && err == nil {
		return takenProblem(t)
	}
	return err
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// shapesCompared is how many known ids an id is compared with.
const shapesCompared = 50

// takenProblem is the problem that another step has the id or url.
func takenProblem(t ledger.Taken) problem.Problem {
	what := "id is that of another " + KindOf(t.Step.Step)
	if t.URL {
		what = "redirect url is that of another client"
	}
	return problem.New("id-taken", "the %s, which the ledger has as done", what).
		Hinted("look in the service which of the two it belongs to")
}

// isDecision reports whether the last event of a step was a decision. A fresh
// link has the way ViaByHand too, but is not a decision.
func isDecision(s ledger.Step) bool {
	return s.Via == ledger.ViaByHand && slices.Contains([]string{decidedCreated, decidedNotCreated, decidedToGiveUp}, s.Reason)
}

// beforeSheet returns the state to which the step returns when the id that the sheet
// gave is withdrawn: Refused, which a run sends like a new one, unless a request that was
// sent before may have created it.
func (s Settler) beforeSheet(ctx context.Context, step ledger.Step) (ledger.State, error) {
	events, err := s.Ledger.Events(ctx, step.StepID)
	for _, e := range slices.Backward(events) {
		switch {
		case e.IsOfSheet():
		case e.To == ledger.Refused:
			return ledger.Refused, err
		default:
			return ledger.Uncertain, err
		}
	}
	return ledger.Refused, err
}

// checkUndo refuses to take back what is not a decision or an id of the sheet, and
// what other steps were built on.
func (s Settler) checkUndo(ctx context.Context, step ledger.Step) error {
	if !isDecision(step) && !step.IsOfSheet() {
		return problem.New("not-decided", "the step is %s, and no decision made it so: there is nothing to take back", step.To).
			Hinted("claimsheet history CLIENT-KEY shows what happened to it")
	}
	others, err := s.Ledger.StepsOfClient(ctx, step.ClientKey)
	if err != nil {
		return err
	}
	builtOn := func(format string, args ...any) error {
		return problem.New("built-on", "the decision cannot be taken back or corrected: "+format, args...).
			Hinted("what is wrong now must be corrected in the service")
	}
	if on, ok := ledger.BuiltOn(step, slices.Values(others)); ok {
		return builtOn("a %s that was sent since belongs to this %s and is %s", on.Kind, step.Kind, on.To)
	}
	if step.Kind != ledger.KindClient || step.To != ledger.Done {
		return nil
	}
	who := mapping.Identity{Space: step.Space, Key: step.Client}
	for claim, err := range s.Ledger.ClaimsWith(ctx, step.Environment, mapping.Fingerprint(who)) {
		switch {
		case err != nil:
			return err
		case claim.ClientKey == step.ClientKey, claim.IsOfSheet(): // the latter was not sent
		case len(claim.Data) > 0:
			return builtOn("a claim of another client has this one as a contact, and is %s", claim.To)
		case claim.Ref.Sent > step.Ref.Last:
			return builtOn("of a claim that was sent since, the ledger does not keep the contacts, so it may have this one")
		}
	}
	return nil
}
