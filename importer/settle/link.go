package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// linkLedger is what Links needs of the ledger; *ledger.Ledger has it.
type linkLedger interface {
	Append(events ...ledger.Event) error
	StepWithID(ctx context.Context, e ledger.Event) (t ledger.Taken, ok bool, err error)
}

// Links asks the service for fresh magic links, one client at a time (version 2;
// service document, "Endpoints", POST …/magic-link). The ledger's lock is held.
type Links struct {
	Ledger  linkLedger
	Service *apiclient.Client
	Run     string // names the events; a UUID that no run has
}

// Link is the result of a request for a fresh link.
type Link struct {
	Status result.Status // Done, Failed or Uncertain
	URL    string        // the redirect url, a credential; "" unless Done
	Error  string        // without the service's own words, which may hold personal data
	Advice string
}

// Request asks for a fresh link for the client with that id. The ledger has the
// request before it leaves and the outcome before Request returns, both durably.
// It sends one request and does not retry: the user is there to ask again. step
// must be done, failed, not sent or unknown to the ledger. A step that is done
// stays done, and keeps its url until there is a new one.
//
// An error means that no other request can succeed either: the service refuses all
// of them, or the ledger cannot be used. The Link says what became of this one.
func (r Links) Request(ctx context.Context, step ledger.Step, clientID string) (Link, error) {
	hadLink := step.To == ledger.Done
	intent := ledger.Event{StepID: step.StepID, To: ledger.Sent, At: time.Now().UTC(), Run: r.Run, Kind: ledger.KindLink}
	if hadLink {
		intent.To, intent.Via, intent.Reason = ledger.Done, ledger.ViaByHand, "you asked for a fresh link"
	}
	if err := r.Ledger.Append(intent); err != nil {
		return Link{}, err
	}
	v := r.Service.Create(ctx, r.Service.Routes().CreateLink(clientID, r.Service.LinkBody()))
	v, unread := r.checkURL(step.StepID, v)
	to, link := linkOf(v)
	outcome := ledger.Event{StepID: step.StepID, To: to, At: time.Now().UTC(), Run: r.Run,
		Status: v.Status, Reason: v.Reason, Answer: v.Answer, ID: v.ID, URL: v.URL}
	if to == ledger.Done {
		outcome.Via = ledger.ViaAnswer
	} else if hadLink {
		outcome = stillDone(outcome)
	}
	if err := r.Ledger.Append(outcome); err != nil {
		return Link{}, errors.Join(unread, err)
	}
	if unread != nil {
		return Link{}, unread
	}
	if v.Stop {
		return link, fmt.Errorf("no other link was asked for: %s", v.Reason)
	}
	return link, nil
}

// checkURL makes an answer uncertain when its url is another client's. A url that
// this client had before counts as a fresh one. Where the ledger cannot be read, the
// answer is uncertain too, so that it is kept.
func (r Links) checkURL(id ledger.StepID, v apiclient.Verdict) (apiclient.Verdict, error) {
	if v.Effect != apiclient.Created {
		return v, nil
	}
	// The answer is here: it is checked even when the command is being stopped.
	t, taken, err := r.Ledger.StepWithID(context.Background(), ledger.Event{StepID: id, Kind: ledger.KindLink, ID: v.ID, URL: v.URL})
	if err != nil {
		v.Effect, v.Reason = apiclient.Uncertain, "the ledger could not be read"
		v.ID, v.URL = "", ""
	} else if taken {
		v.Effect, v.Reason = apiclient.Uncertain, "the service gave it the id of another link"
		if t.URL {
			v.Reason = "the service gave it a redirect url that it had given to another client"
		}
		v.Hint = "If a wire pointer of the environment leads to the wrong place, correct it and run again: the answers are kept, and read again."
		v.ID, v.URL = "", ""
	}
	return v, err
}

// stillDone is the event of a request that brought no new link for a client who
// has one. A whole answer is kept, to be read again after a pointer is corrected.
func stillDone(e ledger.Event) ledger.Event {
	what := "no fresh link was made: "
	if e.To == ledger.Uncertain {
		what = "a fresh link may or may not have been made: "
	}
	e.To, e.Via, e.Reason = ledger.Done, ledger.ViaByHand, what+e.Reason
	if e.Status/100 == 2 {
		e.Via = ledger.ViaAnswer
	} else {
		e.Status, e.Answer = 0, nil // so that the earlier answer stays the step's
	}
	return e
}

// linkOf is a verdict as the step's state and as a Link.
func linkOf(v apiclient.Verdict) (ledger.State, Link) {
	switch {
	case v.Effect == apiclient.Created:
		return ledger.Done, Link{Status: result.Done, URL: v.URL}
	case v.Effect == apiclient.NotSent, v.Effect == apiclient.Refused:
		return ledger.Refused, Link{Status: result.Failed, Error: v.Reason, Advice: v.Hint}
	}
	return ledger.Uncertain, Link{Status: result.Uncertain, Error: v.Reason, Advice: v.Hint}
}
