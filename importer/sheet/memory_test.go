package sheet_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/sheet"
)

var memoryRows = flag.Int("memory-rows", 5_000, "TestMemory: rows of the sheet")

// TestMemory: what is resident does not grow with the sheet. A sheet without
// shared strings, of 20 columns.
func TestMemory(t *testing.T) {
	limit := int64(64 << 20)
	if *memoryRows > 300_000 || underRace { // the race detector keeps several bytes for each of the program's
		limit = 256 << 20
	}
	dir := t.TempDir()
	workbook, text := filepath.Join(dir, "leads.xlsx"), filepath.Join(dir, "leads.csv")
	writeBench(t, workbook, *memoryRows)
	writeBenchCSV(t, text, *memoryRows)
	for _, path := range []string{workbook, text} {
		r := alone(t, path, sheet.Options{})
		if r.Rows != *memoryRows || r.Peak > limit {
			t.Errorf("%s: %d rows of %d take %d MiB", filepath.Base(path), r.Rows, *memoryRows, r.Peak>>20)
		}
		t.Logf("%s: %d rows, %d MiB resident, %.1f s of processor time", filepath.Base(path), r.Rows, r.Peak>>20, r.Seconds)
	}
}

// writeBenchCSV writes the like as a CSV file.
func writeBenchCSV(b testing.TB, path string, rows int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for row := range rows + 1 {
		for c := range 20 {
			switch {
			case row == 0:
				fmt.Fprintf(w, "Column %d", c+1)
			case c < 10:
				fmt.Fprintf(w, "text %d of row %d", c, row)
			case c < 14:
				fmt.Fprint(w, row*c)
			case c < 16:
				fmt.Fprintf(w, "\"%d,%03d.00\"", row, c)
			default:
				fmt.Fprintf(w, "%02d/%02d/%d", 1+row%28, 1+row%12, 1950+row%50)
			}
			if c < 19 {
				_ = w.WriteByte(',')
			}
		}
		_ = w.WriteByte('\n')
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
}

// writeBench writes what a lead sheet is like: texts, numbers, money, dates.
func writeBench(b testing.TB, path string, rows int) {
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
