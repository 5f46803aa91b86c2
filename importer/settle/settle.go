// Package settle is where you decide about uncertain steps, which may or may not have been created. A run never sends one again without a
// decision.
//
// Uncertain lists the steps with what helps to find them in the service, and Settler records decisions about them.
//
// Every decision is an event in the ledger, durable when the call returns. A wrong id is the most dangerous mistake here, so an id that
// another step has is refused.
package settle

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"claimsheet/importer/ledger"
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
	// ActivityIDs reports whether a created activity needs its id: the environment has wire.activity_id.
	ActivityIDs bool
}

// The reasons of decisions, as history shows them.
const (
	decidedCreated    = "you decided that it was created"
	decidedNotCreated = "you decided that it was not created"
	decidedToGiveUp   = "you gave it up"
	undidDecision     = "you undid the decision"
	withdrewID        = "you withdrew the id that the sheet gave (known_id)"
)

// Settle records decisions about uncertain steps, durably: all of them or none. Undo takes a decision back, as long as nothing was built on
// it, or withdraws an id that the sheet gave (known_id): the step is then not created, or uncertain if it was ever sent. Settle refuses an
// id that another step has, and a client on whom another process works. What is wrong with the decisions is joined problems, sorted by
// place; any other error is the ledger's.
func (s Settler) Settle(ctx context.Context, settlements ...Settlement) error {
	var clients []string
	for _, one := range settlements {
		clients = append(clients, one.Step.LockName())
	}
	once, end := context.WithCancel(ctx)
	end() // Lock does not wait
	unlock, err := s.Ledger.Lock(once, clients...)
	if errors.Is(err, context.Canceled) {
		return problem.New("ledger-locked", "another process is at work on a client of these steps, and may find out what became of them").
			Of(problem.Locked).Hinted("Decide when it has finished.")
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
		return p
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
	case step.State != ledger.Uncertain:
		return event, problem.New("not-uncertain", "the step is %s: only what is uncertain can be decided", step.State).
			Hinted("claimsheet settle lists what is uncertain, and --undo takes a decision back")
	}
	if err := one.Decision.Check(step.Kind, s.ActivityIDs); err != nil {
		return event, err
	}
	switch one.Decision.Choice {
	case NotCreated:
		event.State, event.Reason = ledger.Refused, decidedNotCreated
	case GiveUp:
		event.State, event.Reason = ledger.Closed, decidedToGiveUp
	case Undo:
		event.State, event.Reason = ledger.Uncertain, undidDecision
		if step.Via == ledger.ViaSheet {
			event.Reason = withdrewID
		}
		if step.Via == ledger.ViaSheet && step.Attempts == 0 { // no request can have created it
			event.State = ledger.Refused
		}
	default:
		event.State, event.Reason = ledger.Done, decidedCreated
		if step.Kind == ledger.KindLink {
			event.URL = one.Decision.Value
		} else {
			event.ID = one.Decision.Value
		}
	}
	return event, s.checkHolder(ctx, event)
}

// checkHolder refuses an id that another step of any kind has, and a url that is another client's.
func (s Settler) checkHolder(ctx context.Context, event ledger.Event) error {
	t, taken, err := s.Ledger.StepWithID(ctx, event)
	if kind := t.Kind; taken && err == nil && !t.URL && kind != event.Kind {
		return problem.New("id-taken", "the id is that of a %s, and the step makes a %s", kind, event.Kind).
			Hinted("copy the id of the %s from the service", event.Kind)
	}
	if taken && err == nil {
		return takenProblem(t)
	}
	return err
}

// takenProblem is the problem that another step has the id or url.
func takenProblem(t ledger.Taken) problem.Problem {
	what := "id is that of another " + KindOf(t.Step.Step)
	if t.URL {
		what = "redirect url is that of another client"
	}
	return problem.New("id-taken", "the %s, which the ledger has as done", what).
		Hinted("look in the service which of the two it belongs to")
}

// isDecision reports whether the last event of a step was a decision. A fresh link has the way ViaByHand too, but is not a decision.
func isDecision(s ledger.Step) bool {
	return s.Via == ledger.ViaByHand && slices.Contains([]string{decidedCreated, decidedNotCreated, decidedToGiveUp}, s.Reason)
}

// checkUndo refuses to take back what is neither a decision nor an id of the sheet, and what other steps, which may exist, were built on.
func (s Settler) checkUndo(ctx context.Context, step ledger.Step) error {
	if !isDecision(step) && step.Via != ledger.ViaSheet {
		return problem.New("not-decided", "the step is %s, and no decision made it so: there is nothing to take back", step.State).
			Hinted("claimsheet history CLIENT-KEY shows what happened to it")
	}
	others, err := s.Ledger.StepsOfClient(ctx, step.ClientKey)
	for _, other := range others {
		onClient := step.Kind == ledger.KindClient && other.Kind != ledger.KindClient
		onClaim := step.Kind == ledger.KindClaim && other.Mapping == step.Mapping && ledger.ClaimOf(other.StepID.Step) == step.StepID.Step
		if (onClient || onClaim) && other.State != ledger.Refused {
			return problem.New("built-on", "the decision cannot be taken back or corrected: the %s that came since belongs to this %s and is %s",
				other.Kind, step.Kind, other.State).
				Hinted("take back first what the sheet gave (known_id) or you decided; the rest must be corrected in the service")
		}
	}
	return err
}

// UncertainStep is a step that may or may not have been created, with what helps to find it in the service.
type UncertainStep struct {
	ledger.Step
	// Number is that of the event that led to this state: it never means another step, or a later attempt at the same one.
	Number   int64
	ClientID string // of the step's client; "" while the client is uncertain itself
	ClaimID  string // of the activity's claim; "" for other steps
	Template string // the name of the activity's template; "" when the request is no longer kept
	Status   string // the status that an activity was sent with
	Entry    string // of the mapping's contacts, where the person was sent as a further contact; else ""
}

// Uncertain are the steps of environments that are uncertain, those that have waited longest first.
func Uncertain(ctx context.Context, l *ledger.Ledger, environments []string) ([]UncertainStep, error) {
	var steps []UncertainStep
	for _, environment := range environments {
		uncertain, err := l.UncertainSteps(ctx, environment)
		if err != nil {
			return nil, err
		}
		for _, known := range uncertain {
			step := UncertainStep{Step: known, Number: known.Version}
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

// Decided are the steps that Undo takes back: those whose last event is a decision, the latest first, and clients and claims that are done
// with an id that a sheet gave (known_id). They have no numbers.
func Decided(ctx context.Context, l *ledger.Ledger, environments []string) (decided []UncertainStep, err error) {
	for _, environment := range environments {
		steps, err := l.Decided(ctx, environment)
		if err != nil {
			return nil, err
		}
		for _, step := range steps {
			if isDecision(step) || step.Via == ledger.ViaSheet {
				decided = append(decided, UncertainStep{Step: step})
			}
		}
	}
	return decided, nil
}

// Choice is what you found out about an uncertain step.
type Choice string

// The choices.
const (
	WasCreated Choice = "created"     // it exists: the next run continues after it
	NotCreated Choice = "not created" // it does not exist: the next run sends it again
	GiveUp     Choice = "give up"     // leave it: the steps that depend on it are never sent
	Undo       Choice = "undo"        // take the decision back: the step is uncertain again
)

// Decision is a choice about an uncertain step.
type Decision struct {
	Choice Choice
	// Value belongs to WasCreated: the id that the service gave, or the redirect url of a link. "" when the step needs none.
	Value string
}

// ParseDecision reads a cell of the column Settle: “created”, “created ID”, “created URL”, “not created” or “give up”, ignoring case and
// runs of white space. The error is a problem.Problem without a place; it does not repeat the text, which may be a redirect url.
func ParseDecision(text string) (Decision, error) {
	words := strings.Fields(text)
	switch phrase := strings.ToLower(strings.Join(words, " ")); {
	case phrase == string(NotCreated):
		return Decision{Choice: NotCreated}, nil
	case phrase == string(GiveUp):
		return Decision{Choice: GiveUp}, nil
	case len(words) == 1 && phrase == string(WasCreated):
		return Decision{Choice: WasCreated}, nil
	case len(words) == 2 && strings.EqualFold(words[0], string(WasCreated)):
		return Decision{Choice: WasCreated, Value: words[1]}, nil
	}
	return Decision{}, problem.New("unknown-decision", "this is not a decision about an uncertain step").
		Hinted("write “created”, “created” with the id or redirect url behind it, “not created” or “give up”")
}

// Check returns what is wrong with a decision about a kind of step, a problem.Problem without a place. activityIDs is Settler.ActivityIDs.
func (d Decision) Check(kind string, activityIDs bool) error {
	switch {
	case d.Choice != WasCreated && d.Value != "":
		return problem.New("unknown-decision", "an id or url goes with “created” only")
	case d.Choice != WasCreated:
		return nil
	case kind == ledger.KindLink && isURL(d.Value):
		return nil
	case kind == ledger.KindLink:
		return problem.New("no-url", "a created link needs its redirect url, which begins with https:// or http://").
			Hinted("a url that was lost is of no use: decide “not created”, and the next run asks for a fresh one")
	case d.Value == "" && kind == ledger.KindActivity && !activityIDs:
		return nil
	case d.Value == "":
		return problem.New("no-id", "a created %s needs the id that the service gave it", kind).Hinted("look it up in the service")
	case isURL(d.Value):
		return problem.New("not-an-id", "this is a url, and a created %s needs its id", kind).Hinted("look the id up in the service")
	case d.Value == ".", d.Value == "..", !utf8.ValidString(d.Value), strings.ContainsFunc(d.Value, isNotOfIDs):
		return problem.New("not-an-id", "the id is a dot segment, or holds white space, a control character, or one of / \\ ? #").
			Hinted("copy the id as the service shows it")
	}
	return nil
}

// isNotOfIDs reports whether a character cannot be in a segment of a request's path.
func isNotOfIDs(r rune) bool {
	return strings.ContainsRune(`/\?#`, r) || unicode.IsControl(r) || unicode.IsSpace(r)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && !strings.ContainsFunc(s, unicode.IsSpace)
}

// KindOf returns the kind of the step with a key: client, also for a further contact, claim, activity or link; "" for another text.
func KindOf(key string) string {
	kind, _, isNamed := strings.Cut(key, "/")
	switch {
	case isNamed && kind == "contact": // the step client of another person
		return ledger.KindClient
	case key == ledger.KindClient, key == ledger.KindLink,
		isNamed && slices.Contains([]string{ledger.KindLink, ledger.KindClaim, ledger.KindActivity}, kind):
		return kind
	}
	return ""
}
