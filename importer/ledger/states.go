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
	{from: Failed, to: Done, via: []string{ViaAdopted, ViaOperator}},
	{from: Failed, to: Failed, via: []string{own}}, // again before anything was sent
	{from: NotSent, to: Intent, via: []string{own}},
	{from: NotSent, to: Done, via: []string{ViaAdopted, ViaOperator}},
	{from: NotSent, to: Failed, via: []string{own}},

	// Parked means that a look-up did not find it; a later run may trust that.
	{from: Parked, to: Intent, via: []string{own, ViaRepeatable}},
	// An answer that lacked the id may be parsed again, like that of an uncertain
	// step.
	{from: Parked, to: Done, via: []string{ViaAnswer, ViaAdopted, ViaOperator}},
	{from: Parked, to: Uncertain, via: []string{own}},
	{from: Parked, to: Failed, via: []string{ViaOperator}},
	{from: Parked, to: GivenUp, via: []string{ViaOperator}},

	// An answer is parsed again after a wire pointer was corrected.
	{from: Uncertain, to: Done, via: []string{ViaAnswer, ViaAdopted, ViaOperator}},
	{from: Uncertain, to: Failed, via: []string{ViaOperator}}, // "not created"
	{from: Uncertain, to: GivenUp, via: []string{ViaOperator}},
	{from: Uncertain, to: Intent, via: []string{ViaRepeatable}},
	// Only clients can be looked up. This lets the client step of a killed run be
	// tried again without a decision.
	{from: Uncertain, to: Parked, via: []string{own, ViaEmergency}, kind: KindClient},

	// A corrected id or url, or a fresh link: the step stays done whatever happens
	// to the request for one.
	{from: Done, to: Done, via: []string{ViaAnswer, ViaOperator}},

	// An outcome that a run could only write to its emergency file replaces what the
	// next run concluded without it.
	{from: Intent, to: Done, via: []string{ViaEmergency}},
	{from: Intent, to: Failed, via: []string{ViaEmergency}},
	{from: Intent, to: NotSent, via: []string{ViaEmergency}},
	{from: Intent, to: Uncertain, via: []string{ViaEmergency}},
	{from: Intent, to: Parked, via: []string{ViaEmergency}},
	{from: Uncertain, to: Done, via: []string{ViaEmergency}},
	{from: Uncertain, to: Failed, via: []string{ViaEmergency}},
	{from: Uncertain, to: NotSent, via: []string{ViaEmergency}},
	{from: Parked, to: Done, via: []string{ViaEmergency}},
	{from: Parked, to: Failed, via: []string{ViaEmergency}},
	{from: Parked, to: NotSent, via: []string{ViaEmergency}},

	// A decision is undone. The caller checks that it was one, and that nothing
	// depends on it yet.
	{from: Done, to: Uncertain, via: []string{ViaOperator}},
	{from: Failed, to: Uncertain, via: []string{ViaOperator}},
	{from: GivenUp, to: Uncertain, via: []string{ViaOperator}},

	{from: GivenUp, to: Done, via: []string{ViaOperator}},
	{from: GivenUp, to: Failed, via: []string{ViaOperator}}, // reopened
}

// current is a row of the table of steps; the zero current is a step that is not
// there yet.
type current struct {
	id       int64
	kind     string
	state    State
	attempts int
	last     int64  // the number of the step's last event
	request  int64  // the event with the last request's data; 0 for none
	answer   int64  // the event with its answer; 0 for none
	remoteID string // the id of what was created
	url      string
}

// next is c after event e with the number id. It fails with ErrTransition when no
// rule allows e. The error names no keys: they are personal data.
func next(c current, e Event, id int64) (current, error) {
	from := c.state
	if c.id == 0 {
		from, c.kind = planned, e.Kind
	}
	if e.Kind != "" && e.Kind != c.kind {
		return c, fmt.Errorf("%w: a %s step was given an event of kind %q", ErrTransition, c.kind, e.Kind)
	}
	allowed := slices.ContainsFunc(rules, func(r rule) bool {
		return r.from == from && r.to == e.To && slices.Contains(r.via, e.Via) && (r.kind == "" || r.kind == c.kind)
	})
	if !allowed {
		return c, fmt.Errorf("%w: a %s step cannot go from %q to %q via %q", ErrTransition, c.kind, from, e.To, e.Via)
	}
	c.state, c.last = e.To, id
	if e.To == Intent { // a new attempt: the answer to an earlier one does not count
		c.attempts++
		c.answer, c.remoteID, c.url = 0, "", ""
	}
	if e.To == Uncertain && e.Via == ViaOperator { // the decision is undone
		c.remoteID, c.url = "", ""
	}
	if len(e.Data) > 0 || e.Digest != "" {
		c.request = id
	}
	if len(e.Answer) > 0 {
		c.answer = id
	}
	if e.ID != "" {
		c.remoteID = e.ID
	}
	if e.URL != "" {
		c.url = e.URL
	}
	return c, nil
}
