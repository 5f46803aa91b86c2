package reports_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// Where a Preview says that a cell will be, it is in the workbook that is written:
// whatever rows are missing, in whatever order a results workbook was sorted, and
// with columns of ours anywhere in it.
func TestPreviewIsThatOfTheWorkbook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(r, "columns")
		var own []int
		sheet := cell.Sheet{Name: "Leads", HeaderRow: rapid.IntRange(1, 3).Draw(r, "header row")}
		for c := range columns {
			sheet.Header = append(sheet.Header, fmt.Sprint("column ", c))
			if c > 0 && rapid.Bool().Draw(r, "ours") {
				own = append(own, c)
			}
		}
		preview := &reports.Preview{File: "a.results.xlsx", Own: own}
		var records []cell.Record
		var results []result.Row
		row := sheet.HeaderRow
		for range rapid.IntRange(0, 12).Draw(r, "rows") {
			row += rapid.SampledFrom([]int{1, 1, 1, 2, 5}).Draw(r, "gap")
			record := cell.Record{Row: row, Source: rapid.SampledFrom([]int{0, 0, row, row + 3, 40 - row}).Draw(r, "source")}
			for c := range columns {
				text := fmt.Sprintf("cell %d of row %d", c, row)
				record.Cells = append(record.Cells, cell.Cell{Kind: cell.Text, Raw: text, Shown: text})
			}
			records = append(records, record)
			results = append(results, result.Row{Row: row, Status: result.Done})
			preview.Note(record)
		}
		_, f := written(t, reports.Workbook{Sheet: sheet, Preview: &reports.Preview{Own: own}, ClientIDHeader: "contactId", Records: each(records...), Rows: each(results...)})
		for _, record := range records {
			source := record.Source
			if source == 0 {
				source = record.Row
			}
			for c := range columns {
				if slices.Contains(own, c) {
					continue
				}
				at := preview.At(c, record.Row)
				if shown, err := f.GetCellValue(at.Sheet, at.Place); err != nil || shown != record.Cells[c].Raw || at.Row != source || at.File != "a.results.xlsx" {
					r.Fatalf("column %d of row %d is said to be at %+v, where %q is (error %v)", c, record.Row, at, shown, err)
				}
			}
			last := cell.ColumnName(len(sheet.Header) - len(own) + len(cell.ResultHeaders("contactId", false)) - 1)
			at := preview.At(-1, record.Row)
			shown, err := f.GetCellValue("Results", last+at.Place)
			if err != nil || shown != strconv.Itoa(source) || at.Sheet != "Results" || at.Place != preview.At(0, record.Row).Place[1:] {
				r.Fatalf("row %d is said to be at %+v, where the source row is %q, want %d (error %v)", record.Row, at, shown, source, err)
			}
		}
		for _, nowhere := range []int{0, sheet.HeaderRow, row + 1} {
			if at := preview.At(0, nowhere); at != (problem.Copy{}) {
				r.Fatalf("row %d is not in the sheet, and is said to be at %+v", nowhere, at)
			}
		}
	})
}
