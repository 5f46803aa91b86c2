package sheet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/sheet"
)

// BenchmarkRecords compares a pass with that of excelize, which gives neither
// types nor formats. BENCH_ROWS sets the number of rows of 20 columns.
func BenchmarkRecords(b *testing.B) {
	rows := 10_000
	if n, err := strconv.Atoi(os.Getenv("BENCH_ROWS")); err == nil {
		rows = n
	}
	path := filepath.Join(b.TempDir(), "bench.xlsx")
	writeBench(b, path, rows)
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := sheet.Open(path, sheet.Options{})
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
	b.Run("records", func(b *testing.B) {
		r, err := sheet.Open(path, sheet.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, err := range r.Records() {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != rows {
				b.Fatalf("%d rows of %d", n, rows)
			}
		}
	})
	b.Run("excelize", func(b *testing.B) {
		f, err := excelize.OpenFile(path, excelize.Options{RawCellValue: true})
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			it, err := f.Rows("Sheet1")
			if err != nil {
				b.Fatal(err)
			}
			for it.Next() {
				if _, err := it.Columns(); err != nil {
					b.Fatal(err)
				}
				n++
			}
			it.Close()
			if n != rows+1 {
				b.Fatalf("%d rows of %d", n, rows+1)
			}
		}
	})
}

// writeBench writes what a lead sheet is like: texts, numbers, money, dates.
func writeBench(b *testing.B, path string, rows int) {
	f := excelize.NewFile()
	defer f.Close()
	money, _ := f.NewStyle(&excelize.Style{NumFmt: 4})
	date, _ := f.NewStyle(&excelize.Style{NumFmt: 14})
	w, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		b.Fatal(err)
	}
	line := make([]any, 20)
	for row := 1; row <= rows+1; row++ {
		for c := range line {
			switch {
			case row == 1:
				line[c] = fmt.Sprintf("Column %d", c+1)
			case c < 10:
				line[c] = fmt.Sprintf("text %d of row %d", c, row)
			case c < 14:
				line[c] = row * c
			case c < 16:
				line[c] = excelize.Cell{StyleID: money, Value: float64(row*c) / 100}
			case c < 18:
				line[c] = excelize.Cell{StyleID: date, Value: 30_000 + row%15_000}
			default:
				line[c] = row%2 == 0
			}
		}
		if err := w.SetRow("A"+strconv.Itoa(row), line); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.SaveAs(path); err != nil {
		b.Fatal(err)
	}
}
