package mapping_test

import (
	"testing"

	"claimsheet/mapping/cell"
)

const emptyTexts = "sheet: {empty: [N/A, n/a, \"-\", TBC, \"0\", \"#N/A\"]}\n"

// What a person reads counts, whatever kind of cell it is, as in a CSV export.
func TestEmptyTextsOfEveryKind(t *testing.T) {
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"No", "A"}}
	b := mustBind(t, emptyTexts+fields("a: A"), sheet, nil)
	for in, want := range map[cell.Cell]string{
		number("0"):                                              `client [2]`,
		formatted("0", " -   ", "_-* \"-\"_-"):                   `client [2]`,
		formatted("0", "0.00", "0.00"):                           `client [2] a="0.00"`,
		{Kind: cell.Error, Raw: "#N/A", Shown: "#N/A"}:           `client [2]`,
		{Kind: cell.Text, Raw: "TBC" /* hidden by its format */}: `client [2]`,
	} {
		cells := []cell.Cell{text("1"), in}
		if got := outlines(planAll(b, []cell.Record{{Row: 2, Cells: cells}})); got[1] != want || cells[1] != in {
			t.Errorf("%+v: %q, want %q; the reader's cell is %+v", in, got, want, cells[1])
		}
	}
}
