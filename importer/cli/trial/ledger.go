package trial

import (
	"claimsheet/importer"
	"claimsheet/importer/ledger"
)

// wrappedLedger has places before and after events are written.
type wrappedLedger struct {
	importer.Ledger
	trial *Trial
}

func (l *wrappedLedger) Append(events ...ledger.Event) error {
	if len(events) == 0 {
		return nil
	}
	pass("before", events)
	err := l.Ledger.Append(events...)
	pass("after", events)
	if last := events[len(events)-1]; last.To == ledger.Sent {
		l.trial.mu.Lock()
		defer l.trial.mu.Unlock()
		l.trial.intent = stepOf(last)
	}
	return err
}

// pass passes the places of events. An outcome is written together with the next
// step's intent, so one Append may be a place of several steps.
func pass(when string, events []ledger.Event) {
	for _, e := range events {
		what := "outcome"
		if e.To == ledger.Sent {
			what = "intent"
		}
		reach(when+"-"+what, stepOf(e))
	}
}

// stepOf names the step of an event as TRIAL_KILL does.
func stepOf(e ledger.Event) string { return e.Client + ":" + e.StepID.Step }
