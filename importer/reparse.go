package importer

import (
	"cmp"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// reparse parses kept answers of a plan's client again: after a wire pointer was corrected, ids
// and urls are taken from them and not asked for again. What was decided by settle stays as it is.
func (j *Job) reparse(plan mapping.Plan, known map[string]ledger.Step) (map[string]ledger.Step, error) {
	if j.mode == projects {
		return known, nil
	}
	for range 2 {
		events, err := j.parseAllAgain(known)
		if err != nil || len(events) == 0 || j.mode == dry { // a dry run records nothing
			return known, err
		}
		if err = j.Ledger.Append(events...); !isRefusal(err) {
			return known, err
		}
		if known, err = j.readSteps(plan); err != nil { // what somebody else has recorded meanwhile
			return nil, err
		}
	}
	return known, nil
}

// parseAllAgain replaces the steps whose answers now say something else, and returns the events
// that record it.
func (j *Job) parseAllAgain(known map[string]ledger.Step) (events []ledger.Event, err error) {
	for key, step := range known {
		again, isNews := j.parseAgain(step, known[ledger.KindClient].ID)
		if !isNews {
			continue
		}
		event := j.stamped(ledger.Event{StepID: step.StepID, To: again.To, Run: j.Runs[0], Kind: step.Kind, Via: again.Via,
			Status: again.Event.Status, ID: again.ID, URL: again.URL})
		t, taken, err := j.holder(event)
		if err != nil {
			return nil, err
		}
		if taken { // it stays as it is, and the reason says whose the id is
			reason, whose := takenAnswer(step.Kind, again.ID, t)
			again = step
			again.Reason = reasonWith(reason+": "+whose, hintTaken)
		} else {
			again.At = event.At // the run stays: nothing is sent in this one
			events = append(events, event)
		}
		known[key] = again
	}
	return events, nil
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
	request := apiclient.Request{Kind: apiclient.Kind(step.Kind)} // as far as a relative url in the answer depends on it
	switch routes := j.Service.Routes(); step.Kind {
	case ledger.KindClient:
		request = routes.CreateClient(nil, false)
	case ledger.KindLink:
		request = routes.CreateLink(clientID, nil)
	}
	v := j.Service.JudgeStored(request, apiclient.StoredAnswer(step.Event.Status, step.Answer))
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
	return again, isNews
}

// knownSteps is what the ledger knows of a plan's client, after kept answers have
// been parsed again.
func (j *Job) knownSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	known, err := j.readSteps(plan)
	if err != nil {
		return nil, err
	}
	return j.reparse(plan, known)
}
