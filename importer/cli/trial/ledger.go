package trial

import (
	"context"
	"errors"
	"slices"
	"sync"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
)

// wrappedLedger has places before and after events are written, and the bugs of a
// program that writes too late or reads too little.
type wrappedLedger struct {
	importer.Ledger
	trial *Trial

	mu        sync.Mutex
	late      map[ledger.ClientKey][]ledger.Event // events that a bug writes later
	forgotten map[ledger.StepID]bool              // steps that a bug takes for new ones
}

func newLedger(t *Trial, l importer.Ledger) *wrappedLedger {
	return &wrappedLedger{Ledger: l, trial: t, late: map[ledger.ClientKey][]ledger.Event{}, forgotten: map[ledger.StepID]bool{}}
}

func (l *wrappedLedger) Append(events ...ledger.Event) error {
	if DoubtIsAnybodys.Planted() {
		for i := range events {
			events[i].Addresses, events[i].LookedUp = nil, nil
		}
	}
	pass("before", events)
	err := l.append(events)
	pass("after", events)
	if n := len(events); n > 0 && events[n-1].To == ledger.Sent {
		l.trial.mu.Lock()
		defer l.trial.mu.Unlock()
		l.trial.intent = stepOf(events[n-1])
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

// append writes events, the late ones first, as the planted bug has it.
func (l *wrappedLedger) append(events []ledger.Event) error {
	if len(events) == 0 {
		return nil
	}
	events = l.takeLate(events)
	if events[len(events)-1].To == ledger.Sent { // a request follows, and then another Append
		if events = l.postpone(events); len(events) == 0 {
			return nil
		}
	}
	l.allowForgotten(events)
	return l.Ledger.Append(events...)
}

// takeLate returns events with the late ones of their client before them.
func (l *wrappedLedger) takeLate(events []ledger.Event) []ledger.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := events[0].ClientKey
	all := slices.Concat(l.late[who], events)
	delete(l.late, who)
	return all
}

// postpone returns what of the events before a request is written now.
func (l *wrappedLedger) postpone(events []ledger.Event) (now []ledger.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var late []ledger.Event
	for i, e := range events {
		if IntentAfterRequest.Planted() && i == len(events)-1 || OutcomesAtEnd.Planted() && e.To == ledger.Done || NothingBeforeEnd.Planted() {
			late = append(late, e)
		} else {
			now = append(now, e)
		}
	}
	l.late[events[0].ClientKey] = late
	return now
}

// Steps leaves out, for OpenIntentAgain, what a killed run left in flight.
func (l *wrappedLedger) Steps(ctx context.Context, owner ledger.ClientKey, mapping string) (map[string]ledger.Step, error) {
	steps, err := l.Ledger.Steps(ctx, owner, mapping)
	return steps, errors.Join(err, l.forget(ctx, steps))
}

// StepsOfClients leaves out what Steps leaves out.
func (l *wrappedLedger) StepsOfClients(ctx context.Context, environment, mapping string, owners []ledger.ClientKey) ([]map[string]ledger.Step, error) {
	all, err := l.Ledger.StepsOfClients(ctx, environment, mapping, owners)
	return all, errors.Join(err, l.forget(ctx, all...))
}

// forget takes out of the steps of some clients, for OpenIntentAgain, what a killed run
// left in flight.
func (l *wrappedLedger) forget(ctx context.Context, clients ...map[string]ledger.Step) error {
	if !OpenIntentAgain.Planted() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, steps := range clients {
		for key, s := range steps {
			events, err := l.Ledger.Events(ctx, s.StepID)
			if err != nil {
				return err
			}
			if leftInFlight(events) {
				l.forgotten[s.StepID] = true
				delete(steps, key)
			}
		}
	}
	return nil
}

// leftInFlight reports whether a step is uncertain because its run ended before it
// could say what became of the request: another run has said so.
func leftInFlight(events []ledger.Event) bool {
	n := len(events)
	return n > 1 && events[n-1].To == ledger.Uncertain && events[n-2].To == ledger.Sent && events[n-1].Run != events[n-2].Run
}

// allowForgotten lets the ledger take the intent of a step that Steps left out.
func (l *wrappedLedger) allowForgotten(events []ledger.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range events {
		if e := &events[i]; e.To == ledger.Sent && l.forgotten[e.StepID] {
			e.Via = ledger.ViaRepeatable
		}
	}
}

func (l *wrappedLedger) AddressOwners(ctx context.Context, environment string, addresses []string) (map[string][]ledger.AddressOwner, error) {
	if DoubtIsAnybodys.Planted() {
		return nil, nil
	}
	return l.Ledger.AddressOwners(ctx, environment, addresses)
}
