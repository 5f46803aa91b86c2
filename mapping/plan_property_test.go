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

// drawMapping draws a mapping, with a sheet for it. Every value sent is made of the keys or is
// a constant, so that rows never disagree.
func drawMapping(t *rapid.T) (source string, sheet cell.Sheet, records []cell.Record) {
	sheet = cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"No", "W"}}
	on, claims := []string{"client"}, ""
	source = "name: n\napi: v1\n"
	if rapid.Bool().Draw(t, "v2") {
		source = "name: n\napi: v2\nworkflow: {name: w, template_identifier: t}\n"
		for i := range rapid.IntRange(0, 3).Draw(t, "entries") {
			sheet.Header, on = append(sheet.Header, fmt.Sprint("K", i)), append(on, fmt.Sprint("e", i))
			claims += fmt.Sprintf("  - {id: e%d, key: K%d, name: 'Claim e%d {K%d}', when: has(\"K%d\")}\n", i, i, i, i, i)
		}
	}
	source += "client: {key: No, existing: create, fields: {no: No}}\n"
	if claims != "" {
		source, on = source+"claims:\n"+claims, append(on, "claim")
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "activities") {
		if i == 0 {
			source += "activities:\n"
		}
		what := rapid.SampledFrom([]string{"attributes: {a: {value: x}}", "status: Open, assigned: true"}).Draw(t, "what")
		when := rapid.SampledFrom([]string{"", `, when: has("W")`}).Draw(t, "when")
		source += fmt.Sprintf("  - {template: T%d, on: %s, %s%s}\n", i, rapid.SampledFrom(on).Draw(t, "on"), what, when)
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "rows") {
		r := cell.Record{Row: i + 2, Cells: []cell.Cell{text(rapid.SampledFrom([]string{"4", "6", "x|y"}).Draw(t, "client")), text(rapid.SampledFrom([]string{"", "yes"}).Draw(t, "w"))}}
		for range sheet.Header[2:] {
			r.Cells = append(r.Cells, text(rapid.SampledFrom([]string{"", "k", "4/6", "@client"}).Draw(t, "key")))
		}
		records = append(records, r)
	}
	return source, sheet, records
}

func keys(p mapping.Plan) []string {
	var list []string
	for _, s := range p.Steps {
		list = append(list, s.Key)
	}
	return list
}

// checkOrder wants the client first, the link last, and a claim before what is on it.
func checkOrder(t *rapid.T, isV2 bool, p mapping.Plan) {
	if first := p.Steps[0]; first.Kind != mapping.ClientStep || !slices.Equal(first.Rows, p.Rows) {
		t.Fatalf("the first step is %s of rows %v, expected the client of %v", first.Key, first.Rows, p.Rows)
	}
	if last := p.Steps[len(p.Steps)-1]; isV2 != (last.Kind == mapping.LinkStep) {
		t.Fatalf("the last step is %s", last.Key)
	}
	created := map[string]bool{"": true}
	for _, s := range p.Steps {
		if s.Kind == mapping.ClaimStep {
			created[s.Key] = true
		}
		if !created[s.Claim] {
			t.Fatalf("%s comes before %s", s.Key, s.Claim)
		}
		if !slices.IsSorted(s.Rows) || len(s.Rows) == 0 {
			t.Fatalf("%s is asked for by the rows %v", s.Key, s.Rows)
		}
	}
}

// Planning is pure: the same rows make the same plan, whatever was planned
// before, in whatever binding, and wherever other clients' rows stand. Steps are named by
// business keys: rows further down in the sheet have the same names, and no two steps share one.
func TestPlansOfAnySheet(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		source, sheet, records := drawMapping(t)
		b := mustBind(outer, source, sheet, nil)
		want := planAll(b, records)
		for _, p := range want {
			if len(p.Problems) > 0 {
				t.Fatalf("problems:\n%s", report(p.Problems))
			}
			checkOrder(t, strings.Contains(source, "api: v2"), p)
		}
		for _, again := range []*mapping.Binding{b, mustBind(outer, source, sheet, nil)} {
			if d := cmp.Diff(want, planAll(again, records)); d != "" {
				t.Fatalf("planned twice (-first +second):\n%s", d)
			}
		}

		first, further := rapid.IntRange(3, 100_000).Draw(t, "first row"), slices.Clone(records)
		for i := range further {
			further[i].Row += first
		}
		for i, p := range planAll(b, further) {
			if d := cmp.Diff(keys(want[i]), keys(p)); d != "" {
				t.Fatalf("further down the steps are called (-here +there):\n%s", d)
			}
			if unique := slices.Compact(slices.Sorted(slices.Values(keys(p)))); len(unique) != len(p.Steps) {
				t.Fatalf("two steps share a name: %q", keys(p))
			}
		}

		apart := slices.Clone(records)
		slices.SortStableFunc(apart, func(a, b cell.Record) int { return strings.Compare(b.Cells[0].Raw, a.Cells[0].Raw) })
		byClient := func(plans []mapping.Plan) map[mapping.Identity]mapping.Plan {
			m := map[mapping.Identity]mapping.Plan{}
			for _, p := range plans {
				p.Number = 0 // the client's place in the sheet
				m[p.Client] = p
			}
			return m
		}
		if d := cmp.Diff(byClient(want), byClient(planAll(b, apart))); d != "" {
			t.Fatalf("with the clients' rows apart (-mixed +apart):\n%s", d)
		}
	})
}
