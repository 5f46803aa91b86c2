package mapping_test

import (
	"testing"

	"claimsheet/mapping/cell"
)

const emptyTexts = "sheet: {empty: [N/A, n/a, \"-\", TBC, \"0\", \"#N/A\"]}\n"

// What sheet.empty lists is empty wherever a cell is read.
func TestEmptyTexts(t *testing.T) {
	const client = "name: n\napi: v2\nworkflow: {name: w, template_identifier: t}\nclient: {key: No, lookup: {email: Mail, phone: {column: Tel, format: raw}}, fields: {"
	const claims = "}}\nclaims: [{key: C, name: \"{C} {A}\", when: has(\"C\")}]\n"
	header := "No | Mail | Tel | C | A"
	runPlans(t, []planCase{
		{
			name:    "fields, look-ups, conditions and names",
			mapping: emptyTexts + client + "a: A, first: {first_of: [A, No]}, text: {text: \"{A}-{No}\"}, expr: {expr: 'has(\"A\") ? 1 : 2', type: Number}, col: {expr: 'col(\"A\")'}, other: {column: A, default: none}" + claims,
			sheet:   []string{header, "1 | n/a | 5 | C1 | N/A", "2 | a@b.example | - | - | TBC"},
			want: []string{
				`1 n "1" [2]`, `client [2] first="1" text="-1" expr=2 other="none"`, `claim/claim/C1 [2] C1`, `link [2]`,
				`2 n "2" [3]`, `client [3] first="2" text="-2" expr=2 other="none"`, `link [3]`,
			},
		},
		{
			name:    "upper and lower case differ, white space around does not, parts do not match",
			mapping: emptyTexts + client + "a: A" + claims,
			sheet:   []string{header, "1 | | | | N/a", "2 | | | | tbc", "3 | | | | \u00a0TBC\u200b", "4 | | | | N/A yet"},
			want: []string{
				`1 n "1" [2]`, `client [2] a="N/a"`, `link [2]`,
				`2 n "2" [3]`, `client [3] a="tbc"`, `link [3]`,
				`3 n "3" [4]`, `client [4]`, `link [4]`,
				`4 n "4" [5]`, `client [5] a="N/A yet"`, `link [5]`,
			},
		},
		{
			name:    "keys and required cells",
			mapping: emptyTexts + client + "a: {column: A, required: true}" + claims + "activities: [{template: T, on: claim, attributes: {x: {column: A, required: true}}}]",
			service: service(template("T", "x:Text")),
			sheet:   []string{header, "N/A | a@b.example | | | x", "1 | | | C1 | TBC"},
			want: []string{
				`1 n "1" [3]`,
				"Leads!3: “T” would be sent without attributes: all its cells are empty [no-attributes]",
				"Leads!E3: A is empty, and “a” is required [required]",
				"Leads!E3: A is empty, and “x” is required [required]",
				`0  "" [2]`,
				"Leads!A2: No is empty; it is part of the client key [empty-key]",
			},
		},
	})
}

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
