package ledger

import (
	"fmt"
	"slices"
)

// planned is the state of a step that the ledger does not know; it is never
// stored.
const planned State = "planned"

// own is the Via of a run's own conclusion.
const own = ""

// rule allows steps to go from one state to another.
type rule struct {
	from, to State
	via      []string // whose word it takes: any one of these
	kind     string   // only steps of this kind; "" for every kind
}

// rules is the whole state machine: what is not here is refused. The order of
// things that it protects: no request without an intent; no outcome without a
// request, unless somebody else vouches for it; nothing that may exist is sent
// again on a run's own word.
var rules = []rule{
	{from: planned, to: Intent, via: []string{own}},
	{from: planned, to: Done, via: []string{ViaAdopted, ViaWorkbook}},
	// Refused before anything was sent, for example because the service knows
	// the client already and the mapping says that this is a failure.
	{from: planned, to: Failed, via: []string{own}},
	// A new ledger takes over what a results workbook says is undecided, so
	// that it is not sent again.
	{from: planned, to: Uncertain, via: []string{ViaWorkbook}},
	{from: planned, to: Parked, via: []string{ViaWorkbook}},
	{from: planned, to: GivenUp, via: []string{ViaWorkbook}},
	// So does an old copy of a ledger, of what became since of its steps.
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

	// Parked means that a look-up said absent; a later run may believe it.
	{from: Parked, to: Intent, via: []string{own, ViaRepeatable}},
	// An answer that lacked the id may be read again, as that of an uncertain step.
	{from: Parked, to: Done, via: []string{ViaAnswer, ViaAdopted, ViaOperator}},
	{from: Parked, to: Uncertain, via: []string{own}},
	{from: Parked, to: Failed, via: []string{ViaOperator}},
	{from: Parked, to: GivenUp, via: []string{ViaOperator}},

	// An answer is read again after a wire pointer was corrected.
	{from: Uncertain, to: Done, via: []string{ViaAnswer, ViaAdopted, ViaOperator}},
	{from: Uncertain, to: Failed, via: []string{ViaOperator}}, // "not created"
	{from: Uncertain, to: GivenUp, via: []string{ViaOperator}},
	{from: Uncertain, to: Intent, via: []string{ViaRepeatable}},
	// Only clients can be looked up. This is how the client step of a killed
	// run comes to be tried again without an operator.
	{from: Uncertain, to: Parked, via: []string{own, ViaEmergency}, kind: KindClient},

	// A corrected id or url. A link that has expired is asked for afresh, by
	// command; it stays done whatever becomes of that.
	{from: Done, to: Done, via: []string{ViaAnswer, ViaOperator}},

	// What a run could only note beside the ledger is truer than what the next
	// one made of its silence.
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

	// A decision that is taken back. The caller sees to it that it was one, and
	// that nothing was built on it.
	{from: Done, to: Uncertain, via: []string{ViaOperator}},
	{from: Failed, to: Uncertain, via: []string{ViaOperator}},
	{from: GivenUp, to: Uncertain, via: []string{ViaOperator}},

	{from: GivenUp, to: Done, via: []string{ViaOperator}},
	{from: GivenUp, to: Failed, via: []string{ViaOperator}}, // opened again
}

// current is a step as the table of steps has it; the zero current is a step
// that is not there yet.
type current struct {
	id       int64
	kind     string
	state    State
	attempts int
	last     int64
	asked    int64 // 0 for none
	answered int64 // 0 for none
	created  string
	url      string
}

// next is c after event e, which is to get the number id. It fails with
// ErrTransition when no rule allows e. The error names no keys: they are
// personal data.
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
	if e.To == Intent { // a new attempt: an earlier one's answer is no answer to it
		c.attempts++
		c.answered, c.created, c.url = 0, "", ""
	}
	if e.To == Uncertain && e.Via == ViaOperator { // what was decided is no longer so
		c.created, c.url = "", ""
	}
	if len(e.Data) > 0 || e.Digest != "" {
		c.asked = id
	}
	if len(e.Answer) > 0 {
		c.answered = id
	}
	if e.ID != "" {
		c.created = e.ID
	}
	if e.URL != "" {
		c.url = e.URL
	}
	return c, nil
}
