package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping"
)

// The header is looked for below a title, and stays where it is everywhere
// else.
func TestLikelyHeader(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"title above":            {[]string{"Leads October", "Lead no | Name | Amount", "L1 | Ann | 5"}, 2},
		"title and a blank cell": {[]string{"Leads | October | | |", "as of today", "Lead no | Name | Amount | Town | Note", "L1 | Ann | 5 | York | x"}, 3},
		"no title":               {[]string{"Lead no | Name | Amount", "L1 | Ann | 5"}, 1},
		"half the headers":       {[]string{"Lead no | Name", "L1 | Ann | York | x"}, 1},
		"one column":             {[]string{"Lead no", "L1", "L2"}, 1},
		"a note beside":          {[]string{"Lead no", "L1 | a note", "L2"}, 1},
		"no header anywhere":     {[]string{"Leads", "L1 | 5 | 6", "L2 | 7 | 8"}, 1},
		"nothing below":          {[]string{"Leads"}, 1},
	} {
		sheet, records := leads(c.lines...)
		if got := mapping.LikelyHeader(sheet, records); got != c.want {
			t.Errorf("%s: row %d, want %d", name, got, c.want)
		}
	}
}

// A row of totals and a header that is repeated make no client.
func TestRowsThatAreNoLeads(t *testing.T) {
	const source = "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No, name: {column: Name}}}\n"
	for line, want := range map[string]string{
		"TOTAL |  | 1,250.50":         "Leads!A2: No labels a row of totals, which is no lead [totals-row]",
		"Summe: | |":                  "Leads!A2: No labels a row of totals, which is no lead [totals-row]",
		" | Grand total | £12":        "Leads!B2: Name labels a row of totals, which is no lead [totals-row]",
		"3 | Total | 12":              "Leads!B2: Name labels a row of totals, which is no lead [totals-row]",
		"no | NAME | Amount":          "Leads!A2: No stands here again with the other headers: the row is no lead [header-row]",
		"Total | Ann | 5":             "",
		"Total | | 07911 123456":      "",
		"Total | | +447911123456":     "",
		"Total Finance | | 5":         "",
		"L1 | Total | 5":              "",
		"No | Ann | Amount":           "",
		"Total | | 1980-05-01 10:00":  "",
		"L1 |  |":                     "",
		"Totals of the heart | Ann |": "",
	} {
		sheet, records := leads("No | Name | Amount", line)
		b := mustBind(t, source, sheet, nil)
		var got []string
		for _, p := range b.Read(records[0]).Problems {
			if mapping.IsNoLead(p) {
				got = append(got, p.Error())
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// What the hint at a row of totals says leaves the row out.
func TestTotalsCanBeLeftOut(t *testing.T) {
	const source = "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\n"
	sheet, records := leads("No | Amount", "Total: | 5")
	_, when, _ := strings.Cut(mustBind(t, source, sheet, nil).Read(records[0]).Problems[0].Hint, "leave it out: ")
	if got := mustBind(t, source+when+"\n", sheet, nil).Read(records[0]); got.Skipped != mapping.NotWhen {
		t.Errorf("with %s the row is not left out: %v", when, got.Problems)
	}
}
