package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// TestStrayCellFarToTheRight: a cell in one of a sheet's last columns makes a
// wide workbook, in no more time than another, and one that leaves no room for
// Claimsheet's columns is refused before anything is sent.
func TestStrayCellFarToTheRight(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(1)
	stray := func(column string) [][]any {
		n, err := excelize.ColumnNameToNumber(column)
		if err != nil {
			t.Fatal(err)
		}
		wide := slices.Clone(rows)
		wide[0] = append(slices.Clone(rows[0]), make([]any, n-len(rows[0]))...)
		wide[0][n-1] = "stray"
		return wide
	}
	s := newScene(t, stepThree, stray("XEW"))
	p := s.mustRun(2)
	if len(p.calls) > 1 || !strings.Contains(p.err, "Sheet1!XEW1: the sheet reaches to its column XEW") {
		t.Errorf("calls:\n%s\n%s", transcript(p.calls), p.err)
	}
	s.sheet(stray("XEV"))
	s.mustRun(0)
	if got := s.results()[0]["Import status"]; got != "done" {
		t.Errorf("the row is %q", got)
	}
}
