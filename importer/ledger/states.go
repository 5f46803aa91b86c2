package ledger

import (
	"fmt"
	"slices"
)

// planned is the state of a step that the ledger does not have; it is never
// stored.
const planned State = "planned"

// own is the Via of an event that a run concludes on its own.
const own = ""

// rule allows steps to go from one state to another.
type rule struct {
	from, to State
	via      []string // the event must have one of these
	kind     string   // only steps of this kind; "" for every kind
}

// rules is the whole state machine: every other transition is rejected. It
// guarantees that no request is sent without an intent; that no outcome is recorded
// without a request, unless a look-up, a workbook or a person reports it; and that
// a run never decides on its own to send again what may exist.
var rules = []rule{
	{from: planned, to: Intent, via: []string{own}},
	{from: planned, to: Done, via: []string{ViaAdopted, ViaWorkbook}},
	// Failed before anything was sent, for example because the client exists and
	// the mapping treats that as a failure.
	{from: planned, to: Failed, via: []string{own}},
	// A new ledger adopts the undecided steps of a results workbook, so that they
	// are not sent again.
	{from: planned, to: Uncertain, via: []string{ViaWorkbook}},
	{from: planned, to: Parked, via: []string{ViaWorkbook}},
	{from: planned, to: GivenUp, via: []string{ViaWorkbook}},
	// An old copy of a ledger adopts what has happened to its steps since.
	{from: Failed, to: Done, via: []string{ViaWorkbook}},
	{from: Failed, to: Uncertain, via: []string{ViaWorkbook}},
	{from: Failed, to: Parked, via: []string{ViaWorkbook}},
	{from: Failed, to: GivenUp, via: []string{ViaWorkbook}},
	{from: NotSent, to: Done, via: []string{ViaWorkbook}},
	{from: NotSent, to: Uncertain, via: []string{ViaWorkbook}},
	{from: NotSent, to: Parked, via: []string{ViaWorkbook}},
	{from: NotSent, to: GivenUp, via: []string{ViaWorkbook}},
	{from: Intent, to: Done, via: []string{ViaWorkbook}},
	{from: Uncertain, to: Done, via: []string{ViaWorkbook}},
	{from: Parked, to: Done, via: []string{ViaWorkbook}},

	{from: Intent, to: Done, via: []string{ViaAnswer, ViaAdopted}},
	{from: Intent, to: Failed, via: []string{own, ViaAnswer}},
	{from: Intent, to: NotSent, via: []string{own}},
	{from: Intent, to: Uncertain, via: []string{own, ViaAnswer}},
	{from: Intent, to: Parked, via: []string{own}},

	{from: Failed, to: Intent, via: []string{own}},
	{from: Failed, to: Done, via: []string{ViaAdopted, ViaByHand}},
	{from: Failed, to: Failed, via: []string{own}}, // again before anything was sent
	{from: NotSent, to: Intent, via: []string{own}},
	{from: NotSent, to: Done, via: []string{ViaAdopted, ViaByHand}},
	{from: NotSent, to: Failed, via: []string{own}},

	// Parked means that a look-up did not find it; a later run may trust that.
	{from: Parked, to: Intent, via: []string{own, ViaRepeatable}},
	// An answer that lacked the id may be parsed again, like that of an uncertain
	// step.
	{from: Parked, to: Done, via: []string{ViaAnswer, ViaAdopted, ViaByHand}},
	{from: Parked, to: Uncertain, via: []string{own}},
	{from: Parked, to: Failed, via: []string{ViaByHand}},
	{from: Parked, to: GivenUp, via: []string{ViaByHand}},

	// An answer is parsed again after a wire pointer was corrected.
	{from: Uncertain, to: Done, via: []string{ViaAnswer, ViaAdopted, ViaByHand}},
	{from: Uncertain, to: Failed, via: []string{ViaByHand}}, // "not created"
	{from: Uncertain, to: GivenUp, via: []string{ViaByHand}},
	{from: Uncertain, to: Intent, via: []string{ViaRepeatable}},
	// Only clients can be looked up. This lets the client step of a killed run be
	// tried again without a decision.
	{from: Uncertain, to: Parked, via: []string{own}, kind: KindClient},

	// A corrected id or url, or a fresh link: the step stays done whatever happens
	// to the request for one. The id of a sheet is corrected via adopted; the caller
	// checks that nothing was built on the one before.
	{from: Done, to: Done, via: []string{ViaAnswer, ViaByHand, ViaAdopted}},

	// An outcome that a run could only write to its journal replaces what the next run
	// concluded without it.
	{from: Intent, to: Done, via: []string{ViaJournal}},
	{from: Intent, to: Failed, via: []string{ViaJournal}},
	{from: Intent, to: NotSent, via: []string{ViaJournal}},
	{from: Intent, to: Uncertain, via: []string{ViaJournal}},
	{from: Intent, to: Parked, via: []string{ViaJournal}},
	{from: Uncertain, to: Done, via: []string{ViaJournal}},
	{from: Uncertain, to: Failed, via: []string{ViaJournal}},
	{from: Uncertain, to: NotSent, via: []string{ViaJournal}},
	{from: Uncertain, to: Uncertain, via: []string{ViaJournal}}, // with the answer that it lacked, or in conflict
	{from: Parked, to: Uncertain, via: []string{ViaJournal}},
	{from: Parked, to: Done, via: []string{ViaJournal}},
	{from: Parked, to: Failed, via: []string{ViaJournal}},
	{from: Parked, to: NotSent, via: []string{ViaJournal}},
	// An answer says that the service created a step that was decided meanwhile, or that another
	// process has done: a person decides.
	{from: Done, to: Uncertain, via: []string{ViaJournal}},
	{from: Failed, to: Uncertain, via: []string{ViaJournal}},
	{from: NotSent, to: Uncertain, via: []string{ViaJournal}},
	{from: GivenUp, to: Uncertain, via: []string{ViaJournal}},

	// A decision is undone. The caller checks that it was one, and that nothing
	// depends on it yet.
	{from: Done, to: Uncertain, via: []string{ViaByHand}},
	{from: Failed, to: Uncertain, via: []string{ViaByHand}},
	{from: GivenUp, to: Uncertain, via: []string{ViaByHand}},
	// An id of the sheet is withdrawn. The caller checks that it was one, that nothing
	// was sent before that may have created the step, and that nothing was built on it.
	{from: Done, to: Failed, via: []string{ViaByHand}},

	{from: GivenUp, to: Done, via: []string{ViaByHand}},
	{from: GivenUp, to: Failed, via: []string{ViaByHand}}, // reopened
}

// allows returns ErrTransition unless a rule allows an event for a step of a kind in
// a state. The error names no keys: they are personal data.
func allows(from State, kind string, e Event) error {
	if e.Kind != "" && e.Kind != kind {
		return fmt.Errorf("%w: a %s step was given an event of kind %q", ErrTransition, kind, e.Kind)
	}
	if !slices.ContainsFunc(rules, func(r rule) bool {
		return r.from == from && r.to == e.To && slices.Contains(r.via, e.Via) && (r.kind == "" || r.kind == kind)
	}) {
		return fmt.Errorf("%w: a %s step cannot go from %q to %q via %q", ErrTransition, kind, from, e.To, e.Via)
	}
	return nil
}

// Kinds, states and ways are stored as their places in these lists. A place is never
// given to another word.
var (
	kinds  = []string{1: KindClient, 2: KindClaim, 3: KindActivity, 4: KindLink, 5: KindContact}
	states = []State{1: Intent, 2: Done, 3: Failed, 4: NotSent, 5: Uncertain, 6: Parked, 7: GivenUp}
	vias   = []string{0: own, 1: ViaAnswer, 2: ViaAdopted, 3: ViaByHand, 4: ViaWorkbook, 5: ViaRepeatable, 6: ViaJournal}
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
