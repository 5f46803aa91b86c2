package sheet_test

import (
	"flag"
	"fmt"
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
	path := filepath.Join(t.TempDir(), "leads.xlsx")
	writeBench(t, path, *memoryRows)
	r := alone(t, path, sheet.Options{})
	if r.Rows != *memoryRows || r.Peak > limit {
		t.Errorf("%d rows of %d take %d MiB", r.Rows, *memoryRows, r.Peak>>20)
	}
	t.Logf("%d rows, %d MiB resident, %.1f s of processor time", r.Rows, r.Peak>>20, r.Seconds)
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
