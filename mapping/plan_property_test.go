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

// A world is a random mapping with a sheet for it. Every value sent is made of
// the keys or is a constant, so that rows never disagree.
type world struct {
	v2      bool
	entries int
	acts    []worldActivity
	rows    []worldRow
}

type worldActivity struct {
	on          string // client, claim, or e0, e1 …
	open        bool
	conditional bool // it has a when, which the column W answers
}

type worldRow struct {
	client string
	keys   []string // by claims entry; "" for none
	w      string
}

func drawWorld(t *rapid.T) world {
	w := world{v2: rapid.Bool().Draw(t, "v2")}
	on := []string{"client"}
	if w.v2 {
		w.entries = rapid.IntRange(0, 3).Draw(t, "entries")
	}
	for i := range w.entries {
		on = append(on, fmt.Sprint("e", i))
	}
	if w.entries > 0 {
		on = append(on, "claim")
	}
	for range rapid.IntRange(0, 5).Draw(t, "activities") {
		w.acts = append(w.acts, worldActivity{rapid.SampledFrom(on).Draw(t, "on"), rapid.Bool().Draw(t, "open"), rapid.Bool().Draw(t, "when")})
	}
	for range rapid.IntRange(1, 12).Draw(t, "rows") {
		r := worldRow{client: rapid.SampledFrom([]string{"4", "6", "x|y"}).Draw(t, "client"), w: rapid.SampledFrom([]string{"", "yes"}).Draw(t, "w")}
		for range w.entries {
			r.keys = append(r.keys, rapid.SampledFrom([]string{"", "k", "4/6", "@client"}).Draw(t, "key"))
		}
		w.rows = append(w.rows, r)
	}
	return w
}

func (w world) source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: n\napi: %s\nclient: {key: No, existing: create, fields: {no: No}}\n", map[bool]string{true: "v2", false: "v1"}[w.v2])
	if w.v2 {
		b.WriteString("workflow: {name: w, template_identifier: t}\nclaims:\n")
	}
	for i := range w.entries {
		fmt.Fprintf(&b, "  - {id: e%d, key: K%d, name: 'Claim e%d {K%d}', when: has(\"K%d\")}\n", i, i, i, i, i)
	}
	source := b.String()
	if source = strings.TrimSuffix(source, "claims:\n"); len(w.acts) == 0 {
		return source
	}
	source += "activities:\n"
	for i, a := range w.acts {
		what := "attributes: {a: {value: x}}"
		if a.open {
			what = "status: Open, assigned: true"
		}
		if a.conditional {
			what += `, when: has("W")`
		}
		source += fmt.Sprintf("  - {template: T%d, on: %s, %s}\n", i, a.on, what)
	}
	return source
}

// sheet is the world's sheet; row numbers begin at first.
func (w world) sheet(first int) (cell.Sheet, []cell.Record) {
	header := []string{"No", "W"}
	for i := range w.entries {
		header = append(header, fmt.Sprint("K", i))
	}
	var records []cell.Record
	for i, row := range w.rows {
		r := cell.Record{Row: first + i}
		for _, s := range append([]string{row.client, row.w}, row.keys...) {
			r.Cells = append(r.Cells, text(s))
		}
		records = append(records, r)
	}
	return cell.Sheet{Name: "Leads", HeaderRow: 1, Header: header}, records
}

func bindWorld(t *rapid.T, w world, sheet cell.Sheet) *mapping.Binding {
	m, problems := mapping.Parse("m.yaml", []byte(w.source()))
	if len(problems) > 0 {
		t.Fatalf("%s\n%s", w.source(), report(problems))
	}
	b, problems := mapping.Bind(m, &sheet, nil, runDate)
	if len(problems) > 0 {
		t.Fatalf("%s\n%s", w.source(), report(problems))
	}
	return b
}

func keys(p mapping.Plan) []string {
	var list []string
	for _, s := range p.Steps {
		list = append(list, s.Key)
	}
	return list
}

// checkOrder wants the client first, the link last, and a claim before what is on it.
func checkOrder(t *rapid.T, w world, p mapping.Plan) {
	if first := p.Steps[0]; first.Kind != mapping.ClientStep || !slices.Equal(first.Rows, p.Rows) {
		t.Fatalf("the first step is %s of rows %v, expected the client of %v", first.Key, first.Rows, p.Rows)
	}
	if last := p.Steps[len(p.Steps)-1]; w.v2 != (last.Kind == mapping.LinkStep) {
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
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		sheet, records := w.sheet(2)
		b := bindWorld(t, w, sheet)
		want := planAll(b, records)
		for _, p := range want {
			if len(p.Problems) > 0 {
				t.Fatalf("problems:\n%s", report(p.Problems))
			}
			checkOrder(t, w, p)
		}
		if d := cmp.Diff(want, planAll(b, records)); d != "" {
			t.Fatalf("planned twice (-first +second):\n%s", d)
		}
		if d := cmp.Diff(want, planAll(bindWorld(t, w, sheet), records)); d != "" {
			t.Fatalf("bound twice (-first +second):\n%s", d)
		}

		_, further := w.sheet(rapid.IntRange(3, 100_000).Draw(t, "first row"))
		for i, p := range planAll(b, further) {
			if d := cmp.Diff(keys(want[i]), keys(p)); d != "" {
				t.Fatalf("further down the steps are called (-here +there):\n%s", d)
			}
			if unique := slices.Compact(slices.Sorted(slices.Values(keys(p)))); len(unique) != len(p.Steps) {
				t.Fatalf("two steps share a name: %q", keys(p))
			}
		}

		clientOf := func(r cell.Record) string { return r.Cells[0].Raw }
		apart := slices.Clone(records)
		slices.SortStableFunc(apart, func(a, b cell.Record) int { return strings.Compare(clientOf(b), clientOf(a)) })
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
