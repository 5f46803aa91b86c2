package importer

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		all.count(clientOutcome{Problems: problem.List{problem.At(at, "x", "is wrong")}}, 1, true)
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
		all.noteTrouble(clientOutcome{Rows: []result.Row{{Row: row, Status: status, FailedStep: "link"}},
			Steps: []stepOutcome{{Step: &mapping.Step{Key: "link", Title: "magic link"}, reason: "the service answered 422", Error: "personal"}}})
	}
	var got []int
	for _, tr := range all.troubled {
		got = append(got, tr.row.Number())
		if tr.step != "magic link" || tr.why != "the service answered 422" {
			t.Errorf("row %d: %+v", tr.row.Number(), tr)
		}
	}
	if d := cmp.Diff([]int{2, 4, 5, 6, 7}, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}
