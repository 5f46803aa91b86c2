package emergency

import (
	"bytes"
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// Left is an outcome of an emergency file that tells of something which the ledger does
// not know and that cannot be entered, because the step was decided or sent again since:
// the service may have created it a second time. Somebody has to decide; until the file
// is moved away, or the ledger has the id, it is left.
type Left struct {
	Outcome ledger.Event
	Known   ledger.State // of the step
	ID      string       // that the ledger has for it, "" for none
	File    string
}

// Problem says what is left, without the client's key, and what to do.
func (l Left) Problem() problem.Problem {
	at, what := problem.Where{File: l.File}, "a "+l.Outcome.Kind
	if l.Outcome.Kind == ledger.KindActivity {
		what = "an " + l.Outcome.Kind
	}
	const decide = "find it in the service; claimsheet history CLIENT-KEY shows it beside what the ledger has; "
	const away = "; then move this file away"
	switch {
	case l.Outcome.To != ledger.Done:
		return problem.At(at, "emergency-other", "an answer to a request for %s is in this emergency file only, and the step was sent again since: both may have created one", what).
			Hinted(decide + "withdraw one in the service if there are two" + away)
	case l.Known == ledger.Done:
		return problem.At(at, "emergency-other", "the service has created %s twice: the ledger has %s, and this emergency file of an earlier run has %s", what, idInWords(l.ID), idInWords(l.Outcome.ID)).
			Hinted(decide + "withdraw one of the two in the service, as a rule the one that the ledger does not have" + away)
	case l.Known == ledger.Uncertain || l.Known == ledger.Parked:
		return problem.At(at, "emergency-other", "the service has created %s with %s, as this emergency file of an earlier run says, and the step was sent again since: there may be two", what, idInWords(l.Outcome.ID)).
			Hinted(decide + "withdraw one in the service if there are two, and settle the step with the id of the other: claimsheet settle" + away)
	}
	return problem.At(at, "emergency-other", "the service has created %s with %s, as this emergency file of an earlier run says, and the step is %q in the ledger", what, idInWords(l.Outcome.ID), l.Known).
		Hinted(decide + "withdraw it there; or, if the step was decided by hand, take that back with claimsheet settle --undo and settle it with that id" + away)
}

// idInWords names an id.
func idInWords(id string) string {
	if id == "" {
		return "no id"
	}
	return "the id “" + id + "”"
}

func leftOf(file string, outcome ledger.Event, events []ledger.Event) Left {
	left := Left{Outcome: outcome, Known: events[len(events)-1].To, File: file}
	for _, e := range events {
		switch {
		case e.To == ledger.Intent || e.To == ledger.Uncertain && e.Via == ledger.ViaByHand:
			left.ID = ""
		case e.ID != "":
			left.ID = e.ID
		}
	}
	return left
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

// isUnheard reports whether an outcome that is not newer tells of something which the
// events of its step do not have: something that was created, or an answer that may say
// so. Another link does no harm.
func isUnheard(events []ledger.Event, outcome ledger.Event) bool {
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

// bringsAnswer reports whether an outcome is uncertain although there was an answer, which
// may be understood later.
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
