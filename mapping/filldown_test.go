package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
)

// An empty cell takes the one above: not that of another client, a row of totals or a
// repeated header, and not over a row that was taken out of a results workbook. The record's own cells stay.
func TestFillDown(t *testing.T) {
	const source = `name: a
api: v2
sheet: {fill_down: [Client, E-mail], empty: [N/A]}
client: {key: Client, existing: create, fields: {no: Client, email: {column: E-mail, type: Email}}}
claims: [{key: "Ref [D]", name: "{Amount} {Ref [D]}"}]
workflow: {name: w}
`
	sheet, records := leads("Client | E-mail | Amount | Ref | Ref ",
		"Ann | a@x.org | 5 | 1 | x", " | | 6 | 2 | ", " | | | | ", " | b@x.org | 7 | 3 | ", " | N/A | 7 | 3 | ", "Ann | | 7 | 3 | ", "Bea | | 8 | 4 | ",
		" | | 9 | 5 | ", "Total | | 35 | | ", " | no address | 1 | 6 |", "Client | E-mail | Amount | Ref | Ref", " | | 2 | 7 | ")
	b := mustBind(t, source, sheet, nil)
	fill := mapping.FillDown(b.Mapping().FillDown(), sheet)
	before := cmp.Diff(nil, records)
	for i := range records {
		records[i] = fill(records[i])
	}
	golden(t, "testdata/lang/fill-down.out", strings.Join(outlines(planAll(b, records)), "\n")+"\n")
	for i := range records {
		records[i].Above = nil
	}
	if cmp.Diff(nil, records) != before {
		t.Error("the records' own cells have changed")
	}

	// The row of the sheet's row 3 was taken out.
	_, copied := leads("Client | E-mail | Amount | Ref | Ref ", "Ann | a@x.org | 5 | 1 | x", " | | 7 | 3 | ")
	copied[0].Source, copied[1].Source = 2, 4
	fill = mapping.FillDown(b.Mapping().FillDown(), sheet)
	if fill(copied[0]); len(fill(copied[1]).Above) > 0 {
		t.Error("a cell is taken from over a gap")
	}
}
