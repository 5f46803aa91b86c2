package spool_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claimsheet/importer/spool"
	"claimsheet/mapping/cell"
)

// rowNumbers are the rows of each group that a pass yields, with their group's
// number in front.
func rowNumbers(t testing.TB, groups iter.Seq2[*spool.Batch, error]) [][]int {
	t.Helper()
	var list [][]int
	for b, err := range groups {
		must(t, err)
		for _, g := range b.Groups {
			rows := []int{g.Number}
			for _, r := range g.Records {
				if want := fmt.Sprint("row ", r.Row); r.Cells[0].Raw != want || r.Above[0].Raw != "above "+want {
					t.Fatalf("row %d holds the cells of %q, and from above those of %q", r.Row, r.Cells[0].Raw, r.Above[0].Raw)
				}
				rows = append(rows, r.Row)
			}
			list = append(list, rows)
		}
		b.Release()
	}
	return list
}

// sheetOf is a sheet with a row for each number, which names the row's group.
func sheetOf(t testing.TB, numbers ...int) (*spool.Rows, *spool.Groups) {
	t.Helper()
	var groups spool.Groups
	var records []cell.Record
	for i, n := range numbers {
		groups.Add(n)
		text := fmt.Sprint("row ", i+2)
		textCell := func(s string) []cell.Cell { return []cell.Cell{{Kind: cell.Text, Raw: s, Shown: s}} }
		records = append(records, cell.Record{Row: i + 2, Cells: textCell(text), Above: textCell("above " + text)})
	}
	rows := newRows(t, asRead(records))
	gathered(t, rows.Records())
	return rows, &groups
}

// However rows and groups are mixed, each group comes whole at its last row.
func TestGroupedIsWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var numbers []int
		most := 0
		for range rapid.IntRange(0, 300).Draw(r, "rows") {
			n := rapid.IntRange(0, most+1).Draw(r, "group")
			most = max(most, n)
			numbers = append(numbers, n)
		}
		var want [][]int
		for i, n := range numbers {
			if n == 0 {
				want = append(want, []int{0, i + 2})
				continue
			}
			if slices.Contains(numbers[i+1:], n) {
				continue
			}
			group := []int{n}
			for k, other := range numbers {
				if other == n {
					group = append(group, k+2)
				}
			}
			want = append(want, group)
		}
		rows, groups := sheetOf(t, numbers...)
		for range 2 {
			same(r, "groups", want, rowNumbers(t, rows.Grouped(groups)))
		}
	})
}

func TestBatchesAreCopies(t *testing.T) {
	const n = 1000
	rows, _ := sheetOf(t, make([]int, n)...)
	var batches []*spool.Batch
	for b, err := range rows.Batches() {
		must(t, err)
		batches = append(batches, b)
	}
	row := 1
	for _, b := range batches {
		for _, r := range b.Records {
			if row++; r.Row != row || r.Cells[0].Raw != fmt.Sprint("row ", row) || r.Above[0].Raw != fmt.Sprint("above row ", row) {
				t.Fatalf("row %d is %v", row, r)
			}
		}
	}
	if row != n+1 {
		t.Errorf("the last row is %d", row)
	}
}
