package importer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// TestTallyIsBounded: of a sheet that is all wrong so many problems are held, and the others counted. The terminal names
// the first rows that failed, in the order of the sheet, and no more.
func TestTallyIsBounded(t *testing.T) {
	all, b := tally{most: 3}, bound(t, tableMapping)
	for row := 9; row > 1; row-- {
		o := clientOutcome{Rows: []result.Row{{Row: row, Status: result.Failed, FailedStep: "link"}},
			Steps:    []stepOutcome{{Step: &mapping.Step{Key: "link", Title: "magic link"}, reason: "the service answered 422", Error: "personal"}},
			Problems: problem.List{problem.At(problem.Where{Sheet: "Leads", Cell: fmt.Sprint("A", row), Row: row}, "x", "is wrong")}}
		if row == 3 {
			o.Rows[0].Status, o.Problems = result.Done, nil
		}
		all.count(o, b, 1)
	}
	var got []string
	for _, p := range all.listed() {
		got = append(got, p.Error())
	}
	for _, f := range all.failures {
		got = append(got, fmt.Sprint(f.Where.Row, " ", f.Message))
	}
	const failed = " failed at the magic link: the service answered 422"
	want := []string{"Leads!A7: is wrong [x]", "Leads!A8: is wrong [x]", "Leads!A9: is wrong [x]", "4 more problems are not listed one by one [more-problems]",
		"2" + failed, "4" + failed, "5" + failed, "6" + failed, "7" + failed}
	same(t, "problems and failures", want, got)
}

// The column Error of a row says once what one mistake about several of its cells is.
func TestInvalidRowSaysAMistakeOnce(t *testing.T) {
	at := func(cell string, row int, part bool) problem.Problem {
		p := problem.At(problem.Where{Sheet: "Leads", Cell: cell, Row: row}, "conflict", "this row and another differ in A, B")
		p.Part = part
		return p
	}
	plan := mapping.Plan{Number: 1, Rows: []cell.Row{2, 3}, Problems: problem.List{at("A2", 2, false), at("B2", 2, true), at("A3", 3, true), at("B3", 3, true)}}
	for _, r := range invalidOutcome(bound(t, tableMapping), plan, nil, "").Rows {
		if strings.Count(r.Error, "differ in A, B") != 1 {
			t.Errorf("row %d says: %s", r.Row, r.Error)
		}
	}
}

// TestClientBody writes dotted names as objects, and
// values as the service's types, in the mapping's order.
func TestClientBody(t *testing.T) {
	field := func(name string, v cell.Value) mapping.Value { return mapping.Value{Name: name, Value: v} }
	fields := []mapping.Value{field("address.code", textOf("R1")), field("name", textOf("Jane <&>")), field("address.town", textOf("L")),
		field("ok", cell.Value{Field: cell.BoolValue, Literal: "true"}), field("n", cell.Value{Field: cell.DoubleValue, Literal: "1.10"})}
	for want, fields := range map[string][]mapping.Value{
		`{}`: nil,
		`{"address":{"code":"R1","town":"L"},"name":"Jane <&>","ok":true,"n":1.10}`: fields,
	} {
		if got := string(clientBody(fields)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
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
		known := ledger.Step{Event: ledger.Event{State: tt.to, Via: tt.via}, Attempts: tt.attempts}
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
	must(t, err)
	defer l.Close()
	partner := ledger.ClientKey{Environment: "e", Space: "email", Client: "p@x.example"}
	if err := l.Append(
		ledger.Event{StepID: ledger.StepID{ClientKey: partner, Step: "client"}, Kind: ledger.KindClient, State: ledger.Done, Via: ledger.ViaAdopted, ID: "p", At: time.Now()},
		ledger.Event{StepID: ledger.StepID{ClientKey: partner, Mapping: "loans", Step: "activity/Details@contact"}, Kind: ledger.KindActivity, State: ledger.Sent, Run: "r", At: time.Now()},
	); err != nil {
		t.Fatal(err)
	}
	j, cells := &Job{Ledger: l, Binding: b, Runs: []string{"r"}, Environment: "e"}, make([]cell.Cell, 3)
	for i, s := range []string{"a@x.example", "p@x.example", "1"} {
		cells[i] = cell.Cell{Kind: cell.Text, Raw: s, Shown: s}
	}
	r := j.readClient(b.Plan(1, []mapping.ConvertedRow{b.Convert(cell.Record{Row: 2, Cells: cells})}))
	i := slices.IndexFunc(r.decisions, func(d decision) bool { return d.Step.On != "" })
	if r.failed != nil || i < 0 || r.decisions[i].Status != "" {
		t.Errorf("decisions %+v, %v", r.decisions, r.failed)
	}
}
