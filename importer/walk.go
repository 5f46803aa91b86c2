package importer

import (
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// StepOutcome is what became of one step in this run.
type StepOutcome struct {
	Step   *mapping.Step
	Status result.Status
	ID     string
	URL    string // a credential
	Error  string // why it is not done; may quote the service, so not for logs
	Advice string

	answered bool // an answer came in this run
	unmet    bool // a look-up failed in this run
	http     int  // its status, 0 for none
	wordless bool // it was a whole 2xx answer that lacks what was looked for
}

// ok tells that the step is done, now or before, or in a dry run would be, so
// that later steps can build on it.
func (o StepOutcome) ok() bool {
	switch o.Status {
	case result.Done, result.Unchanged, result.Planned:
		return true
	case result.Changed:
		return o.ID != "" || o.Step.Kind == mapping.LinkStep || o.Step.Kind == mapping.ActivityStep
	}
	return false
}

// walk goes through a client's steps in order. What is done is kept, what
// waits for an earlier step says so, and do is called for what is to be sent:
// the executor sends it, a dry run says that it would be.
func walk(decisions []decision, do func(decision) (StepOutcome, error)) ([]StepOutcome, error) {
	outcomes := make([]StepOutcome, 0, len(decisions))
	w := waiting{byClaim: map[string]string{}}
	for _, d := range decisions {
		o := d.settled()
		if d.action == send {
			if blocker := w.blocks(d.step); blocker != "" {
				o = StepOutcome{Step: d.step, Status: result.NotStarted, Error: "waits for the step " + blocker}
			} else {
				var err error
				if o, err = do(d); err != nil {
					return outcomes, err
				}
			}
		}
		if !o.ok() {
			w.note(d.step)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// settled is the outcome of a step that is not to be sent.
func (d decision) settled() StepOutcome {
	o := StepOutcome{Step: d.step, ID: d.known.ID, URL: d.known.URL, Error: d.why, Advice: d.advice}
	switch d.action {
	case keep:
		o.Status = result.Unchanged
	case differ:
		o.Status, o.Advice = result.Changed, adviceChanged
	case foreseen:
		o.Status = result.Planned
	case adopted:
		o.Status = result.Done
	case hold:
		o.Status = result.Changed
	case disputed:
		o.Status = result.Failed
	case operator: // a redirect url that an answer held is shown with the id
		o.Status, o.URL = result.Uncertain, ""
		if o.Advice == "" {
			o.Advice = adviceUncertain(d.step)
		}
	case closed:
		o.Status, o.Advice = result.Failed, adviceGivenUp
	}
	return o
}

// waiting knows which steps are in the way of later ones. Trouble stops its
// own claim only: other claims go on. Without the client nothing can be made,
// and what belongs to the client waits until every earlier step is done.
type waiting struct {
	client  string
	byClaim map[string]string
	any     string
}

func (w *waiting) note(step *mapping.Step) {
	if step.Kind == mapping.ClientStep {
		w.client = step.Key
	}
	if w.byClaim[step.Claim] == "" {
		w.byClaim[step.Claim] = step.Key
	}
	if w.any == "" {
		w.any = step.Key
	}
}

// blocks is the key of the step that must be done first, "" for none.
func (w *waiting) blocks(step *mapping.Step) string {
	switch {
	case w.client != "":
		return w.client
	case step.Claim != "":
		return w.byClaim[step.Claim]
	}
	return w.any
}
