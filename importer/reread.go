package importer

import (
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
)

// reread reads kept answers again: after a wire pointer was corrected, the ids
// and urls that it leads to are taken from there and not asked for again. What
// an operator said stays as it is.
func (j *Job) reread(known map[string]ledger.Step) error {
	var events []ledger.Event
	for key, step := range known {
		if step.Answer == nil || step.Event.Status/100 != 2 || step.Via == ledger.ViaOperator {
			continue
		}
		if step.To != ledger.Done && step.To != ledger.Uncertain {
			continue
		}
		v := j.Service.Judge(apiclient.Request{Kind: apiclient.Kind(step.Kind)},
			apiclient.Answer{Status: step.Event.Status, ContentType: "application/json", Body: step.Answer}, nil)
		if v.Effect != apiclient.Created || v.ID == step.ID && v.URL == step.URL {
			continue
		}
		event := ledger.Event{StepID: step.StepID, To: ledger.Done, At: time.Now().UTC(), Run: j.Run, Via: ledger.ViaAnswer,
			Status: step.Event.Status, ID: v.ID, URL: v.URL}
		step.To, step.ID, step.URL = ledger.Done, v.ID, v.URL
		known[key] = step
		events = append(events, event)
	}
	if len(events) == 0 || j.Draft != nil {
		return nil // a dry run only foresees it
	}
	return j.Ledger.Append(events...)
}
