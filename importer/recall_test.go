package importer_test

import (
	"iter"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

const recallEnvironment = "https://uat.example.test"

// newRecall is a Recall over an empty ledger, for a mapping keyed by e-mail.
func newRecall(t *testing.T, api string) *importer.Recall {
	t.Helper()
	m, found := mapping.Parse("mapping.yaml", []byte("name: loans\napi: "+api+"\nclient: {key: E-mail, lookup: {email: E-mail}, fields: {email: E-mail}}\n"))
	if len(found) > 0 {
		t.Fatal(found)
	}
	binding, found := mapping.Bind(m, &cell.Sheet{Name: "Results", HeaderRow: 1, Header: []string{"E-mail"}}, nil, "2026-11-20")
	if len(found) > 0 {
		t.Fatal(found)
	}
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &importer.Recall{Ledger: l, Environment: recallEnvironment, Binding: binding}
}

func lines(all ...importer.WorkbookStep) iter.Seq2[importer.WorkbookStep, error] {
	return func(yield func(importer.WorkbookStep, error) bool) {
		for i, line := range all {
			line.Number = i + 1
			if !yield(line, nil) {
				return
			}
		}
	}
}

// fact is what the ledger has of a step.
type fact struct {
	State   ledger.State
	ID, URL string
}

// TestRecallTakesOver: what a new ledger makes of every state that a workbook
// can show. What surely does not exist stays unknown, and may be sent.
func TestRecallTakesOver(t *testing.T) {
	for _, test := range []struct {
		name, api string
		line      importer.WorkbookStep
		want      fact
	}{
		{"planned", "v2", importer.WorkbookStep{Step: "client", State: "planned"}, fact{}},
		{"failed", "v2", importer.WorkbookStep{Step: "client", State: "failed"}, fact{}},
		{"not sent", "v2", importer.WorkbookStep{Step: "client", State: "not sent"}, fact{}},
		{"a v2 client", "v2", importer.WorkbookStep{Step: "client", State: "done", ID: "c-1"}, fact{ledger.Done, "c-1", ""}},
		{"a v1 client", "v1", importer.WorkbookStep{Step: "client", State: "done", ID: "c-1"}, fact{ledger.Done, "c-1", "https://go.example.test"}},
		{"a client without its id", "v2", importer.WorkbookStep{Step: "client", State: "done"}, fact{ledger.Uncertain, "", ""}},
		{"a claim without its id", "v2", importer.WorkbookStep{Step: "claim/loan/1", State: "done"}, fact{ledger.Uncertain, "", ""}},
		{"an activity", "v2", importer.WorkbookStep{Step: "activity/a@client", State: "done"}, fact{ledger.Done, "", ""}},
		{"a link", "v2", importer.WorkbookStep{Step: "link", State: "done"}, fact{ledger.Done, "", "https://go.example.test"}},
		{"in flight", "v2", importer.WorkbookStep{Step: "client", State: "intent"}, fact{ledger.Uncertain, "", ""}},
		{"uncertain", "v2", importer.WorkbookStep{Step: "claim/loan/1", State: "uncertain"}, fact{ledger.Uncertain, "", ""}},
		{"parked", "v2", importer.WorkbookStep{Step: "client", State: "parked"}, fact{ledger.Parked, "", ""}},
		{"given up", "v2", importer.WorkbookStep{Step: "link", State: "given up"}, fact{ledger.GivenUp, "", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRecall(t, test.api)
			test.line.Client = "ann@example.test"
			if err := r.CheckSteps(t.Context(), lines(test.line)); err != nil {
				t.Fatal(err)
			}
			if wanted := test.want.State != ""; wanted != (r.Missing == 1) {
				t.Errorf("%d steps are missing", r.Missing)
			}
			urls := map[mapping.Identity]string{{Space: "email", Key: "ann@example.test"}: "https://go.example.test"}
			for range 2 { // a take-over that was cut short is begun again
				if err := r.TakeOver(t.Context(), lines(test.line), "run-1", urls); err != nil {
					t.Fatal(err)
				}
			}
			owner := ledger.ClientKey{Environment: recallEnvironment, Space: "email", Client: "ann@example.test"}
			known, err := r.Ledger.Steps(t.Context(), owner, "loans")
			if err != nil {
				t.Fatal(err)
			}
			step := known[test.line.Step]
			if diff := cmp.Diff(test.want, fact{step.To, step.ID, step.URL}); diff != "" {
				t.Errorf("the ledger's step (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecallTakesOneIDOnce: an id that was copied down a column of the workbook,
// or a redirect url, is the first step's; the others are uncertain without it.
func TestRecallTakesOneIDOnce(t *testing.T) {
	r := newRecall(t, "v2")
	var all []importer.WorkbookStep
	urls := map[mapping.Identity]string{}
	for _, client := range []string{"ann@example.test", "bob@example.test"} {
		urls[mapping.Identity{Space: "email", Key: client}] = "https://go.example.test"
		all = append(all, importer.WorkbookStep{Client: client, Step: "client", State: "done", ID: "c-1"},
			importer.WorkbookStep{Client: client, Step: "link", State: "done"},
			importer.WorkbookStep{Client: client, Step: "activity/a@client", State: "done"})
	}
	for range 2 {
		if err := r.TakeOver(t.Context(), lines(all...), "run-1", urls); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]fact{
		"ann@example.test client": {ledger.Done, "c-1", ""}, "ann@example.test link": {ledger.Done, "", "https://go.example.test"},
		"bob@example.test client": {ledger.Uncertain, "", ""}, "bob@example.test link": {ledger.Uncertain, "", ""},
		"ann@example.test activity/a@client": {ledger.Done, "", ""}, "bob@example.test activity/a@client": {ledger.Done, "", ""},
	}
	got := map[string]fact{}
	for _, client := range []string{"ann@example.test", "bob@example.test"} {
		known, err := r.Ledger.Steps(t.Context(), ledger.ClientKey{Environment: recallEnvironment, Space: "email", Client: client}, "loans")
		if err != nil {
			t.Fatal(err)
		}
		for key, step := range known {
			got[client+" "+key] = fact{step.To, step.ID, step.URL}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the ledger's steps (-want +got):\n%s", diff)
	}
}

// TestRecallComplete: sorted lines are all there; a line that is gone or was
// copied over another is noticed.
func TestRecallComplete(t *testing.T) {
	for name, test := range map[string]struct {
		numbers []int
		written int
		want    bool
	}{
		"sorted":        {[]int{3, 1, 2}, 3, true},
		"none":          {nil, 0, true},
		"the last gone": {[]int{1, 2}, 3, false},
		"the first":     {[]int{2, 3}, 3, false},
		"copied over":   {[]int{1, 1, 3}, 3, false},
		"no number":     {[]int{1, 0, 3}, 3, false},
		"not told":      {nil, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecall(t, "v2")
			read := func(yield func(importer.WorkbookStep, error) bool) {
				for _, n := range test.numbers {
					if !yield(importer.WorkbookStep{Number: n, Client: "ann@example.test", Step: "client", State: "planned"}, nil) {
						return
					}
				}
			}
			if err := r.CheckSteps(t.Context(), read); err != nil {
				t.Fatal(err)
			}
			if got := r.Complete(test.written); got != test.want {
				t.Errorf("complete: %v, want %v", got, test.want)
			}
		})
	}
}
