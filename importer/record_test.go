package importer

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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
