package mapping_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// fields is a version 1 mapping of client fields; each line is "name: value".
func fields(lines ...string) string {
	return "name: n\napi: v1\nclient:\n  key: No\n  existing: create\n  fields:\n    " + strings.Join(lines, "\n    ") + "\n"
}

func TestReadValues(t *testing.T) {
	runPlans(t, []planCase{
		{
			name: "sources", mapping: fields("column: A", "value: {value: 7, type: Number}", "truth: {value: true, type: Checkbox}", `text: {text: "{A}-{B} {{C}}"}`, "first: {first_of: [A, B, C]}", `expr: {expr: 'num("C") * 0.1', type: Number}`, "day: {expr: 'date(\"D\")', type: Date, output: date}",
				"at: {column: D, type: DateTime, format: yyyy-mm-dd}") + "sheet: {timezone: Europe/London}\n",
			sheet: []string{"No | A | B | C | D", "1 | | b | 3 | 1980-05-01"},
			want:  []string{`1 n "1" [2]`, `client [2] value=7 truth=true text="-b {C}" first="b" expr=0.3 day="1980-05-01" at="1980-04-30T23:00:00Z"`},
		},
		{
			name: "a text all of whose places are empty is left out, a default is not", mapping: fields(`text: {text: "Loan {A}"}`, `other: {text: "Loan {A}", default: none}`, "number: {column: A, type: Number, default: 0}"),
			sheet: []string{"No | A", "1 |"}, want: []string{`1 n "1" [2]`, `client [2] other="none" number=0`},
		},
		{
			name: "values and else", mapping: fields(`strict: {column: A, values: {LLOY: Lloyds, n/a: ""}}`, `loose: {column: A, values: {LLOY: Lloyds}, else: Other}`),
			sheet: []string{"No | A", "1 | LLOY", "2 | n/a", "3 | HSBC", "4 |"},
			want: []string{
				`1 n "1" [2]`, `client [2] strict="Lloyds" loose="Lloyds"`,
				`2 n "2" [3]`, `client [3] loose="Other"`,
				`3 n "3" [4]`, `Leads!B4: A is not listed in values; expected LLOY or n/a [value-unlisted]`,
				`4 n "4" [5]`, `client [5]`,
			},
		},
		{
			name: "required: each empty cell is named, a row that fills it counts for all", mapping: fields("a: {column: A, required: true}", "b: {first_of: [B, C], required: true}", "c: C"),
			sheet: []string{"No | A | B | C", "1 | | |", "2 | | b |", "2 | a | |"},
			want: []string{
				`1 n "1" [2]`, `Leads!B2: A is empty, and “a” is required [required]`, `Leads!C2: B is empty, and “b” is required [required]`,
				`2 n "2" [3 4]`, `client [3 4] a="a" b="b"`,
			},
		},
		{
			name: "every cell of every row is checked", mapping: fields("a: {column: A, type: Number}", "b: {column: B, type: Date}", "c: {column: C, type: Checkbox}"),
			sheet: []string{"No | A | B | C", "1 | x | y | z", "1 | v | |"},
			want: []string{
				`1 n "1" [2 3]`,
				`Leads!B2: A is not a number; expected one written like 1,234.5 [not-number]`,
				`Leads!C2: B is not a date; expected ISO 8601 (yyyy-mm-dd) [not-date]`,
				`Leads!D2: C is not a word of the check box; expected yes, y, true, 1, x or no, n, false, 0 [not-checkbox]`,
				`Leads!B3: A is not a number; expected one written like 1,234.5 [not-number]`,
			},
		},
	})
}

func TestReadKeys(t *testing.T) {
	byMail := "name: n\napi: v1\nclient: {key: Mail, lookup: {email: Mail}, fields: {mail: Mail, name: Name}}"
	runPlans(t, []planCase{
		{
			name: "an e-mail key that is empty or none", mapping: byMail, sheet: []string{"Mail | Name", "| Sam", "sam | Sam"},
			want: []string{
				`0  "" [2]`, `Leads!A2: Mail is empty; it is the client key [empty-key]`,
				`0  "" [3]`, `Leads!A3: Mail is not an e-mail address; expected one bare address, name@domain [not-email]`,
			},
		},
		{
			name: "key_space, also when part of the key is an e-mail address", mapping: "name: n\napi: v1\nclient: {key: [Mail, Name], key_space: crm, lookup: {email: Mail}, fields: {name: Name}}",
			sheet: []string{"Mail | Name", `A@b.example | S|m\`},
			want:  []string{`1 crm "A@b.example|S" [2]`, `client [2] name="S"`},
		},
		{
			name: "an empty part of a key", mapping: "name: n\napi: v2\nclient: {key: [A, B], existing: create, fields: {a: A}}\nclaims: [{key: [C, D], name: '{C}'}]",
			sheet: []string{"A | B | C | D", "| b | c |", "a | b | | d", "| | | "},
			want: []string{
				`1 n "a|b" [3]`, `Leads!C3: C is empty; it is part of the claim key [empty-key]`,
				`0  "" [2]`, `Leads!A2: A is empty; it is part of the client key [empty-key]`, `Leads!D2: D is empty; it is part of the claim key [empty-key]`,
				`skipped [4]`,
			},
		},
	})
}

func TestPlanRowsThatDisagree(t *testing.T) {
	const mail = "name: n\napi: v2\nclient: {key: No, lookup: {email: Mail}, fields: {name: Name, born: {column: Born, type: Date}}}\nclaims: [{key: C, name: '{Lender}'}]\n"
	header := "No | Mail | Name | Born | C | Lender"
	runPlans(t, []planCase{
		{
			name: "every row that differs is named", mapping: mail,
			sheet: []string{header, "1 | | Sam | | c | L", "1 | | Tom | | c |", "1 | | Sam | | c |", "1 | | Ann | | c |", "1 | | Bob | | c |", "1 | | Cid | | c |", "1 | | Dan | | c |", "1 | | Eve | | c |"},
			want: []string{
				`1 n "1" [2 3 4 5 6 7 8 9]`,
				`Leads!C2: Name differs from Leads!C3, Leads!C5, Leads!C6, Leads!C7, Leads!C8 and 1 more, and the rows of one client must agree on “name” [conflict]`,
				`Leads!C3: Name differs from Leads!C2, and the rows of one client must agree on “name” [conflict]`,
				`Leads!C5: Name differs from Leads!C2, and the rows of one client must agree on “name” [conflict]`,
				`Leads!C6: Name differs from Leads!C2, and the rows of one client must agree on “name” [conflict]`,
				`Leads!C7: Name differs from Leads!C2, and the rows of one client must agree on “name” [conflict]`,
				`Leads!C8: Name differs from Leads!C2, and the rows of one client must agree on “name” [conflict]`,
				`Leads!C9: Name differs from Leads!C2, and the rows of one client must agree on “name” [conflict]`,
			},
		},
		{
			name: "after conversion, and the cells of key columns and e-mail addresses whatever their case", mapping: mail,
			sheet: []string{header, "1 | A@b.example | Sam | 1980-05-01 | c | Lloyds", "1 | a@B.example | | 1980-05-01T00:00:00Z | c |", "1 | | Sam | | c | Lloyds"},
			want:  []string{`1 n "1" [2 3 4]`, `client [2 3 4] name="Sam" born="1980-05-01T00:00:00Z"`, `claim/claim/c [2 3 4] Lloyds`, `link [2 3 4]`},
		},
		{
			name: "a claim's rows", mapping: mail, sheet: []string{header, "1 | | | | c | Lloyds", "1 | | | | d | Barclays", "1 | | | | c | lloyds"},
			want: []string{
				`1 n "1" [2 3 4]`,
				`Leads!F2: Lender differs from Leads!F4, and the rows of one client must agree on “the claim's name” [conflict]`,
				`Leads!F4: Lender differs from Leads!F2, and the rows of one client must agree on “the claim's name” [conflict]`,
			},
		},
	})
}

// What the cells held is kept apart from the message: the workbook shows it,
// logs never do. A refused cell is named, under its header, with what to do.
func TestProblemsKeepPersonalDataApart(t *testing.T) {
	sheet, records := leads("No | B | C", "1 | secret one | ", "1 | secret two | ", "2 | x | secret day")
	plans := planAll(mustBind(t, fields("b: B", "c: {column: C, type: Date}"), sheet, nil), records)
	var seen []string
	for _, p := range append(plans[0].Problems, plans[1].Problems...) {
		seen = append(seen, fmt.Sprint(p.Where, ": ", p.Seen))
		if strings.Contains(p.Error()+p.Hint, "secret") || !strings.HasPrefix(p.Message, p.Where.Cell[:1]+" ") || p.Hint == "" {
			t.Errorf("%q quotes a cell, does not name it, or lacks a hint", p.Error())
		}
	}
	if d := cmp.Diff([]string{"Leads!B2: secret one", "Leads!B3: secret two", "Leads!C4: secret day"}, seen); d != "" {
		t.Errorf("seen (-want +got):\n%s", d)
	}
}

// A key written at the command line or read from a workbook is the client that
// the sheet's row is.
func TestIdentityOfAKey(t *testing.T) {
	for name, tc := range map[string]struct{ client, row, key string }{
		"e-mail":          {"key: Mail, lookup: {email: Mail}", "Sam@Example.com", " sam@EXAMPLE.com "},
		"capital ß":       {"key: Mail, lookup: {email: Mail}", "a@straße.example", "A@STRAẞE.example"},
		"punycode":        {"key: Mail, lookup: {email: Mail}", "a@straße.example", "a@XN--STRAE-OQA.example"},
		"invisible":       {"key: Mail, lookup: {email: Mail}", "a@straße.example", "a@stra\u00adße.example"},
		"composed domain": {"key: Mail, lookup: {email: Mail}", "a@bücher.example", "a@bu\u0308CHER.example"},
		"phone":           {"key: Mail, lookup: {phone: {column: Mail, region: GB}}", "020 7946 0018", "+44 20 7946 0018"},
		"phone, national": {"key: Mail, lookup: {phone: {column: Mail, type: Phone, region: GB, format: national}}", "+442079460018", "020 7946 0018"},
		"phone, abroad":   {"key: Mail, lookup: {phone: {column: Mail, type: Phone, format: international}}", "+442079460018", "+44 20 7946 0018"},
		"phone as it is":  {"key: Mail, lookup: {phone: {column: Mail, format: raw}}", "020  79", "020\u00a079"},
		"number":          {"key: Mail, existing: create", "x  1", "x 1"},
		"composed accent": {"key: Mail, existing: create", "Ame\u0301lie", "Am\u00e9lie"},
	} {
		t.Run(name, func(t *testing.T) {
			sheet, records := leads("Mail", tc.row)
			b := mustBind(t, "name: n\napi: v1\nclient: {fields: {f: Mail}, "+tc.client+"}", sheet, nil)
			want := b.Convert(records[0]).Client
			for _, key := range []string{tc.row, tc.key, want.Key} {
				if got := b.Identity(key); got != want {
					t.Errorf("%q is %v, in the sheet it is %v", key, got, want)
				}
			}
			if other := b.Identity("a@strasse.example"); other == want {
				t.Errorf("two domains are the client %v", want)
			}
		})
	}
}

// Two different composite keys never join to one text.
func TestCompositeKeysAreInjective(t *testing.T) {
	sheet, _ := leads("A | B | C")
	b := mustBind(t, "name: n\napi: v1\nclient: {key: [A, B, C], existing: create, fields: {a: A}}", sheet, nil)
	part := rapid.StringMatching(`[a|\\]{1,4}`)
	row := func(t *rapid.T) []string { return rapid.SliceOfN(part, 3, 3).Draw(t, "key") }
	identity := func(key []string) mapping.Identity {
		return b.Convert(cell.Record{Row: 2, Cells: []cell.Cell{text(key[0]), text(key[1]), text(key[2])}}).Client
	}
	rapid.Check(t, func(t *rapid.T) {
		one, two := row(t), row(t)
		if (identity(one) == identity(two)) != slices.Equal(one, two) {
			t.Fatalf("%q and %q: %v and %v", one, two, identity(one), identity(two))
		}
	})
}

// A row of totals makes no client.
func TestRowsThatAreNoLeads(t *testing.T) {
	const source = "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No, name: {column: Name}}}\n"
	for line, want := range map[string]string{
		"TOTAL |  | 1,250.50":        "Leads!A2: No labels a row of totals, not a lead [totals-row]",
		" | Grand total | £12":       "Leads!B2: Name labels a row of totals, not a lead [totals-row]",
		"Total | | ₹12":              "Leads!A2: No labels a row of totals, not a lead [totals-row]",
		"Total | Ann | 5":            "",
		"Sum | | 07911 123456":       "",
		"Total Finance | | 5":        "",
		"L1 | Total | 5":             "",
		"Total | | 1980-05-01 10:00": "",
	} {
		sheet, records := leads("No | Name | Amount", line)
		b := mustBind(t, source, sheet, nil)
		var got []string
		for _, p := range b.Convert(records[0]).Problems {
			got = append(got, p.Error())
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// Two people with one key are one mistake, in however many cells they differ; each of the
// cells is marked.
func TestOneMistakeIsListedOnce(t *testing.T) {
	const people = "name: n\napi: v2\nclient: {key: No, existing: create, fields: {a: A, b: B, c: C, d: D, e: E, f: F, again: F}}\n"
	for _, tc := range []struct {
		name  string
		sheet []string
		cells int
		want  []string
	}{
		{"another person", []string{"1 | a | b | c | d | e | f", "1 | | | | | | ", "1 | t | u | v | w | x | y"}, 12,
			[]string{"Leads!B2: A differs from Leads!B4, and the rows of one client must agree on “a” [conflict]"}},
		{"two mistakes", []string{"1 | a | b | c | d | e | f", "1 | x | b | c | d | e | f", "1 | a | x | c | d | e | f"}, 4,
			[]string{"Leads!B2: A differs from Leads!B3, and the rows of one client must agree on “a” [conflict]",
				"Leads!C2: B differs from Leads!C4, and the rows of one client must agree on “b” [conflict]"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			sheet, records := leads(append([]string{"No | A | B | C | D | E | F"}, tc.sheet...)...)
			plan := planAll(mustBind(t, people, sheet, nil), records)[0]
			var got []string
			for _, p := range plan.Problems.Listed() {
				got = append(got, p.Error())
			}
			if d := cmp.Diff(tc.want, got); d != "" || len(plan.Problems) != tc.cells {
				t.Errorf("%d cells are marked, want %d; listed (-want +got):\n%s", len(plan.Problems), tc.cells, d)
			}
		})
	}
}

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
