package cli_test

import (
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/reports"
)

// TestCutTextIsNotImported: a text of the sheet that is too long for a
// workbook's cell is cut in the results. When these are run again it is no
// longer what was imported, so it is refused, and the new workbook keeps it.
func TestCutTextIsNotImported(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const mark = "… [cut here: a cell of a workbook cannot hold more]"
	cut := strings.Repeat("L", 32767-len([]rune(mark))) + mark
	if !reports.IsCut(cut) {
		t.Fatal("this is not how a text is cut")
	}
	s := newRerunScene(t)
	s.edit(func(f *excelize.File) {
		set(t, f, "Amount", 4, 250.25)
		set(t, f, "Name", 4, cut)
	})
	for range 2 {
		p := s.rerun()
		if p.code != 4 || p.summary.Rows.Invalid != 1 || p.summary.Rows.Done != 0 {
			t.Fatalf("exit code %d, rows %+v\n%s", p.code, p.summary.Rows, p.err)
		}
		if !strings.Contains(p.err, "holds an error") || strings.Contains(p.err, "LLL") {
			t.Errorf("the problem does not speak of the cell alone:\n%.300s", p.err)
		}
		if got := shown(t, s.results())["c3@example.com"]["Name"]; got != cut {
			t.Errorf("the new workbook has %d characters of the text", len(got))
		}
	}
	s.createdOnce(all("c1@example.com", "00901"), all("c2@example.com", "00902"), client4)
}
