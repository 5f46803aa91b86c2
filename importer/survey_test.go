package importer_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer"
	"claimsheet/importer/spool"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

const surveyMapping = `
name: n
api: v2
sheet: {when: 'col("Take") != "no"'}
client: {key: No, existing: create, fields: {name: Name, size: {column: Size, type: Number}}}
claims: [{key: Claim, name: "Loan {Claim}", when: has("Claim")}]
`

var surveySheet = cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"No", "Name", "Size", "Claim", "Take"}}

func textCells(texts ...string) []cell.Cell {
	cells := make([]cell.Cell, len(texts))
	for i, s := range texts {
		if s != "" {
			cells[i] = cell.Cell{Kind: cell.Text, Raw: s, Shown: s}
		}
	}
	return cells
}

// plansInMemory is what Plans must yield: each client at its last row, with
// all its rows.
func plansInMemory(b *mapping.Binding, records []cell.Record) []mapping.Plan {
	leads, last, numbers := map[mapping.Identity][]mapping.ConvertedRow{}, map[mapping.Identity]int{}, map[mapping.Identity]int{}
	for i, r := range records {
		if who := b.Convert(r).Client; who != (mapping.Identity{}) {
			last[who] = i
			if numbers[who] == 0 {
				numbers[who] = len(numbers) + 1
			}
		}
	}
	var plans []mapping.Plan
	for i, r := range records {
		lead := b.Convert(r)
		if lead.Client == (mapping.Identity{}) {
			plans = append(plans, b.Plan(0, []mapping.ConvertedRow{lead}))
			continue
		}
		leads[lead.Client] = append(leads[lead.Client], lead)
		if last[lead.Client] == i {
			plans = append(plans, b.Plan(numbers[lead.Client], leads[lead.Client]))
		}
	}
	return plans
}

func surveyed(t testing.TB, b *mapping.Binding, rows *spool.Rows, convert bool) ([]mapping.Plan, *importer.Survey) {
	t.Helper()
	survey, err := importer.NewSurvey(context.Background(), b, rows, convert)
	must(t, err)
	var plans []mapping.Plan
	for plan, err := range survey.Plans(b, rows) {
		must(t, err)
		plans = append(plans, plan)
	}
	return plans, survey
}

// Wherever a client's rows stand, the plans are those that would be made with
// the whole sheet in memory, and come in the same order.
func TestPlansAreThoseOfTheWholeSheet(t *testing.T) {
	b, dir := bind(t, surveyMapping, surveySheet), t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		number := rapid.SampledFrom([]string{"1", "2", "3", " 3 ", "4", "5", ""})
		records := make([]cell.Record, rapid.IntRange(0, 300).Draw(r, "rows"))
		for i := range records {
			records[i] = cell.Record{Row: i + 2, Cells: textCells(number.Draw(r, "no"), rapid.SampledFrom([]string{"", "Ann", "Bob"}).Draw(r, "name"),
				rapid.SampledFrom([]string{"", "1", "x"}).Draw(r, "size"), rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "claim"),
				rapid.SampledFrom([]string{"", "", "", "no"}).Draw(r, "take"))}
		}
		kept, err := spool.NewRows(dir, asRead(records))
		must(r, err)
		defer kept.Close()
		plans, survey := surveyed(t, b, kept, rapid.Bool().Draw(r, "convert"))
		if d := cmp.Diff(plansInMemory(b, records), plans); d != "" || survey.Rows != len(records) {
			r.Fatalf("%d rows (-want +got):\n%s", survey.Rows, d)
		}
	})
}

// Who has enough of the plans leaves nothing running, which would hold the bubble up, and the sheet's error ends them.
func TestPlansEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bind(t, surveyMapping, surveySheet)
		kept := spooled(t, far(2_000, 2))
		survey, err := importer.NewSurvey(t.Context(), b, kept, true)
		must(t, err)
		for range survey.Plans(b, kept) {
			break
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := importer.NewSurvey(ctx, b, kept, true); err == nil {
			t.Error("a pass goes on after its end was asked for")
		}
	})
}

// far is a sheet of clients with some rows each, as far apart as they can be:
// all clients in one order, then all of them in another, and so on.
func far(clients, times int) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		rng, row := rand.New(rand.NewPCG(1, 2)), 1
		filler := strings.Repeat("a long name ", 30)
		for range times {
			for _, n := range rng.Perm(clients) {
				row++
				if !yield(cell.Record{Row: row, Cells: textCells(fmt.Sprint("No ", n), filler+fmt.Sprint(n), "1", fmt.Sprint(row))}, nil) {
					return
				}
			}
		}
	}
}

// What is held of a client whose last row is to come is a number for each of
// its rows, not the rows: 12,000 clients of 3 rows each, all open at once, have
// more than 12 MB of cells, of which not a third may be held.
func TestOpenClientsTakeLittleMemory(t *testing.T) {
	const times = 3
	clients := testform.LongOr(12_000, 4_000)
	b, kept := bind(t, surveyMapping, surveySheet), spooled(t, far(clients, times))
	survey, err := importer.NewSurvey(t.Context(), b, kept, false)
	must(t, err)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	n, most := 0, uint64(0)
	for plan, err := range survey.Plans(b, kept) {
		must(t, err)
		if len(plan.Rows) != times {
			t.Fatalf("client %d has the rows %v", plan.Number, plan.Rows)
		}
		if n++; n%(clients/8) == 1 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		}
	}
	if n != clients || most > 4<<20 {
		t.Errorf("%d plans; %.1f MiB held", n, float64(most)/(1<<20))
	}
	t.Logf("%.1f MiB held", float64(most)/(1<<20))
}

func spooled(t testing.TB, source iter.Seq2[cell.Record, error]) *spool.Rows {
	t.Helper()
	rows, err := spool.NewRows(t.TempDir(), source)
	must(t, err)
	t.Cleanup(func() { _ = rows.Close() })
	return rows
}

func asRead(records []cell.Record) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}
