package reports_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/reports"
)

// BenchmarkWorkbook compares the writing of a workbook with excelize's stream
// writer, which writes the sheet Results alone: typed and formatted. BENCH_ROWS sets the
// number of rows of 20 columns. The sheets of steps have one line for each row.
func BenchmarkWorkbook(b *testing.B) {
	count := 10_000
	if n, err := strconv.Atoi(os.Getenv("BENCH_ROWS")); err == nil {
		count = n
	}
	dir := b.TempDir()
	ours := func(dryRun bool) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			path := filepath.Join(dir, fmt.Sprint(dryRun, ".xlsx"))
			for b.Loop() {
				must(writeWorkbook(path, benchWorkbook(count, dryRun)))(b)
			}
			size(b, path)
		}
	}
	b.Run("plan", ours(true))
	b.Run("results", ours(false))
	b.Run("small", func(b *testing.B) { // what a workbook costs besides its rows
		b.ReportAllocs()
		for b.Loop() {
			must(writeWorkbook(filepath.Join(dir, "small.xlsx"), loans()))(b)
		}
	})
	b.Run("excelize", func(b *testing.B) {
		b.ReportAllocs()
		path := filepath.Join(dir, "excelize.xlsx")
		for b.Loop() {
			streamed(b, path, benchWorkbook(count, false))
		}
		size(b, path)
	})
}

func size(b *testing.B, path string) {
	info := must(os.Stat(path))(b)
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}

// benchWorkbook is a workbook of count rows, each a client with a step.
func benchWorkbook(count int, dryRun bool) reports.Workbook {
	header := make([]string, 20)
	for i := range header {
		header[i] = fmt.Sprint("Column ", i+1)
	}
	book := reports.Workbook{
		Sheet:          cell.Sheet{Name: "Leads", HeaderRow: 1, Header: header},
		Records:        benchRecords(count),
		ClientIDHeader: "contactId",
		Summary:        result.Summary{DryRun: dryRun},
		Rows: counted(count, func(n int) result.Row {
			if dryRun {
				return result.Row{Row: n + 1, Client: n, Status: result.Planned}
			}
			return result.Row{Row: n + 1, Client: n, Status: result.Done, ClientID: benchID(n), ClaimIDs: []string{benchID(n)},
				URL: "https://go.example.test/" + benchID(n)}
		}),
		Steps: counted(count, func(n int) result.Step {
			s := result.Step{Number: n, Client: n, ClientKey: "c" + strconv.Itoa(n) + "@example.test", Step: "client",
				Kind: "client", Title: "client", State: "planned"}
			if !dryRun {
				s.State, s.ID, s.Attempts, s.Status = "done", benchID(n), 1, 201
			}
			return s
		}),
	}
	return book
}

func benchID(n int) string { return fmt.Sprintf("7d0c0f3e-2f0e-4c53-9d25-%012d", n) }

// counted yields one value for each number from 1.
func counted[T any](count int, value func(int) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for n := range count {
			if !yield(value(n+1), nil) {
				return
			}
		}
	}
}

// benchRecords are what a lead sheet is like: texts, numbers, money, dates.
func benchRecords(count int) iter.Seq2[cell.Record, error] {
	cells := make([]cell.Cell, 20)
	return counted(count, func(n int) cell.Record {
		number := strconv.Itoa(n * 7)
		text := "text of row " + number
		for i := range cells {
			switch {
			case i < 10:
				cells[i] = cell.Cell{Kind: cell.Text, Raw: text, Shown: text}
			case i < 14:
				cells[i] = cell.Cell{Kind: cell.Number, Raw: number, Shown: number}
			case i < 16:
				cells[i] = cell.Cell{Kind: cell.Number, Raw: number, Shown: number, Format: "#,##0.00"}
			case i < 18:
				cells[i] = cell.Cell{Kind: cell.Date, Raw: "29342", Shown: "1980-05-01", Format: "dd/mm/yyyy"}
			default:
				cells[i] = cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}
			}
		}
		return cell.Record{Row: n + 1, Cells: cells}
	})
}

// streamed writes the sheet Results of a workbook with excelize.
func streamed(b *testing.B, path string, book reports.Workbook) {
	f := excelize.NewFile()
	defer f.Close()
	w := must(f.NewStreamWriter("Sheet1"))(b)
	styles := map[string]int{"": 0}
	row := 0
	for record, err := range book.Records {
		noError(b, err)
		row++
		line := make([]any, 0, 28)
		for _, c := range record.Cells {
			if _, ok := styles[c.Format]; !ok {
				styles[c.Format], err = f.NewStyle(&excelize.Style{CustomNumFmt: &c.Format})
				noError(b, err)
			}
			out := excelize.Cell{StyleID: styles[c.Format], Value: c.Raw}
			switch c.Kind {
			case cell.Number, cell.Date:
				out.Value, err = strconv.ParseFloat(c.Raw, 64)
				noError(b, err)
			case cell.Bool:
				out.Value = c.Raw == "1"
			}
			line = append(line, out)
		}
		line = append(line, "done", benchID(row), benchID(row), "https://go.example.test/"+benchID(row), nil, nil, nil, row)
		noError(b, w.SetRow("A"+strconv.Itoa(row), line))
	}
	noError(b, w.Flush())
	noError(b, f.SaveAs(path))
}
