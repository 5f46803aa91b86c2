package settle_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/importer/settle"
	"claimsheet/mapping/problem"
)

var settleTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func settleStep(client, step string) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "https://uat.example.com", Space: "email", Client: client}, Mapping: "loans", Step: step}
	if step == "client" {
		id.Mapping = ""
	}
	return id
}

// newLedger has some events.
func newLedger(t *testing.T, events []ledger.Event) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for i := range events {
		if err := l.Append(events[i]); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// settleLedger has uncertain steps, and the client ann, who is done.
func settleLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	events := []ledger.Event{
		{StepID: settleStep("ann", "client"), To: ledger.Done, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "contact-1"},
	}
	for id, kind := range map[ledger.StepID]string{
		settleStep("ann", "claim/loan/1"): ledger.KindClaim, settleStep("ann", "claim/loan/2"): ledger.KindClaim,
		settleStep("ann", "activity/a@loan/1"): ledger.KindActivity, settleStep("ann", "link"): ledger.KindLink,
		settleStep("bob", "client"): ledger.KindClient,
	} {
		events = append(events,
			ledger.Event{StepID: id, To: ledger.Sent, Kind: kind}, ledger.Event{StepID: id, To: ledger.Uncertain, Reason: "no answer"})
	}
	for i := range events {
		events[i].At = settleTime
	}
	return newLedger(t, events)
}

func settleStates(t *testing.T, l *ledger.Ledger) map[string]string {
	t.Helper()
	states := map[string]string{}
	for _, client := range []string{"ann", "bob"} {
		steps, err := l.Steps(t.Context(), settleStep(client, "").ClientKey, "loans")
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range steps {
			states[client+" "+name] = string(s.To) + " " + s.ID + s.URL
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

func TestSettle(t *testing.T) {
	l := settleLedger(t)
	settler := settle.Settler{Ledger: l, Run: "run-2"}
	err := settler.Settle(t.Context(),
		created("ann", "claim/loan/1", "claim-1"),
		decided("ann", "claim/loan/2", settle.NotCreated),
		created("ann", "activity/a@loan/1", ""),
		created("ann", "link", "https://claims.example.com/go/1"),
		decided("bob", "client", settle.GiveUp))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"ann client": "done contact-1", "ann claim/loan/1": "done claim-1", "ann claim/loan/2": "refused ",
		"ann activity/a@loan/1": "done ", "ann link": "done https://claims.example.com/go/1", "bob client": "closed ",
	}
	if diff := cmp.Diff(want, settleStates(t, l)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	var list problem.List
	if err := settler.Settle(t.Context(), created("ann", "claim/loan/1", "claim-3")); !errors.As(err, &list) || list[0].Code != "not-uncertain" {
		t.Errorf("another id: got %v, want not-uncertain", err)
	}
}

// TestSettleAllOrNone finds every problem, each at its place, and writes
// nothing: not the good decisions beside them either.
func TestSettleAllOrNone(t *testing.T) {
	at := func(one settle.Settlement, row int) settle.Settlement {
		one.Where = problem.Where{Sheet: "Steps", Row: row}
		return one
	}
	l := settleLedger(t)
	before := settleStates(t, l)
	settler := settle.Settler{Ledger: l, Run: "run-2", ActivityIDs: true}
	err := settler.Settle(t.Context(),
		at(created("bob", "client", "contact-1"), 9),
		at(created("ann", "claim/loan/1", "claim-1"), 2),
		at(created("ann", "claim/loan/2", "claim-1"), 3),
		at(created("ann", "activity/a@loan/1", ""), 4),
		at(decided("ann", "claim/loan/1", settle.GiveUp), 5),
		at(created("ann", "client", "contact-2"), 6),
		at(decided("eve", "client", settle.GiveUp), 7),
		at(settle.Settlement{Step: settleStep("ann", "link"), Decision: settle.Decision{Choice: settle.NotCreated, Value: "x"}}, 8))
	var list problem.List
	if !errors.As(err, &list) {
		t.Fatalf("%v; want problems", err)
	}
	var got []string
	for _, p := range list {
		got = append(got, p.Where.String()+" "+p.Code)
	}
	want := []string{"Steps!3 id-taken", "Steps!4 no-id", "Steps!5 decided-twice", "Steps!6 not-uncertain",
		"Steps!7 unknown-step", "Steps!8 unknown-decision", "Steps!9 id-taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, settleStates(t, l)); diff != "" {
		t.Errorf("the ledger has changed (-before +after):\n%s", diff)
	}
}

// TestUndo: a decision, or an id that the sheet gave, is taken back until something is built on it.
// Then the step is as it was before: uncertain, or not created.
func TestUndo(t *testing.T) {
	at := func(client, step string, to ledger.State, via string) ledger.Event {
		return ledger.Event{StepID: settleStep(client, step), Kind: settle.KindOf(step), To: to, Via: via, At: settleTime}
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
		"found by a look-up":            {events{{StepID: settleStep("bob", "client"), Kind: "client", To: ledger.Done, Via: ledger.ViaAdopted, ID: "x1", At: settleTime}}, nil, nil, "client", "not-decided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, c.before)
			settler := settle.Settler{Ledger: l, Run: "run-2"}
			if c.decide != nil {
				if err := settler.Settle(t.Context(), *c.decide); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Append(c.since...); err != nil {
				t.Fatal(err)
			}
			err := settler.Settle(t.Context(), decided("bob", c.step, settle.Undo))
			got := settleStates(t, l)["bob "+c.step]
			if list := (problem.List{}); errors.As(err, &list) {
				got = list[0].Code
			} else if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A word that cannot be a segment of a path is no id.
func TestSettleRefusesWhatIsNoID(t *testing.T) {
	settler := settle.Settler{Ledger: settleLedger(t), Run: "run-2"}
	var list problem.List
	if err := settler.Settle(t.Context(), created("ann", "claim/loan/2", "loan 2?")); !errors.As(err, &list) || list[0].Code != "not-an-id" {
		t.Errorf("got %v, want not-an-id", err)
	}
}

// The list leads to each uncertain step by the ids of its client and claim.
func TestUncertainAndDecided(t *testing.T) {
	l := settleLedger(t)
	environments := []string{"https://uat.example.com"}
	settler := settle.Settler{Ledger: l, Run: "run-2"}
	if err := settler.Settle(t.Context(), created("ann", "claim/loan/1", "claim-1"), decided("bob", "client", settle.GiveUp)); err != nil {
		t.Fatal(err)
	}
	list := func(steps []settle.UncertainStep, err error) map[string]string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, s := range steps {
			got[s.Client+" "+s.StepID.Step] = s.ClientID + " " + s.ClaimID
		}
		return got
	}
	want := map[string]string{"ann claim/loan/2": "contact-1 ", "ann activity/a@loan/1": "contact-1 claim-1", "ann link": "contact-1 "}
	if diff := cmp.Diff(want, list(settle.Uncertain(t.Context(), l, environments))); diff != "" {
		t.Errorf("uncertain (-want +got):\n%s", diff)
	}
	want = map[string]string{"ann claim/loan/1": " ", "bob client": " "}
	if diff := cmp.Diff(want, list(settle.Decided(t.Context(), l, environments))); diff != "" {
		t.Errorf("decided (-want +got):\n%s", diff)
	}
}

func TestKindOf(t *testing.T) {
	for key, want := range map[string]string{"client": "client", "link": "link", "link/loan/1": "link", "links": "", "claim/loan/1": "claim", "activity/a@client": "activity", "": "", "clients": "", "claim": ""} {
		if got := settle.KindOf(key); got != want {
			t.Errorf("KindOf(%q) = %q, want %q", key, got, want)
		}
	}
}
