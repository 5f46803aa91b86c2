package importer

import (
	"context"
	"fmt"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
)

// Relinker asks for fresh magic links, one client at a time (version 2;
// service document, "Endpoints", POST …/magic-link). The ledger's lock is held.
type Relinker struct {
	Ledger  *ledger.Ledger
	Service *apiclient.Client
	Run     string // names the events; a UUID that no run has
}

// Relink asks for a fresh link for the client with that id. The intent is
// durable before the request leaves, and so is the outcome before Relink
// returns. It sends the request once and does not wait for a better moment: a
// person is there to ask again. step must be done, failed, not sent or not
// known.
//
// The error is ErrStopped when no other request will fare better; any other is
// the ledger's, and the outcome is then not recorded.
func (r Relinker) Relink(ctx context.Context, step ledger.Step, clientID string) (StepOutcome, error) {
	intent := ledger.Event{StepID: step.StepID, To: ledger.Intent, At: time.Now().UTC(), Run: r.Run, Kind: ledger.KindLink}
	if step.To == ledger.Done {
		intent.Via = ledger.ViaOperator
	}
	if err := r.Ledger.Append(intent); err != nil {
		return StepOutcome{}, err
	}
	v := r.Service.Create(ctx, r.Service.Routes().CreateLink(clientID, r.Service.LinkBody()))
	to, o := linkOutcome(v)
	outcome := ledger.Event{StepID: step.StepID, To: to, At: time.Now().UTC(), Run: r.Run,
		Status: v.Status, Reason: v.Reason, Answer: v.Answer, ID: v.ID, URL: v.URL}
	if to == ledger.Done {
		outcome.Via = ledger.ViaAnswer
	}
	if err := r.Ledger.Append(outcome); err != nil {
		return StepOutcome{}, err
	}
	if v.Stop {
		return o, fmt.Errorf("%w: %s", ErrStopped, v.Reason)
	}
	return o, nil
}

// linkOutcome is a verdict as the ledger's state and as an outcome. Its Error
// is without the service's own words: they may hold personal data, and nobody
// but a terminal is told.
func linkOutcome(v apiclient.Verdict) (ledger.State, StepOutcome) {
	o := StepOutcome{URL: v.URL, Error: v.Reason, Advice: v.Hint, answered: v.Status != 0, http: v.Status}
	switch v.Effect {
	case apiclient.Created:
		o.Status, o.Error = DoneRow, ""
		return ledger.Done, o
	case apiclient.NotSent:
		o.Status = FailedRow
		return ledger.NotSent, o
	case apiclient.Refused:
		o.Status = FailedRow
		if v.Retry {
			return ledger.NotSent, o
		}
		return ledger.Failed, o
	}
	o.Status = Uncertain
	return ledger.Uncertain, o
}
