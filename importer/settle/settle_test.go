package settle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/importer/settle"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var (
	must = testform.NoError
	same = testform.Same
)

var settleTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func settleStep(client, step string) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "https://uat.example.com", Space: "email", Client: client}, Mapping: "loans", Step: step}
	if step == "client" {
		id.Mapping = ""
	}
	return id
}

// newSettler has a ledger with some events.
func newSettler(t *testing.T, events ...ledger.Event) settle.Settler {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	for _, e := range events {
		e.At = settleTime
		err = errors.Join(err, l.Append(e))
	}
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return settle.Settler{Ledger: l, Run: "run-2"}
}

// inDoubt has uncertain steps, and the client ann, who is done.
func inDoubt(t *testing.T) settle.Settler {
	t.Helper()
	events := []ledger.Event{{StepID: settleStep("ann", "client"), State: ledger.Done, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "contact-1"}}
	for _, id := range []ledger.StepID{settleStep("ann", "claim/loan/1"), settleStep("ann", "claim/loan/2"), settleStep("ann", "activity/a@loan/1"),
		settleStep("ann", "link"), settleStep("bob", "client")} {
		events = append(events, ledger.Event{StepID: id, State: ledger.Sent, Kind: settle.KindOf(id.Step)}, ledger.Event{StepID: id, State: ledger.Uncertain, Reason: "no answer"})
	}
	return newSettler(t, events...)
}

func settleStates(t *testing.T, s settle.Settler) map[string]string {
	t.Helper()
	states := map[string]string{}
	for _, client := range []string{"ann", "bob"} {
		steps, err := s.Ledger.Steps(t.Context(), settleStep(client, "").ClientKey, "loans")
		must(t, err)
		for name, s := range steps {
			states[client+" "+name] = string(s.State) + " " + s.ID + s.URL
		}
	}
	return states
}

func created(client, step, value string) settle.Settlement {
	return settle.Settlement{Step: settleStep(client, step), Decision: settle.Decision{Choice: settle.WasCreated, Value: value}}
}

func decided(client, step string, choice settle.Choice) settle.Settlement {
	return settle.Settlement{Step: settleStep(client, step), Decision: settle.Decision{Choice: choice}}
}

// TestSettle decides every kind of step. The lists of what is uncertain and of what is decided follow, and lead to each uncertain
// step by the ids of its client and claim.
func TestSettle(t *testing.T) {
	s := inDoubt(t)
	list := func(from func(context.Context, *ledger.Ledger, []string) ([]settle.UncertainStep, error)) map[string]string {
		t.Helper()
		steps, err := from(t.Context(), s.Ledger, []string{"https://uat.example.com"})
		must(t, err)
		got := map[string]string{}
		for _, step := range steps {
			got[step.Client+" "+step.StepID.Step] = step.ClientID + " " + step.ClaimID
		}
		return got
	}
	must(t, s.Settle(t.Context(), created("ann", "claim/loan/1", "claim-1"), decided("bob", "client", settle.GiveUp)))
	want := map[string]string{"ann claim/loan/2": "contact-1 ", "ann activity/a@loan/1": "contact-1 claim-1", "ann link": "contact-1 "}
	same(t, "uncertain", want, list(settle.Uncertain))
	same(t, "decided", map[string]string{"ann claim/loan/1": " ", "bob client": " "}, list(settle.Decided))
	err := s.Settle(t.Context(), decided("ann", "claim/loan/2", settle.NotCreated), created("ann", "activity/a@loan/1", ""),
		created("ann", "link", "https://claims.example.com/go/1"))
	must(t, err)
	want = map[string]string{
		"ann client": "done contact-1", "ann claim/loan/1": "done claim-1", "ann claim/loan/2": "refused ",
		"ann activity/a@loan/1": "done ", "ann link": "done https://claims.example.com/go/1", "bob client": "closed ",
	}
	same(t, "states", want, settleStates(t, s))
}

// TestSettleAllOrNone finds every problem, each at its place, and writes
// nothing: not the good decisions beside them either.
func TestSettleAllOrNone(t *testing.T) {
	s := inDoubt(t)
	s.ActivityIDs = true
	before := settleStates(t, s)
	all := []settle.Settlement{ // from row 2 on
		created("ann", "claim/loan/1", "claim-1"),
		created("ann", "claim/loan/2", "claim-1"),
		created("ann", "activity/a@loan/1", ""),
		decided("ann", "claim/loan/1", settle.GiveUp),
		created("ann", "client", "contact-2"),
		decided("eve", "client", settle.GiveUp),
		{Step: settleStep("ann", "link"), Decision: settle.Decision{Choice: settle.NotCreated, Value: "x"}},
		created("bob", "client", "contact-1"),
	}
	problems := func(all ...settle.Settlement) (got []string) {
		t.Helper()
		for i := range all {
			all[i].Where = problem.Where{Sheet: "Steps", Row: i + 2}
		}
		var list problem.List
		if err := s.Settle(t.Context(), all...); err == nil || list.Collect(err) != nil {
			t.Fatalf("%v; want problems", err)
		}
		for _, p := range list {
			got = append(got, p.Where.String()+" "+p.Code)
		}
		return got
	}
	want := []string{"Steps!3 id-taken", "Steps!4 no-id", "Steps!5 decided-twice", "Steps!6 not-uncertain",
		"Steps!7 unknown-step", "Steps!8 unknown-decision", "Steps!9 id-taken"}
	same(t, "problems", want, problems(all...))
	if diff := cmp.Diff([]string{"Steps!2 not-an-id"}, problems(created("ann", "claim/loan/2", "loan 2?"))); diff != "" { // no segment of a path
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, settleStates(t, s)); diff != "" {
		t.Errorf("the ledger has changed (-before +after):\n%s", diff)
	}
}

// TestUndo: a decision, or an id that the sheet gave, is taken back until something is built on it.
// Then the step is as it was before: uncertain, or not created.
func TestUndo(t *testing.T) {
	at := func(client, step string, to ledger.State, via string) ledger.Event {
		return ledger.Event{StepID: settleStep(client, step), Kind: settle.KindOf(step), State: to, Via: via}
	}
	given := func(step, id string) ledger.Event {
		e := at("bob", step, ledger.Done, ledger.ViaSheet)
		e.ID = id
		return e
	}
	claim := at("bob", "claim/loan/9", ledger.Sent, "")
	type events = []ledger.Event
	doubt := events{at("bob", "client", ledger.Sent, ""), at("bob", "client", ledger.Uncertain, "")}
	for name, c := range map[string]struct {
		before events             // of an empty ledger
		decide *settle.Settlement // nil for none
		since  events
		step   string // of bob
		want   string // the problem's code, or the state afterwards
	}{
		"created":                {doubt, new(created("bob", "client", "c-2")), nil, "client", "uncertain "},
		"not created":            {doubt, new(decided("bob", "client", settle.NotCreated)), nil, "client", "uncertain "},
		"given up":               {doubt, new(decided("bob", "client", settle.GiveUp)), nil, "client", "uncertain "},
		"a claim was sent since": {doubt, new(created("bob", "client", "c-2")), events{claim}, "client", "built-on"},
		"never decided":          {doubt, nil, nil, "client", "not-decided"},

		"a known client":                {events{given("client", "x1")}, nil, nil, "client", "refused x1"},
		"corrected before":              {events{given("client", "x1"), at("bob", "client", ledger.Refused, ledger.ViaByHand), given("client", "x2")}, nil, nil, "client", "refused x2"},
		"refused before":                {events{at("bob", "client", ledger.Refused, ""), given("client", "x1")}, nil, nil, "client", "refused x1"},
		"in doubt before":               {append(doubt[:2:2], given("client", "x1")), nil, nil, "client", "uncertain "},
		"a claim was refused":           {events{given("client", "x1"), claim, at("bob", "claim/loan/9", ledger.Refused, "")}, nil, nil, "client", "refused x1"},
		"a claim was sent":              {events{given("client", "x1"), claim}, nil, nil, "client", "built-on"},
		"a known claim":                 {events{given("claim/loan/1", "x1")}, nil, nil, "claim/loan/1", "refused x1"},
		"of a known claim, an activity": {events{given("claim/loan/1", "x1"), at("bob", "activity/a@loan/1", ledger.Sent, "")}, nil, nil, "claim/loan/1", "built-on"},
		"beside a known claim":          {events{given("client", "x1"), given("claim/loan/1", "c1")}, nil, nil, "client", "built-on"},
		"found by a look-up":            {events{{StepID: settleStep("bob", "client"), Kind: "client", State: ledger.Done, Via: ledger.ViaAdopted, ID: "x1"}}, nil, nil, "client", "not-decided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settler := newSettler(t, c.before...)
			if c.decide != nil {
				must(t, settler.Settle(t.Context(), *c.decide))
			}
			for _, e := range c.since {
				e.At = settleTime
				must(t, settler.Ledger.Append(e))
			}
			err := settler.Settle(t.Context(), decided("bob", c.step, settle.Undo))
			got := settleStates(t, settler)["bob "+c.step]
			var list problem.List
			must(t, list.Collect(err))
			if len(list) > 0 {
				got = list[0].Code
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	for key, want := range map[string]string{"client": "client", "link": "link", "link/loan/1": "link", "links": "", "claim/loan/1": "claim", "activity/a@client": "activity", "": "", "clients": "", "claim": ""} {
		if got := settle.KindOf(key); got != want {
			t.Errorf("KindOf(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestParseDecision(t *testing.T) {
	for text, want := range map[string]settle.Decision{
		"created":                      {Choice: settle.WasCreated},
		" Created ":                    {Choice: settle.WasCreated},
		"created 0b7c-AB":              {Choice: settle.WasCreated, Value: "0b7c-AB"},
		"CREATED\thttps://x.test/Go?a": {Choice: settle.WasCreated, Value: "https://x.test/Go?a"},
		"not created":                  {Choice: settle.NotCreated},
		"Not  Created":                 {Choice: settle.NotCreated},
		"give up":                      {Choice: settle.GiveUp},
		"GIVE\u00a0UP":                 {Choice: settle.GiveUp},
	} {
		got, err := settle.ParseDecision(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseDecisionRefuses(t *testing.T) {
	for _, text := range []string{"", "yes", "notcreated", "not", "give", "giveup now", "created a b", "not created 12", "0b7c", "https://x.test/secret"} {
		got, err := settle.ParseDecision(text)
		var p problem.Problem
		switch {
		case !errors.As(err, &p) || got != (settle.Decision{}):
			t.Errorf("%q: %v, %v; want a problem", text, got, err)
		case p.Hint == "" || strings.Contains(p.Error(), "secret"):
			t.Errorf("%q: the problem has no hint, or quotes the cell: %v", text, p)
		}
	}
}
