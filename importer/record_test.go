package importer

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// A sheet that is all wrong does not fill the memory: so many problems are
// held, the others counted.
func TestProblemsAreBounded(t *testing.T) {
	all := tally{most: 3}
	for row := 9; row > 4; row-- {
		at := problem.Where{Sheet: "Leads", Cell: fmt.Sprint("A", row), Row: row}
		all.count(clientOutcome{Problems: problem.List{problem.At(at, "x", "is wrong")}}, 1)
	}
	var got []string
	for _, p := range all.listed() {
		got = append(got, p.Error())
	}
	want := []string{"Leads!A7: is wrong [x]", "Leads!A8: is wrong [x]", "Leads!A9: is wrong [x]", "2 more problems are not listed one by one [more-problems]"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
}

// The terminal names the first rows that failed, in the order of the sheet, and no more.
func TestTroubledRowsAreBounded(t *testing.T) {
	t.Parallel()
	var all tally
	for row := 9; row > 1; row-- {
		status := result.Failed
		if row == 3 {
			status = result.Done
		}
		o := clientOutcome{Rows: []result.Row{{Row: row, Status: status, FailedStep: "link"}},
			Steps: []stepOutcome{{Step: &mapping.Step{Key: "link", Title: "magic link"}, reason: "the service answered 422", Error: "personal"}}}
		o.Failures = o.failures()
		all.count(o, 1)
	}
	var got []int
	for _, f := range all.failures {
		got = append(got, f.Row.Number())
		if f.Text != "failed at the magic link: the service answered 422" {
			t.Errorf("row %d: %+v", f.Row.Number(), f)
		}
	}
	if d := cmp.Diff([]int{2, 4, 5, 6, 7}, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// TestRefusedCallKeepsOutcomes: an event that the ledger refuses takes no other event's id
// with it.
func TestRefusedCallKeepsOutcomes(t *testing.T) {
	t.Parallel()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	event := func(step string, to ledger.State, id string) ledger.Event {
		e := ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Environment: "https://uat", Space: "email", Client: "jane@example.com"}, Mapping: "m", Step: "claim/c/" + step},
			To: to, At: time.Now(), Kind: ledger.KindClaim, ID: id}
		if id != "" {
			e.Via, e.Status = ledger.ViaAnswer, 201
		}
		return e
	}
	j := &Job{Ledger: l}
	for _, e := range []ledger.Event{event("1", ledger.Sent, ""), event("2", ledger.Sent, "")} {
		if err := j.commit([]ledger.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.commit([]ledger.Event{event("1", ledger.Done, "id-1"), event("2", ledger.Sent, "")}); !errors.Is(err, ledger.ErrTransition) {
		t.Errorf("a second intent: got %v", err)
	}
	known, err := l.Steps(t.Context(), event("1", "", "").ClientKey, "m")
	if err != nil || known["claim/c/1"].ID != "id-1" || known["claim/c/2"].To != ledger.Sent {
		t.Errorf("the ledger has %+v, %v", known, err)
	}
}
