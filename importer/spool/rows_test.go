package spool_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"claimsheet/importer/spool"
	"claimsheet/importer/testform"
	"claimsheet/mapping/cell"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var (
	must = testform.NoError
	same = testform.Same
)

// anyRecords draws the records of a sheet.
func anyRecords(t *rapid.T) []cell.Record {
	texts := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("aé\x00")), 0, 300, -1))
	in := rapid.Custom(func(t *rapid.T) cell.Cell {
		c := cell.Cell{Kind: cell.Kind(rapid.IntRange(0, int(cell.Uncomputed)).Draw(t, "kind"))}
		if c.Kind == cell.Empty {
			return c
		}
		c.Raw = texts.Draw(t, "raw")
		c.Shown = rapid.OneOf(rapid.Just(c.Raw), texts).Draw(t, "shown")
		c.Format = rapid.SampledFrom([]string{"", "dd/mm/yyyy", "0.00", ";;;"}).Draw(t, "format")
		return c
	})
	records := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cell.Record {
		return cell.Record{
			Cells: rapid.SliceOfN(in, 0, 30).Draw(t, "cells"), Above: rapid.SliceOfN(in, 0, 5).Draw(t, "above"), Hidden: rapid.Bool().Draw(t, "hidden"),
			Source: rapid.IntRange(0, 2_000_000).Draw(t, "source"),
		}
	}), 0, 40).Draw(t, "records")
	row := 0
	for i := range records {
		row += rapid.IntRange(1, 1000).Draw(t, "gap")
		records[i].Row = row
	}
	return records
}

// asRead yields records as a sheet reader does: each reuses the cells of the last.
func asRead(records []cell.Record) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		var cells []cell.Cell
		for _, r := range records {
			cells = append(cells[:0], r.Cells...)
			r.Cells = cells
			if !yield(r, nil) {
				return
			}
			clear(cells)
		}
	}
}

func gathered(t testing.TB, rows iter.Seq2[cell.Record, error]) []cell.Record {
	t.Helper()
	var list []cell.Record
	for r, err := range rows {
		must(t, err)
		r.Cells, r.Above = slices.Clone(r.Cells), slices.Clone(r.Above)
		list = append(list, r)
	}
	return list
}

func newRows(t testing.TB, source iter.Seq2[cell.Record, error]) *spool.Rows {
	t.Helper()
	rows, err := spool.NewRows(t.TempDir(), source)
	must(t, err)
	t.Cleanup(func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	})
	return rows
}

// Every pass gives the records of the sheet, and the sheet is read only once.
func TestEveryPassGivesTheSameRecords(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		records := anyRecords(r)
		passes := 0
		rows, err := spool.NewRows(dir, func(yield func(cell.Record, error) bool) {
			passes++
			asRead(records)(yield)
		})
		must(r, err)
		defer rows.Close()
		if rapid.Bool().Draw(r, "a pass that ends early") {
			for range rows.Records() {
				break
			}
			passes--
		}
		for pass := range 3 {
			same(r, fmt.Sprint("pass ", pass), records, gathered(t, rows.Records()), cmpopts.EquateEmpty())
		}
		places, err := rows.Places()
		if err != nil || len(places) != len(records) {
			r.Fatalf("%d places for %d records: %v", len(places), len(records), err)
		}
		for i, want := range slices.Backward(records) { // single ones, by their places
			if err := rows.Read(places[i:i+1], func(got cell.Record) {
				same(r, fmt.Sprint("record ", i), want, got, cmpopts.EquateEmpty())
			}); err != nil {
				r.Fatal(err)
			}
		}
		if passes > 1 {
			r.Fatalf("the sheet was read %d times", passes)
		}
	})
}

// Only the user can read the file, and Close leaves nothing in the folder.
func TestTheFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	rows, err := spool.NewRows(dir, asRead([]cell.Record{{Row: 2, Cells: []cell.Cell{{Kind: cell.Text, Raw: "x", Shown: "x"}}}}))
	must(t, err)
	gathered(t, rows.Records())
	for _, entry := range ls(t, dir) {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", entry.Name(), info.Mode(), err)
		}
	}
	must(t, rows.Close())
	if left := ls(t, dir); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func ls(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	return entries
}

// An error of the sheet ends the pass, and the next pass reads the sheet from
// its start: half a sheet never counts as a whole one.
func TestAnErrorEndsThePass(t *testing.T) {
	damaged := errors.New("damaged")
	rows := newRows(t, func(yield func(cell.Record, error) bool) {
		_ = yield(cell.Record{Row: 2}, nil) && yield(cell.Record{}, damaged)
	})
	for range 2 {
		var seen []int
		var got error
		for r, err := range rows.Records() {
			if got = err; err == nil {
				seen = append(seen, r.Row)
			}
		}
		if !slices.Equal(seen, []int{2}) || !errors.Is(got, damaged) {
			t.Errorf("rows %v, error %v", seen, got)
		}
	}
	n := 0
	for _, err := range rows.Batches() {
		if n++; !errors.Is(err, damaged) {
			t.Errorf("got %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d batches", n)
	}
}
