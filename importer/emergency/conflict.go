package emergency

import (
	"bytes"
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// Conflict is an outcome that an emergency file has and the ledger cannot take. It says that
// the service created something of which the ledger has no record, or may have; but since
// then the step was decided, or sent again. So the service may have two of it. The outcome
// stays in its file, and every command that reads the file says so, until the ledger has the
// id or somebody moves the file away.
type Conflict struct {
	Outcome ledger.Event
	Known   ledger.State // the step's state in the ledger
	ID      string       // the id that the ledger has for the step, "" for none
	File    string       // the path of the emergency file
}

// Problem says what the two records say, without the client's key, and what to do. Its code is
// emergency-other.
func (c Conflict) Problem() problem.Problem {
	at, what := problem.Where{File: c.File}, "a "+c.Outcome.Kind
	if c.Outcome.Kind == ledger.KindActivity {
		what = "an " + c.Outcome.Kind
	}
	const decide = "find it in the service; claimsheet history CLIENT-KEY shows it beside what the ledger has; "
	const away = "; then move this file away"
	switch {
	case c.Outcome.To != ledger.Done:
		return problem.At(at, "emergency-other", "an answer to a request for %s is in this emergency file only, and the step was sent again since: both may have created one", what).
			Hinted(decide + "withdraw one in the service if there are two" + away)
	case c.Known == ledger.Done:
		return problem.At(at, "emergency-other", "the service has created %s twice: the ledger has %s, and this emergency file of an earlier run has %s", what, idInWords(c.ID), idInWords(c.Outcome.ID)).
			Hinted(decide + "withdraw one of the two in the service, as a rule the one that the ledger does not have" + away)
	case c.Known == ledger.Uncertain || c.Known == ledger.Parked:
		return problem.At(at, "emergency-other", "the service has created %s with %s, as this emergency file of an earlier run says, and the step was sent again since: there may be two", what, idInWords(c.Outcome.ID)).
			Hinted(decide + "withdraw one in the service if there are two, and settle the step with the id of the other: claimsheet settle" + away)
	}
	return problem.At(at, "emergency-other", "the service has created %s with %s, as this emergency file of an earlier run says, and the step is %q in the ledger", what, idInWords(c.Outcome.ID), c.Known).
		Hinted(decide + "withdraw it there; or, if the step was decided by hand, take that back with claimsheet settle --undo and settle it with that id" + away)
}

// idInWords names an id.
func idInWords(id string) string {
	if id == "" {
		return "no id"
	}
	return "the id “" + id + "”"
}

// conflictOf is the conflict of an outcome with the events of its step.
func conflictOf(file string, outcome ledger.Event, events []ledger.Event) Conflict {
	c := Conflict{Outcome: outcome, Known: events[len(events)-1].To, File: file}
	for _, e := range events {
		switch {
		case e.To == ledger.Intent || e.To == ledger.Uncertain && e.Via == ledger.ViaByHand:
			c.ID = ""
		case e.ID != "":
			c.ID = e.ID
		}
	}
	return c
}

// undecided are the states after which an outcome may still come, in the order
// in which they follow each other.
var undecided = []ledger.State{ledger.Intent, ledger.Uncertain, ledger.Parked}

// isNewer reports whether an outcome says more than the ledger knows of a step, which has
// these events. The outcome must be of the last attempt: once the step was sent again, the
// outcome of an earlier attempt settles nothing.
func isNewer(events []ledger.Event, outcome ledger.Event) bool {
	attempt := lastAttempt(events)
	if attempt == nil || attempt[0].Run != outcome.Run {
		return false
	}
	known := slices.Index(undecided, attempt[len(attempt)-1].To)
	now := slices.Index(undecided, outcome.To)
	switch {
	case known < 0:
		return false
	case bringsAnswer(outcome) && known > 0:
		return !slices.ContainsFunc(attempt, func(e ledger.Event) bool { return len(e.Answer) > 0 })
	}
	return now < 0 || now > known
}

// conflicts reports whether an outcome says something that the step's events do not say: that
// something was created, or, with an answer, that it may have been. It is asked about
// outcomes that are not newer (isNewer), and so cannot be entered. A second link does no
// harm and is no conflict.
func conflicts(events []ledger.Event, outcome ledger.Event) bool {
	attempt := lastAttempt(events)
	if attempt == nil || outcome.Kind == ledger.KindLink {
		return false
	}
	again := attempt[0].Run != outcome.Run
	last := attempt[len(attempt)-1]
	switch {
	case outcome.To == ledger.Done && outcome.ID != "":
		return !slices.ContainsFunc(events, func(e ledger.Event) bool { return e.ID == outcome.ID })
	case outcome.To == ledger.Done:
		return (again || last.To != ledger.Done) && !slices.ContainsFunc(events, func(e ledger.Event) bool { return e.To == ledger.Done && e.Run == outcome.Run })
	case bringsAnswer(outcome):
		return again && !slices.ContainsFunc(events, func(e ledger.Event) bool { return bytes.Equal(e.Answer, outcome.Answer) })
	}
	return false
}

// bringsAnswer reports whether an outcome is uncertain and has an answer of the service's.
// Somebody may understand that answer later.
func bringsAnswer(outcome ledger.Event) bool {
	return outcome.To == ledger.Uncertain && len(outcome.Answer) > 0
}

// lastAttempt are the events of a step from the last intent on; nil where there is none.
func lastAttempt(events []ledger.Event) []ledger.Event {
	for i, e := range slices.Backward(events) {
		if e.To == ledger.Intent {
			return events[i:]
		}
	}
	return nil
}
