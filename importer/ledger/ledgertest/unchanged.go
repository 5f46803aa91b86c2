package ledgertest

import (
	"fmt"
	"slices"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// doneClient records a client with a claim and a link, and returns the steps in the
// order of a plan, as the ledger returns them.
func doneClient(t testing.TB, l *ledger.Ledger, key string, claims int) []ledger.Step {
	t.Helper()
	id := func(mapping, step string) ledger.StepID {
		s := jane(mapping, step)
		s.Client = key
		return s
	}
	do(t, l.Append(finished(id("", "client"), ledger.KindClient, "c-"+key, "")...))
	order := []string{"client"}
	for i := range claims {
		step := fmt.Sprint("claim/loan/", i)
		do(t, l.Append(finished(id("loans", step), ledger.KindClaim, fmt.Sprint("k-", key, "-", i), "")...))
		order = append(order, step)
	}
	do(t, l.Append(finished(id("loans", "link"), ledger.KindLink, "", "https://go/"+key)...))
	known, err := l.Steps(t.Context(), id("", "").ClientKey, "loans")
	do(t, err)
	var steps []ledger.Step
	for _, step := range append(order, "link") {
		steps = append(steps, known[step])
	}
	return steps
}

// unchangedRow is the row that a plan of doneClient gets.
func unchangedRow(key string, client, row int, claims ...int) result.Row {
	r := result.Row{Row: row, Client: client, Status: result.Unchanged, ClientID: "c-" + key, URL: "https://go/" + key}
	for _, i := range claims {
		r.ClaimIDs = append(r.ClaimIDs, fmt.Sprint("k-", key, "-", i))
	}
	return r
}

func add(t testing.TB, l *ledger.Ledger, u ledger.Unchanged) {
	t.Helper()
	ok, err := l.AddUnchanged("r1", u)
	do(t, err)
	if !ok {
		t.Fatalf("the rows of client %d cannot be made from the steps", u.Client)
	}
}

// testUnchangedRowsComeBack: rows and steps of unchanged clients, of skipped ones and
// of rows without a client come back in their order, between those that were
// recorded one by one, also after the ledger was closed.
func (s suite) testUnchangedRowsComeBack(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "x")
	do(t, l.StartRun(loans))
	ann, bob, eve := doneClient(t, l, "ann", 3), doneClient(t, l, "bob", 1), doneClient(t, l, "eve", 1)
	second := unchangedRow("ann", 1, 9, 1)
	second.Advice = "the claim of row 2"
	skipped := result.Row{Row: 4, Client: 3, Status: result.Skipped, Advice: "left out"}
	blank := result.Row{Row: 6, Status: result.Skipped, Advice: "the row is empty"}
	done := result.Row{Row: 5, Client: 4, Status: result.Done, ClientID: "c-eve"}
	add(t, l, ledger.Unchanged{Client: 2, Owner: bob[0].ClientKey, Steps: bob, Rows: []result.Row{unchangedRow("bob", 2, 3, 0)}})
	add(t, l, ledger.Unchanged{Client: 1, Owner: ann[0].ClientKey, Steps: ann, Rows: []result.Row{unchangedRow("ann", 1, 2, 0, 1, 2), second}})
	add(t, l, ledger.Unchanged{Rows: []result.Row{blank}})
	add(t, l, ledger.Unchanged{Client: 3, Owner: jane("", "").ClientKey, Rows: []result.Row{skipped}}) // not in the ledger yet
	do(t, l.AddRows("r1", eve[0].ClientKey, done))
	do(t, l.AddRunSteps("r1", 4, ledger.RunStep{StepID: eve[0].StepID, Kind: ledger.KindClient}))
	do(t, l.Flush())
	for _, when := range []string{"open", "opened again"} {
		same(t, when, collect(t, l.Rows(t.Context(), "r1", ledger.Newest)), []result.Row{
			unchangedRow("ann", 1, 2, 0, 1, 2), unchangedRow("bob", 2, 3, 0), skipped, done, blank, second})
		var lines []string
		for _, s := range collect(t, l.RunSteps(t.Context(), "r1", ledger.Newest)) {
			lines = append(lines, fmt.Sprintln(s.Number, s.Client, s.ClientKey, s.Step, s.Kind, s.State, s.ID, s.Attempts, s.Status))
		}
		same(t, when, lines, []string{
			"1 1 ann client client done c-ann 1 0\n", "2 1 ann claim/loan/0 claim done k-ann-0 1 0\n", "3 1 ann claim/loan/1 claim done k-ann-1 1 0\n",
			"4 1 ann claim/loan/2 claim done k-ann-2 1 0\n", "5 1 ann link link done  1 0\n",
			"6 2 bob client client done c-bob 1 0\n", "7 2 bob claim/loan/0 claim done k-bob-0 1 0\n", "8 2 bob link link done  1 0\n",
			"9 4 eve client client done c-eve 1 0\n"})
		rows, err := l.RowsOfClient(t.Context(), ann[0].ClientKey)
		do(t, err)
		same(t, when, rows, []ledger.RunRow{{Run: "r1", Result: result.Row{Row: 2, Client: 1, Status: result.Unchanged}},
			{Run: "r1", Result: result.Row{Row: 9, Client: 1, Status: result.Unchanged, Advice: second.Advice}}})
		rows, err = l.RowsOfClient(t.Context(), jane("", "").ClientKey)
		do(t, err)
		same(t, when, len(rows), 1)
		do(t, l.Close())
		l = s.open(t, dir, "x")
	}
}

// testUnchangedRefusesWhatDoesNotFollow: what the steps do not say is recorded row by
// row.
func (s suite) testUnchangedRefusesWhatDoesNotFollow(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
	steps := doneClient(t, l, "ann", 2)
	for what, change := range map[string]func(*ledger.Unchanged){
		"another status":         func(u *ledger.Unchanged) { u.Rows[0].Status = result.Done },
		"an error":               func(u *ledger.Unchanged) { u.Rows[0].Error = "“Town” differs" },
		"another client's id":    func(u *ledger.Unchanged) { u.Rows[0].ClientID = "c-0" },
		"a claim of nobody's":    func(u *ledger.Unchanged) { u.Rows[0].ClaimIDs[0] = "k-0" },
		"claims the other way":   func(u *ledger.Unchanged) { slices.Reverse(u.Rows[0].ClaimIDs) },
		"another url":            func(u *ledger.Unchanged) { u.Rows[0].URL = "" },
		"no rows":                func(u *ledger.Unchanged) { u.Rows = nil },
		"two statuses":           func(u *ledger.Unchanged) { u.Rows = append(u.Rows, u.Rows[0]); u.Rows[1].Status = result.Skipped },
		"a step of another time": func(u *ledger.Unchanged) { u.Steps[1].Ref = ledger.Ref{} },
		"a step that is open":    func(u *ledger.Unchanged) { u.Steps[1].To = ledger.Uncertain },
	} {
		u := ledger.Unchanged{Client: 1, Owner: steps[0].ClientKey, Steps: slices.Clone(steps), Rows: []result.Row{unchangedRow("ann", 1, 2, 0, 1)}}
		change(&u)
		if ok, err := l.AddUnchanged("r1", u); ok || err != nil {
			t.Errorf("%s: %v, %v", what, ok, err)
		}
	}
	do(t, l.Flush())
	same(t, "rows", len(collect(t, l.Rows(t.Context(), "r1", ledger.Newest))), 0)
}

// testUnchangedRowsAreNeverWrong: a row shows what it showed, or says what is gone.
func (s suite) testUnchangedRowsAreNeverWrong(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
	ann, bob := doneClient(t, l, "ann", 1), doneClient(t, l, "bob", 1)
	then := []result.Row{unchangedRow("ann", 1, 2, 0), unchangedRow("bob", 2, 3, 0)}
	add(t, l, ledger.Unchanged{Client: 1, Owner: ann[0].ClientKey, Steps: ann, Rows: then[:1]})
	add(t, l, ledger.Unchanged{Client: 2, Owner: bob[0].ClientKey, Steps: bob, Rows: then[1:]})
	do(t, l.Flush())
	event, err := l.LastEvent(t.Context())
	do(t, err)
	do(t, l.Append(ledger.Event{StepID: ann[1].StepID, To: ledger.Done, At: noon, Via: ledger.ViaByHand, ID: "k-corrected"}))
	do(t, l.Append(ledger.Event{StepID: bob[2].StepID, To: ledger.Done, At: noon, Via: ledger.ViaByHand, URL: "https://go/fresh"}))
	same(t, "as of the run", collect(t, l.Rows(t.Context(), "r1", event)), then)

	now := collect(t, l.Rows(t.Context(), "r1", ledger.Newest))
	same(t, "ids", now[0].ClientID+now[0].URL+fmt.Sprint(now[0].ClaimIDs), "[]")
	if now[0].Advice == "" || now[1].Advice == "" {
		t.Errorf("the rows do not say what is gone: %+v", now)
	}
	now[1].Advice, then[1].URL = "", ""
	same(t, "without the url", now[1], then[1])
}

// testForgetFindsTheRunsOfLists: the kept inputs of runs in whose lists a client
// stands, or a row without a client, hold the client.
func (s suite) testForgetFindsTheRunsOfLists(t *testing.T) {
	l := s.fresh(t)
	ann, bob := doneClient(t, l, "ann", 1), doneClient(t, l, "bob", 1)
	for _, r := range []struct {
		id   string
		what ledger.Unchanged
	}{
		{"hers", ledger.Unchanged{Client: 1, Owner: ann[0].ClientKey, Steps: ann, Rows: []result.Row{unchangedRow("ann", 1, 2, 0)}}},
		{"his", ledger.Unchanged{Client: 1, Owner: bob[0].ClientKey, Steps: bob, Rows: []result.Row{unchangedRow("bob", 1, 2, 0)}}},
		{"nobody's", ledger.Unchanged{Rows: []result.Row{{Row: 2, Status: result.Skipped}}}},
	} {
		made := loans
		made.ID, made.KeptInput = r.id, "inputs/"+r.id
		do(t, l.StartRun(made))
		ok, err := l.AddUnchanged(r.id, r.what)
		do(t, err)
		same(t, r.id, ok, true)
		made.Finished = noon
		do(t, l.FinishRun(made))
	}
	done, err := l.Forget(ann[0].ClientKey, noon, keepNothing)
	do(t, err)
	var runs []string
	for _, r := range done.Runs {
		runs = append(runs, r.ID)
	}
	slices.Sort(runs)
	same(t, "runs", runs, []string{"hers", "nobody's"})
	same(t, "rows", done.Rows, 1)
}
