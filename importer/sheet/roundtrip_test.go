package sheet_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
)

// What excelize writes is read back with its types: texts, numbers, bools and
// dates of both date systems, in sparse rows.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leads.xlsx")
	rapid.Check(t, func(t *rapid.T) {
		f := excelize.NewFile()
		defer f.Close()
		date1904 := rapid.Bool().Draw(t, "1904")
		if err := f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}); err != nil {
			t.Fatal(err)
		}
		code := "dd/mm/yyyy hh:mm"
		dates, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetCellStr("Sheet1", "A1", "Head"); err != nil {
			t.Fatal(err)
		}
		want := map[string]cell.Cell{}
		for range rapid.IntRange(0, 20).Draw(t, "cells") {
			ref, err := excelize.CoordinatesToCellName(rapid.IntRange(1, 40).Draw(t, "column"), rapid.IntRange(2, 60).Draw(t, "row"))
			if err != nil {
				t.Fatal(err)
			}
			if _, taken := want[ref]; taken {
				continue
			}
			want[ref] = writeCell(t, f, ref, dates, code, date1904)
		}
		if err := f.SaveAs(path); err != nil {
			t.Fatal(err)
		}
		s, all, err := read(path, sheet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]cell.Cell{}
		for _, r := range all {
			for i, c := range r.Cells {
				if c.Kind != cell.Empty {
					got[cell.ColumnName(i)+strconv.Itoa(r.Row)] = c
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || s.Date1904 != date1904 {
			t.Fatal(diff, s)
		}
	})
}

// writeCell draws a value, writes it, and gives the cell it must be read as.
func writeCell(t *rapid.T, f *excelize.File, ref string, dates int, code string, date1904 bool) cell.Cell {
	var err error
	var want cell.Cell
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab<>&\"' é😀\n\t_x0041")), 1, 30, -1).Draw(t, "text")
		want = cell.Cell{Kind: cell.Text, Raw: text, Shown: text}
		err = f.SetCellStr("Sheet1", ref, text)
	case 1:
		n := rapid.IntRange(-1e15+1, 1e15-1).Draw(t, "number")
		text := strconv.Itoa(n)
		want = cell.Cell{Kind: cell.Number, Raw: text, Shown: text}
		err = f.SetCellInt("Sheet1", ref, int64(n))
	case 2:
		b := rapid.Bool().Draw(t, "bool")
		want = cell.Cell{Kind: cell.Bool, Raw: "0", Shown: "FALSE"}
		if b {
			want = cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}
		}
		err = f.SetCellBool("Sheet1", ref, b)
	case 3:
		minutes := rapid.IntRange(0, 100*365*24*60).Draw(t, "minutes")
		at := time.Date(1910, 1, 1, 0, minutes, 0, 0, time.UTC)
		epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
		if date1904 {
			epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		serial := at.Sub(epoch).Minutes() / (24 * 60)
		const decimals = 9 // a number of more than 15 digits is cut by excelize
		literal := strconv.FormatFloat(serial, 'f', decimals, 64)
		want = cell.Cell{Kind: cell.Date, Raw: literal, Shown: at.Format("2006-01-02T15:04:05"), Format: code}
		if err = f.SetCellFloat("Sheet1", ref, serial, decimals, 64); err == nil {
			err = f.SetCellStyle("Sheet1", ref, ref, dates)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return want
}
