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

// A row that was taken out of a results workbook leaves a gap, over which an empty cell takes nothing. A record's own cells stay as they are.
func TestFillDown(t *testing.T) {
	sheet, records := leads("Client | No", "Ann | 1", " | 2", " | 3")
	records[0].Source, records[1].Source, records[2].Source = 2, 3, 5 // row 4 was taken out
	fill := mapping.FillDown([]string{"Client"}, sheet)
	for i, above := range []int{0, 1, 0} {
		if got := fill(records[i]); len(got.Above) != above || !slices.Equal(got.Cells, records[i].Cells) {
			t.Errorf("row %d takes %v from above, and has %v", i+2, got.Above, got.Cells)
		}
	}
}
