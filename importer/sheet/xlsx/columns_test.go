package xlsx_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet/sheettest"
)

// Hidden columns are known, however the file spells them; what is no column hides
// none, and the rows are read all the same.
func TestHiddenColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cols string
		want []int
	}{
		"none":       {"", nil},
		"seen":       {`<cols><col min="1" max="3" width="9"/><col min="2" max="2" hidden="0"/></cols>`, nil},
		"some":       {`<cols><col min="2" max="3" hidden="1"/><col hidden="true" max="5" min="5"/></cols>`, []int{1, 2, 4}},
		"no columns": {`<cols><col hidden="1"/><col min="0" max="0" hidden="1"/><col min="3" max="2" hidden="1"/><col min="16385" max="99999" hidden="1"/><col min="x" max="y" hidden="1"/></cols>`, nil},
		"a far end":  {`<cols><col min="16383" max="4000000000" hidden="1"/></cols>`, []int{16382, 16383}},
		"not a word": {`<cols><col min="1" max="1" hidden="perhaps"/></cols>`, nil},
		"elsewhere":  {`<sheetViews><sheetView><pane><col min="1" max="1" hidden="1"/></pane></sheetView></sheetViews>`, nil},
		"said twice": {`<cols><col min="1" max="16384" hidden="1"/><col min="1" max="16384" hidden="1"/></cols>`, upTo(16_384)},
		"a prefix":   {`<x:cols xmlns:x="y"><x:col min="1" max="1" hidden="1"/></x:cols>`, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			worksheet := `<worksheet>` + c.cols + `<sheetData><row r="1"><c t="str"><v>Name</v></c></row><row r="2"><c t="str"><v>Ann</v></c></row></sheetData></worksheet>`
			got, records, err := read(sheettest.Save(t, "leads.xlsx", sheettest.Workbook(worksheet).Zip()), options{HeaderRow: 1})
			if err != nil || len(records) != 1 {
				t.Fatalf("%d rows, %v", len(records), err)
			}
			if diff := cmp.Diff(c.want, got.HiddenColumns); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
