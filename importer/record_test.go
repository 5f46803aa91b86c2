package importer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
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
func TestFirstFailuresAreBounded(t *testing.T) {
	t.Parallel()
	var all tally
	for row := 9; row > 1; row-- {
		status := result.Failed
		if row == 3 {
			status = result.Done
		}
		o := clientOutcome{Rows: []result.Row{{Row: row, Status: status, FailedStep: "link"}},
			Steps: []stepOutcome{{Step: &mapping.Step{Key: "link", Title: "magic link"}, reason: "the service answered 422", Error: "personal"}}}
		all.count(o, 1)
	}
	var got []int
	for _, f := range all.failures {
		got = append(got, f.row.Number())
		if f.text != "failed at the magic link: the service answered 422" {
			t.Errorf("row %d: %+v", f.row.Number(), f)
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
	if err != nil || known["claim/c/1"].ID != "id-1" || known["claim/c/2"].To != ledger.Uncertain {
		t.Errorf("the ledger has %+v, %v", known, err)
	}
}

// TestDoubted: an attempt may have worked if it is uncertain, or if a person had to decide about it.
func TestDoubted(t *testing.T) {
	for _, tt := range []struct {
		to       ledger.State
		via      string
		attempts int
		want     bool
	}{
		{"", "", 0, false},
		{ledger.Refused, ledger.ViaAnswer, 1, false},
		{ledger.Refused, ledger.ViaByHand, 0, false}, // an id of the sheet was withdrawn
		{ledger.Refused, ledger.ViaByHand, 1, true},
		{ledger.Uncertain, "", 1, true},
		{ledger.Uncertain, ledger.ViaWorkbook, 0, true},
	} {
		known := ledger.Step{Event: ledger.Event{To: tt.to, Via: tt.via}, Attempts: tt.attempts}
		if got := (decision{known: known}).isDoubted(); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

// TestActivityInFlight: an activity on a contact that another client of the run is sending is decided
// about when that has ended.
func TestActivityInFlight(t *testing.T) {
	b := bound(t, tableMapping+`
contacts: [{id: partner, key: Phone, lookup: {email: Phone}, administrator: false, fields: {email: Phone}}]
workflow: {name: w, template_identifier: t}
activities: [{template: Details, on: partner, status: Open}]
`)
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	partner := ledger.ClientKey{Environment: "e", Space: "email", Client: "p@x.example"}
	for _, e := range []ledger.Event{
		{StepID: ledger.StepID{ClientKey: partner, Step: "client"}, Kind: ledger.KindClient, To: ledger.Done, Via: ledger.ViaAdopted, ID: "p"},
		{StepID: ledger.StepID{ClientKey: partner, Mapping: "loans", Step: "activity/Details@contact"}, Kind: ledger.KindActivity, To: ledger.Sent, Run: "r"},
	} {
		if e.At = time.Now(); l.Append(e) != nil {
			t.Fatal("the events are wrong")
		}
	}
	j, cells := &Job{Ledger: l, Binding: b, Runs: []string{"r"}, Environment: "e"}, make([]cell.Cell, 3)
	for i, s := range []string{"a@x.example", "p@x.example", "1"} {
		cells[i] = cell.Cell{Kind: cell.Text, Raw: s, Shown: s}
	}
	r := j.readClient(b.Plan(1, []mapping.ConvertedRow{b.Convert(cell.Record{Row: 2, Cells: cells})}))
	i := slices.IndexFunc(r.decisions, func(d decision) bool { return d.step.On != "" })
	if r.failed != nil || i < 0 || r.decisions[i].action != send {
		t.Errorf("decisions %+v, %v", r.decisions, r.failed)
	}
}
