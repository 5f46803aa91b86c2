package importer

import (
	"context"
	"fmt"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// Relinker asks for fresh magic links, one client at a time (version 2;
// service document, "Endpoints", POST …/magic-link). The ledger's lock is held.
type Relinker struct {
	Ledger  *ledger.Ledger
	Service *apiclient.Client
	Run     string // names the events; a UUID that no run has
}

// Relink asks for a fresh link for the client with that id. That it is asked for
// is durable before the request leaves, and so is the outcome before Relink
// returns. It sends the request once and does not wait for a better moment: a
// person is there to ask again. step must be done, failed, not sent or not
// known. One that is done stays so, with the url that it has, until there is
// another.
//
// The error is ErrStopped when no other request will fare better; any other is
// the ledger's, and the outcome is then not recorded.
func (r Relinker) Relink(ctx context.Context, step ledger.Step, clientID string) (StepOutcome, error) {
	again := step.To == ledger.Done
	intent := ledger.Event{StepID: step.StepID, To: ledger.Intent, At: time.Now().UTC(), Run: r.Run, Kind: ledger.KindLink}
	if again {
		intent.To, intent.Via, intent.Reason = ledger.Done, ledger.ViaOperator, "a fresh link is asked for"
	}
	if err := r.Ledger.Append(intent); err != nil {
		return StepOutcome{}, err
	}
	v := r.Service.Create(ctx, r.Service.Routes().CreateLink(clientID, r.Service.LinkBody()))
	v, err := r.ownURL(step.StepID, v)
	if err != nil {
		return StepOutcome{}, err
	}
	to, o := linkOutcome(v)
	outcome := ledger.Event{StepID: step.StepID, To: to, At: time.Now().UTC(), Run: r.Run,
		Status: v.Status, Reason: v.Reason, Answer: v.Answer, ID: v.ID, URL: v.URL}
	if to == ledger.Done {
		outcome.Via = ledger.ViaAnswer
	} else if again {
		outcome = stillDone(outcome)
	}
	if err := r.Ledger.Append(outcome); err != nil {
		return StepOutcome{}, err
	}
	if v.Stop {
		return o, fmt.Errorf("%w: %s", ErrStopped, v.Reason)
	}
	return o, nil
}

// ownURL makes an answer uncertain that holds another client's url. That it is one
// that this client has already is as good as a fresh one.
func (r Relinker) ownURL(id ledger.StepID, v apiclient.Verdict) (apiclient.Verdict, error) {
	if v.Effect != apiclient.Created {
		return v, nil
	}
	// What was done is read whether or not the command is being stopped.
	t, taken, err := r.Ledger.StepWithID(context.Background(), ledger.Event{StepID: id, Kind: ledger.KindLink, ID: v.ID, URL: v.URL})
	if taken {
		v.Effect, v.Hint = apiclient.Uncertain, hintTaken
		v.Reason, _ = takenAnswer(ledger.KindLink, v.ID, t)
		v.ID, v.URL = "", ""
	}
	return v, err
}

// stillDone is the outcome of a request for a link, beside one that is done, that
// brought none. A whole answer is kept, to be read again.
func stillDone(e ledger.Event) ledger.Event {
	what := "no fresh link was made: "
	if e.To == ledger.Uncertain {
		what = "a fresh link may or may not have been made: "
	}
	e.To, e.Via, e.Reason = ledger.Done, ledger.ViaOperator, what+e.Reason
	if e.Status/100 == 2 {
		e.Via = ledger.ViaAnswer
	} else {
		e.Status, e.Answer = 0, nil // the step's own was another
	}
	return e
}

// linkOutcome is a verdict as the ledger's state and as an outcome. Its Error
// is without the service's own words: they may hold personal data, and nobody
// but a terminal is told.
func linkOutcome(v apiclient.Verdict) (ledger.State, StepOutcome) {
	o := StepOutcome{URL: v.URL, Error: v.Reason, Advice: v.Hint, answered: v.Status != 0, http: v.Status}
	switch v.Effect {
	case apiclient.Created:
		o.Status, o.Error = result.Done, ""
		return ledger.Done, o
	case apiclient.NotSent:
		o.Status = result.Failed
		return ledger.NotSent, o
	case apiclient.Refused:
		o.Status = result.Failed
		if v.Retry != apiclient.Never {
			return ledger.NotSent, o
		}
		return ledger.Failed, o
	}
	o.Status = result.Uncertain
	return ledger.Uncertain, o
}
