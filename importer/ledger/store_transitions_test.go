package ledger_test

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"claimsheet/importer/ledger"
)

var (
	states = [...]ledger.State{ledger.Sent, ledger.Done, ledger.Refused, ledger.Uncertain, ledger.Closed}
	vias   = [...]string{"", ledger.ViaAnswer, ledger.ViaAdopted, ledger.ViaByHand, ledger.ViaWorkbook, ledger.ViaRepeatable, ledger.ViaJournal, ledger.ViaSheet, ledger.ViaConflict}
	kinds  = [...]string{ledger.KindClient, ledger.KindClaim, ledger.KindActivity, ledger.KindLink}
)

// roads lead a planned step to each state.
var roads = map[ledger.State][]ledger.Event{
	"planned":        {},
	ledger.Sent:      {{State: ledger.Sent}},
	"left":           {{State: ledger.Sent, Run: "killed"}},
	ledger.Done:      {{State: ledger.Sent}, {State: ledger.Done, Via: ledger.ViaAnswer}},
	ledger.Refused:   {{State: ledger.Sent}, {State: ledger.Refused}},
	ledger.Uncertain: {{State: ledger.Sent}, {State: ledger.Uncertain}},
	ledger.Closed:    {{State: ledger.Sent}, {State: ledger.Uncertain}, {State: ledger.Closed, Via: ledger.ViaByHand}},
}

// transitions is the state machine as users may rely on it: read a difference as a
// change of a promise.
//
//go:embed testdata/transitions.golden
var transitions string

// EveryTransition tries every pair of states with every Via and kind of step. A refusal names
// neither client nor step.
func (s store) EveryTransition(t *testing.T) {
	l := s.fresh(t)
	var table strings.Builder
	for _, from := range append([]ledger.State{"planned", "left"}, states[:]...) {
		for _, to := range states {
			verdict := "never"
			if by := allowed(t, l, from, to); len(by) > 0 {
				verdict = strings.Join(by, ", ")
			}
			fmt.Fprintf(&table, "%-9s -> %-9s  %s\n", from, to, verdict)
		}
	}
	if got := table.String(); got != transitions {
		t.Errorf("the transitions are\n%s\nwant\n%s", got, transitions)
	}
}

// NotFound: a run sends again what is uncertain only where it is a client whom a look-up has
// not found, and who was not found or sent since.
func (s store) NotFound(t *testing.T) {
	l := s.fresh(t)
	append := func(step, kind string, to ledger.State, notFound bool) error {
		return l.Append(ledger.Event{StepID: jane("m", step), Kind: kind, At: noon, State: to, NotFound: notFound})
	}
	for _, kind := range kinds {
		step := kind + "/1"
		do(t, append(step, kind, ledger.Sent, false))
		do(t, append(step, kind, ledger.Uncertain, false))
		for i, notFound := range []bool{true, false, true} {
			if i != 1 {
				if err := append(step, kind, ledger.Sent, false); !errors.Is(err, ledger.ErrTransition) {
					t.Errorf("a %s in doubt was sent again: %v", kind, err)
				}
			}
			if err := append(step, kind, ledger.Uncertain, notFound); (err == nil) != (kind == ledger.KindClient) {
				t.Errorf("a %s, not found %v: %v", kind, notFound, err)
			}
		}
		if err := append(step, kind, ledger.Sent, false); (err == nil) != (kind == ledger.KindClient) {
			t.Errorf("a %s that was not found is sent again: %v", kind, err)
		}
	}
	if got := must(l.Steps(t.Context(), jane("", "").ClientKey, "m"))(t)["client/1"]; got.NotFound || got.Attempts != 2 {
		t.Errorf("the client that was sent again is %+v", got)
	}
}

// allowed tries a pair, all Vias and kinds at once, and says by whose word it
// goes, and for which kinds where not for all.
func allowed(t *testing.T, l *ledger.Ledger, from, to ledger.State) []string {
	t.Helper()
	var verdicts [len(vias)][len(kinds)]error
	var tries sync.WaitGroup
	for v, via := range vias {
		for k, kind := range kinds {
			events := append(slices.Clone(roads[from]), ledger.Event{State: to, Via: via})
			for i := range events {
				events[i].StepID, events[i].At, events[i].Kind = jane("m", fmt.Sprint(from, to, via, kind)), noon, kind
			}
			tries.Go(func() { verdicts[v][k] = l.Append(events...) })
		}
	}
	tries.Wait()
	var by []string
	for v, via := range vias {
		var only []string
		for k, kind := range kinds {
			if err := verdicts[v][k]; err == nil {
				only = append(only, kind)
			} else if !errors.Is(err, ledger.ErrTransition) || strings.Contains(err.Error(), "jane") {
				t.Fatal(err)
			}
		}
		word := cmp.Or(via, "the run")
		if n := len(only); 0 < n && n < len(kinds) {
			word += " (" + strings.Join(only, ", ") + " only)"
		}
		if len(only) > 0 {
			by = append(by, word)
		}
	}
	return by
}
