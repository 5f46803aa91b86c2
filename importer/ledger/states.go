package ledger

import (
	"fmt"
	"slices"
)

// planned is the state of a step that the ledger does not have; it is never
// stored.
const planned State = "planned"

// viaRun is the Via of an event that a run concludes on its own.
const viaRun = ""

// rule says to which state a step may go from some others, and by which ways.
type rule struct {
	from []State
	to   State
	via  []string
}

func from(states ...State) []State { return states }
func via(ways ...string) []string  { return ways }

// rules is the whole state machine: every other transition is rejected. It guarantees that no
// request is sent that the ledger does not have; that no outcome is recorded without a request,
// unless a look-up, a sheet or a person reports it; and that a run never decides on its own to
// send again what may exist.
var rules = []rule{
	{from(planned, Refused), Sent, via(viaRun)},
	{from(Uncertain), Sent, via(viaRun, ViaRepeatable)}, // viaRun only after a look-up that has not found it; see allows

	{from(planned), Done, via(ViaAdopted, ViaSheet, ViaWorkbook)},
	{from(Sent), Done, via(ViaAnswer, ViaAdopted, ViaJournal)},
	{from(Refused), Done, via(ViaAdopted, ViaSheet, ViaByHand, ViaWorkbook)},
	{from(Uncertain), Done, via(ViaAnswer, ViaAdopted, ViaSheet, ViaByHand, ViaWorkbook, ViaJournal)},
	{from(Done), Done, via(ViaAnswer, ViaAdopted, ViaByHand)}, // a corrected id or url, or a fresh link
	{from(Closed), Done, via(ViaByHand)},

	{from(planned, Refused), Refused, via(viaRun)}, // before anything is sent: the client exists, and must not
	{from(Sent), Refused, via(viaRun, ViaAnswer, ViaJournal)},
	{from(Uncertain), Refused, via(ViaByHand, ViaJournal)},
	{from(Done, Closed), Refused, via(ViaByHand)}, // an id of the sheet is withdrawn; a step is opened again

	{from(Sent), Uncertain, via(viaRun, ViaAnswer, ViaJournal, ViaConflict)},
	{from(Uncertain), Uncertain, via(viaRun, ViaJournal, ViaConflict)}, // a look-up has not found it; an answer that it lacked
	{from(planned), Uncertain, via(ViaWorkbook)},
	{from(Refused), Uncertain, via(ViaByHand, ViaWorkbook, ViaConflict)}, // a decision is undone; the service has created it all the same
	{from(Done, Closed), Uncertain, via(ViaByHand, ViaJournal, ViaConflict)},

	{from(Uncertain), Closed, via(ViaByHand)},
	{from(planned, Refused), Closed, via(ViaWorkbook)},
}

// allows returns an error that wraps ErrTransition unless a rule allows an event. was is the step's
// row, the zero row if the ledger does not have the step.
// The error names no keys: they are personal data.
func allows(was row, e Event) error {
	state, kind := was.State, was.Kind
	if was.Version == 0 {
		state, kind = planned, e.Kind
	}
	if state == Sent && was.Run != e.Run { // as row.step has it
		state = Uncertain
	}
	if e.Kind != "" && e.Kind != kind {
		return fmt.Errorf("%w: a %s step was given an event of kind %q", ErrTransition, kind, e.Kind)
	}
	allowed := slices.ContainsFunc(rules, func(r rule) bool {
		return slices.Contains(r.from, state) && r.to == e.State && slices.Contains(r.via, e.Via)
	})
	switch {
	case state == Uncertain && e.State == Sent && e.Via == viaRun:
		allowed = was.NotFound
	case e.NotFound:
		allowed = allowed && kind == KindClient && e.State == Uncertain
	case state == Uncertain && e.State == Uncertain && e.Via == viaRun:
		allowed = was.NotFound // another look-up is not clear
	}
	if !allowed {
		return fmt.Errorf("%w: a %s step cannot go from %q to %q via %q", ErrTransition, kind, state, e.State, e.Via)
	}
	return nil
}

// Kinds, states and ways are stored as their places in these lists. A place is never
// given to another word.
var (
	kinds  = []string{1: KindClient, 2: KindClaim, 3: KindActivity, 4: KindLink, 5: KindContact}
	states = []State{1: Sent, 2: Done, 3: Refused, 4: Uncertain, 5: Closed}
	vias   = []string{0: viaRun, 1: ViaAnswer, 2: ViaAdopted, 3: ViaByHand, 4: ViaWorkbook, 5: ViaRepeatable, 6: ViaJournal,
		7: ViaSheet, 8: ViaConflict}
)

// The conditions of statements on the steps s, with the numbers of these lists.
const (
	isDone      = `s.state = 2`
	notRefused  = `s.state <> 3`
	isUncertain = `(s.state = 1 OR s.state = 4)` // that of the index steps_undecided in schema.sql
	notSent     = `(s.state = 3 AND s.status = 0)`
	isDecided   = `(s.via = 3 AND s.state IN (2, 3, 5) OR s.via = 7)` // by a person, or by the sheet's known_id
)

// code is the place of a word in its list; the word must be in it.
func code[T comparable](list []T, word T) int64 { return int64(slices.Index(list, word)) }

// word is the word at a place, the zero word where there is none.
func word[T comparable](list []T, code int64) (word T) {
	if code < 0 || code >= int64(len(list)) {
		return word
	}
	return list[code]
}
