package cli_test

// plant is a bug that a trial build has where TRIAL_BUG names it.
type plant struct {
	name  string
	edits []edit
}

const (
	decideAt   = "\t\tswitch d.known.To {\n"
	resendAt   = "\tcase v.Effect == apiclient.NotSent, v.Effect == apiclient.Uncertain && repeatable:\n"
	believedAt = "d.known.Age(ledger.Now()) >= believable"
	judgedAt   = "\treturn meaning{effect: Uncertain}\n"
)

// resent has an uncertain answer of some kind taken for one that may be sent
// again.
func resent(bug, which string) []edit {
	return []edit{{"importer/patience.go", resendAt, `
	case trial.Bug("` + bug + `") && v.Effect == apiclient.Uncertain && ` + which + `:
		p.attempts++
		return rest{again: p.attempts < maxAttempts, wait: wait}
` + resendAt}}
}

// plants are the bugs that the tests which kill must find.
var plants = []plant{
	{"intent written after the request", []edit{
		{"importer/execute.go", "\treturn e.commit()\n", `
	if trial.Bug("intent written after the request") || trial.Bug("nothing written before the end") {
		return nil
	}
	if trial.Bug("outcomes written at the end") {
		return e.commitIntents()
	}
	return e.commit()
`},
		{"importer/execute.go", "\t\tevent, o := e.conclude(d, verdict)\n", `
		if trial.Bug("intent written after the request") {
			if err := e.commit(); err != nil {
				return StepOutcome{}, err
			}
		}
		event, o := e.conclude(d, verdict)
`},
	}},
	{"nothing written before the end", nil}, // its edit is the one above
	{"outcomes written at the end", []edit{{"importer/execute.go", "// commit makes the pending events durable.\n", `
func (e *errand) commitIntents() error {
	var now, later []ledger.Event
	for _, event := range e.pending {
		if event.To == ledger.Done {
			later = append(later, event)
		} else {
			now = append(now, event)
		}
	}
	e.pending = now
	err := e.commit()
	e.pending = later
	return err
}

// commit makes the pending events durable.
`}}},
	{"open intent sent again", []edit{{"importer/decide.go", decideAt, `
		if trial.Bug("open intent sent again") && strings.HasPrefix(d.known.Reason, "the run that was sending it ended") {
			decisions[i] = d
			continue
		}
` + decideAt}}},
	{"sent again after a reset", resent("sent again after a reset", `v.Status == 0 && v.Reason != "no answer within the time allowed"`)},
	{"sent again after a 500", resent("sent again after a 500", "v.Status == 500")},
	{"sent again after a time-out", resent("sent again after a time-out", `v.Reason == "no answer within the time allowed"`)},
	{"no settle window", []edit{{"importer/reconcile.go", believedAt, "d.known.Age(ledger.Now()) >= trial.Window(believable)"}}},
	{"settle window shorter than the slowest creation", nil}, // trial.Window
	{"a 5xx taken for a refusal", []edit{{"apiclient/meaning.go", judgedAt, `
	if trial.Bug("a 5xx taken for a refusal") {
		return meaning{effect: Refused}
	}
` + judgedAt}}},
}
