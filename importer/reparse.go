package importer

import (
	"cmp"
	"context"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
)

// reparse reads kept answers again: after a wire pointer was corrected, the ids
// and urls that it leads to are taken from there and not asked for again. What
// an operator said stays as it is.
func (j *Job) reparse(known map[string]ledger.Step) error {
	var events []ledger.Event
	for key, step := range known {
		step, err := j.withAnswer(step)
		if err != nil {
			return err
		}
		again, told := j.parseAgain(step, known["client"].ID)
		if told {
			event := ledger.Event{StepID: step.StepID, To: again.To, At: time.Now().UTC(), Run: j.Runs[0], Kind: step.Kind, Via: again.Via,
				Status: step.Event.Status, ID: again.ID, URL: again.URL}
			t, ok, err := j.take(event)
			if err != nil {
				return err
			}
			if !ok { // it stays as it is; whoever reads why is told whose the id is
				reason, whose := takenAnswer(step.Kind, again.ID, t)
				again = step
				again.Reason = reason + ": " + whose
			} else {
				events = append(events, event)
			}
		}
		known[key] = again
	}
	if len(events) == 0 || j.effects.dryRun {
		return nil // a dry run only foresees it
	}
	err := j.Ledger.Append(events...)
	j.holders.release(events...)
	return err
}

// reparseOnly reads kept answers again and records nothing.
func (j *Job) reparseOnly(known map[string]ledger.Step) error {
	for key, step := range known {
		step, err := j.withAnswer(step)
		if err != nil {
			return err
		}
		known[key], _ = j.parseAgain(step, known["client"].ID)
	}
	return nil
}

// withAnswer is a step with the status of its answer: what a look-up said of the
// client since has none.
func (j *Job) withAnswer(step ledger.Step) (ledger.Step, error) {
	if step.Answer == nil || step.Event.Status != 0 || step.Kind != ledger.KindClient {
		return step, nil
	}
	// What was done is read whether or not the run is being stopped.
	status, err := j.Ledger.AnswerStatus(context.Background(), step.StepID)
	step.Event.Status = status
	return step, err
}

// parseAgain is a step as its answer says that it is, the pointers being what
// they are now. told is set where that is news.
func (j *Job) parseAgain(step ledger.Step, clientID string) (again ledger.Step, told bool) {
	if step.Answer == nil || step.Event.Status/100 != 2 || step.Via == ledger.ViaOperator {
		return step, false
	}
	v := j.Service.Judge(j.answered(step, clientID), apiclient.StoredAnswer(step.Event.Status, step.Answer), nil)
	again = step
	again.To, again.Via = ledger.Done, ledger.ViaAnswer
	again.ID, again.URL = cmp.Or(v.ID, step.ID), cmp.Or(v.URL, step.URL)
	switch {
	case step.To == ledger.Uncertain, step.To == ledger.Parked:
		told = v.Effect == apiclient.Created
	case step.To == ledger.Done && step.Via == ledger.ViaAdopted:
		// Everything else was built on the id that a look-up found.
		told = again.ID == step.ID && again.URL != step.URL
	case step.To == ledger.Done && v.Effect == apiclient.Created:
		told = again.ID != step.ID || again.URL != step.URL
	}
	if !told {
		return step, false
	}
	return again, true
}

// answered is the request that a step's answer came to, as far as a relative url
// in the answer depends on it.
func (j *Job) answered(step ledger.Step, clientID string) apiclient.Request {
	switch routes := j.Service.Routes(); step.Kind {
	case ledger.KindClient:
		return routes.CreateClient(nil, false)
	case ledger.KindLink:
		return routes.CreateLink(clientID, nil)
	}
	return apiclient.Request{Kind: apiclient.Kind(step.Kind)}
}
