package importer

import (
	"cmp"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// reparse parses kept answers again: after a wire pointer was corrected, ids and
// urls are taken from them and not asked for again. What was decided by settle stays
// as it is.
func (j *Job) reparse(known map[string]ledger.Step) error {
	if j.mode == projects {
		return nil
	}
	var events []ledger.Event
	for key, step := range known {
		again, isNews := j.parseAgain(step, known["client"].ID)
		if isNews {
			event := j.stamped(ledger.Event{StepID: step.StepID, To: again.To, Run: j.Runs[0], Kind: step.Kind, Via: again.Via,
				Status: again.Event.Status, ID: again.ID, URL: again.URL})
			t, taken, err := j.holder(event)
			if err != nil {
				return err
			}
			if taken { // it stays as it is, and the reason says whose the id is
				reason, whose := takenAnswer(step.Kind, again.ID, t)
				again = step
				again.Reason = reasonWith(reason+": "+whose, hintTaken)
			} else {
				again.At = event.At // the run stays: nothing is sent in this one
				events = append(events, event)
			}
		}
		known[key] = again
	}
	if len(events) == 0 || j.mode == dry {
		return nil // a dry run records nothing
	}
	err := j.Ledger.Append(events...)
	if isRefusal(err) { // the answers are kept, and read again
		err = &stepChanged{step: events[0].StepID, why: err}
	}
	return err
}

// reparseOnly parses kept answers again and records nothing.
func (j *Job) reparseOnly(known map[string]ledger.Step) {
	for key, step := range known {
		known[key], _ = j.parseAgain(step, known["client"].ID)
	}
}

// parseAgain returns a step as its answer describes it by the wire pointers of now.
// isNews reports whether that differs from the ledger.
func (j *Job) parseAgain(step ledger.Step, clientID string) (again ledger.Step, isNews bool) {
	if step.Answer == nil || step.Event.Status/100 != 2 || step.Via == ledger.ViaByHand || isOvertaken(step) {
		return step, false
	}
	if step.To == ledger.Done && !j.Service.Reads(apiclient.Kind(step.Kind)) {
		return step, false // its answer has nothing that could be corrected
	}
	v := j.Service.JudgeStored(j.requestOf(step, clientID), apiclient.StoredAnswer(step.Event.Status, step.Answer))
	again = step
	again.To, again.Via = ledger.Done, ledger.ViaAnswer
	again.ID, again.URL = cmp.Or(v.ID, step.ID), cmp.Or(v.URL, step.URL)
	switch {
	case step.To == ledger.Uncertain:
		isNews = v.Effect == apiclient.Created
	case step.To == ledger.Done && step.Via == ledger.ViaAdopted:
		// Everything else was built on the id that a look-up found.
		isNews = again.ID == step.ID && again.URL != step.URL
	case step.To == ledger.Done && v.Effect == apiclient.Created:
		isNews = again.ID != step.ID || again.URL != step.URL
	}
	if !isNews {
		return step, false
	}
	return again, true
}

// requestOf is the request of a step's answer, as far as a relative url in the answer
// depends on it.
func (j *Job) requestOf(step ledger.Step, clientID string) apiclient.Request {
	switch routes := j.Service.Routes(); step.Kind {
	case ledger.KindClient:
		return routes.CreateClient(nil, false)
	case ledger.KindLink:
		return routes.CreateLink(clientID, nil)
	}
	return apiclient.Request{Kind: apiclient.Kind(step.Kind)}
}

// knownSteps is what the ledger knows of a plan's client, after kept answers have
// been parsed again.
func (j *Job) knownSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	known, err := j.readSteps(plan)
	if err != nil {
		return known, err
	}
	if err = j.reparse(known); isChanged(err) { // what somebody else has recorded meanwhile
		return j.readSteps(plan)
	}
	return known, err
}
