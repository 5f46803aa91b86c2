package importer

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

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
		if step.Answer == nil && step.Attempts < 2 {
			continue
		}
		step, again, isNews, err := j.parseKept(step, known["client"].ID)
		if err != nil {
			return err
		}
		if isNews {
			event := j.stamped(ledger.Event{StepID: step.StepID, To: again.To, Run: j.Runs[0], Kind: step.Kind, Via: again.Via,
				Status: again.Event.Status, ID: again.ID, URL: again.URL})
			if !bytes.Equal(again.Answer, step.Answer) {
				event.Answer = again.Answer
			}
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

// reparseShown is reparse for a plan. shown are the steps as the workbook has them: with the
// HTTP status of their last event, which may be that of a later look-up.
func (j *Job) reparseShown(known map[string]ledger.Step) (shown map[string]ledger.Step, err error) {
	was := known[ledger.KindClient]
	err = j.reparse(known)
	now := known[ledger.KindClient]
	if now.Event.Status == was.Event.Status || !now.At.Equal(was.At) {
		return known, err
	}
	shown = maps.Clone(known)
	now.Event.Status = was.Event.Status
	shown[ledger.KindClient] = now
	return shown, err
}

// reparseOnly parses kept answers again and records nothing.
func (j *Job) reparseOnly(known map[string]ledger.Step) error {
	for key, step := range known {
		_, again, _, err := j.parseKept(step, known["client"].ID)
		if err != nil {
			return err
		}
		known[key] = again
	}
	return nil
}

// parseKept is parseAgain with the status of the step's answer, which kept has too. Of
// a step in doubt that may be sent several times, it takes the last answer to an earlier
// request that says what the last one does not.
func (j *Job) parseKept(step ledger.Step, clientID string) (kept, again ledger.Step, isNews bool, err error) {
	if kept, err = j.withAnswer(step); err != nil {
		return kept, kept, false, err
	}
	again, isNews = j.parseAgain(kept, clientID)
	doubtful := kept.To == ledger.Uncertain
	if isNews || !doubtful || kept.Attempts < 2 || !j.Service.Repeatable(apiclient.Kind(kept.Kind)) {
		return kept, again, isNews, nil
	}
	// What was done is read whether or not the run is being stopped.
	events, err := j.Ledger.Events(context.Background(), kept.StepID)
	for _, e := range slices.Backward(events) {
		if e.To == ledger.Done || e.Via == ledger.ViaByHand { // what was before is decided
			break
		}
		earlier := kept
		earlier.Event.Status, earlier.Answer = e.Status, e.Answer
		if again, isNews = j.parseAgain(earlier, clientID); isNews {
			return kept, again, true, err
		}
	}
	return kept, kept, false, err
}

// withAnswer returns a step with the status of its answer. The step's last event may
// be that of a later look-up, which has no status.
func (j *Job) withAnswer(step ledger.Step) (ledger.Step, error) {
	if step.Answer == nil || step.Event.Status != 0 || step.Kind != ledger.KindClient {
		return step, nil
	}
	// What was done is read whether or not the run is being stopped.
	status, err := j.Ledger.AnswerStatus(context.Background(), step.StepID)
	step.Event.Status = status
	return step, err
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
