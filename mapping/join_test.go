package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
)

// noted are the warnings about cells, as check, dry run and run say them.
func noted(t *testing.T, b *mapping.Binding, rows ...mapping.ConvertedRow) string {
	t.Helper()
	var notes mapping.CellNotes
	for _, row := range rows {
		notes.Add(row.Notes)
	}
	wrong, warnings := b.CheckCells(notes)
	if len(wrong) > 0 {
		t.Errorf("problems:\n%s", report(wrong))
	}
	return report(warnings)
}

// join leaves out what is empty, text does not, and says so once.
func TestJoinLeavesOutWhatIsEmpty(t *testing.T) {
	sheet, records := leads("No | Line 1 | Line 2 | Town",
		"1 | 2 High Street | | Leeds", "2 | | | Leeds", "3 | | | ", "4 | Flat 1 | 2 High Street | Leeds", "4 | Flat 1 | | ")
	b := mustBind(t, `name: a
api: v1
client:
  key: No
  existing: create
  fields:
    no: No
    usual: {join: [Line 1, Line 2, Town]}
    own: {join: [Line 1, Line 2, Town], with: " / ", default: unknown}
    text: {text: "{Line 1}, {Line 2}, {Town}"}
`, sheet, nil)
	want := []string{
		`1 a "1" [2]`, `client [2] no="1" usual="2 High Street, Leeds" own="2 High Street / Leeds" text="2 High Street, , Leeds"`,
		`2 a "2" [3]`, `client [3] no="2" usual="Leeds" own="Leeds" text=", , Leeds"`,
		`3 a "3" [4]`, `client [4] no="3" own="unknown"`,
		`4 a "4" [5 6]`, `client [5 6] no="4" usual="Flat 1, 2 High Street, Leeds" own="Flat 1 / 2 High Street / Leeds" text="Flat 1, 2 High Street, Leeds"`,
	}
	if d := cmp.Diff(want, outlines(planAll(b, records))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	const warning = "mapping.yaml:10:18: a part of this text is empty in 3 rows, first in Leads!C2 (Line 2): what stands around it is sent all the same [empty-part]\n" +
		"    hint: join: [Line 1, Line 2, Town] in place of text leaves out what is empty, and with: says what stands between the rest\n"
	var rows []mapping.ConvertedRow
	for _, r := range records {
		rows = append(rows, b.Convert(r))
	}
	if d := cmp.Diff(warning, noted(t, b, rows...)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	one := strings.ReplaceAll(warning, "3 rows, first", "1 row")
	if d := cmp.Diff(one, noted(t, b, rows[0], rows[3])); d != "" {
		t.Errorf("one row, -want +got:\n%s", d)
	}
}
