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

func (l *wrappedLedger) Append(events ...ledger.Event) (err error) {
	if len(events) == 0 {
		return nil
	}
	pass("before", events)
	if now := l.spoilt(events); len(now) > 0 {
		err = l.Ledger.Append(now...)
	}
	pass("after", events)
	if last := events[len(events)-1]; last.To == ledger.Sent {
		l.trial.mu.Lock()
		defer l.trial.mu.Unlock()
		l.trial.intent = stepOf(last)
	}
	return err
}

// spoilt returns what the planted bug has written of events, and of those that it has kept back
// before.
func (l *wrappedLedger) spoilt(events []ledger.Event) (now []ledger.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := events[0].ClientKey
	all := slices.Concat(l.late[who], events)
	delete(l.late, who)
	last := len(all) - 1
	requestFollows := all[last].To == ledger.Sent // and then another Append
	for i, e := range all {
		switch {
		case requestFollows && (NothingBeforeEnd.Planted() || IntentAfterRequest.Planted() && i == last || OutcomesAtEnd.Planted() && e.To == ledger.Done):
			l.late[who] = append(l.late[who], e)
			continue
		case DoubtIsAnybodys.Planted():
			e.Addresses, e.LookedUp = nil, nil
		case e.To == ledger.Sent && l.forgotten[e.StepID]:
			e.Via = ledger.ViaRepeatable
		}
		now = append(now, e)
	}
	return now
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
			if events[len(events)-1].To == ledger.Sent {
				l.forgotten[s.StepID] = true
				delete(steps, key)
			}
		}
	}
	return nil
}

func (l *wrappedLedger) AddressOwners(ctx context.Context, environment string, addresses []string) (map[string][]ledger.AddressOwner, error) {
	if DoubtIsAnybodys.Planted() {
		return nil, nil
	}
	return l.Ledger.AddressOwners(ctx, environment, addresses)
}
