package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// A sheet that is full goes on in the next one, with its header again. The
// limit is lowered here, because a million rows take too long.
func TestFullSheetGoesOnInTheNext(t *testing.T) {
	f := excelize.NewFile()
	defer f.Close()
	table := &table{book: &workbook{File: f, styles: newStyles(f)}, name: "Steps", headers: []string{"Number"}, maxRows: 3}
	if err := table.begin(); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if err := table.add([]any{n + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.finish(); err != nil {
		t.Fatal(err)
	}
	buffer, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	read, err := excelize.OpenReader(buffer)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	got := map[string][][]string{}
	for _, sheet := range read.GetSheetList() {
		if got[sheet], err = read.GetRows(sheet); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][][]string{
		"Steps":   {{"Number"}, {"1"}, {"2"}},
		"Steps 2": {{"Number"}, {"3"}, {"4"}},
		"Steps 3": {{"Number"}, {"5"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
