package reports

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// made makes a workbook and opens it.
func made(t *testing.T, make func(*workbook) error) *excelize.File {
	t.Helper()
	var file bytes.Buffer
	w := newWorkbook(&file)
	defer w.abandon()
	if err := make(w); err != nil {
		t.Fatal(err)
	}
	if err := w.complete(); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A sheet that is full goes on in the next one, with its header again. The
// limit is lowered here, because a million rows take too long.
func TestFullSheetGoesOnInTheNext(t *testing.T) {
	f := made(t, func(w *workbook) error {
		table := &table{book: w, name: "Steps", headers: []string{"Number"}, layout: layout{widths: []float64{10}}, maxRows: 3}
		if err := table.start(); err != nil {
			return err
		}
		for n := range 5 {
			if err := table.line(); err != nil {
				return err
			}
			table.integer(0, n+1)
			if err := table.end(); err != nil {
				return err
			}
		}
		return table.close()
	})
	got := map[string][][]string{}
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		got[sheet] = rows
	}
	want := map[string][][]string{
		"Steps":   {{"Number"}, {"1"}, {"2"}},
		"Steps 2": {{"Number"}, {"3"}, {"4"}},
		"Steps 3": {{"Number"}, {"5"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, ref := range []string{"$A$1:$A$3", "$A$1:$A$3", "$A$1:$A$2"} {
		if got, want := f.GetDefinedName()[i].RefersTo, fmt.Sprintf("'%s'!%s", f.GetSheetList()[i], ref); got != want {
			t.Errorf("the filter is on %s, want %s", got, want)
		}
	}
}
