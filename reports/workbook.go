// Package reports shows what happened: it turns the results of a run into a workbook, a summary for a terminal and JSON.
//
// A workbook is a projection: nothing in it is known only there. It holds personal data and redirect urls, so only its owner may read the
// file. Summaries and errors hold neither.
//
// The rows are written while they are read. What is kept in memory is eight bytes for each row, in Preview.
package reports

import (
	"io"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// KindProperty is the document property that marks a workbook as ours; its value is Results or Plan. Write sets it.
const KindProperty = "claimsheet.kind"

// The kinds of workbooks of ours.
const (
	Results = "results"
	Plan    = "plan" // of a dry run
)

// Workbook is everything that a results workbook shows, or a plan workbook when
// Summary.DryRun is set. An error from an iterator ends the writing.
type Workbook struct {
	// Sheet is the source sheet. Records may be wider than its header.
	Sheet cell.Sheet
	// Records are the source rows in sheet order. A record's cells need to be valid only until the next record.
	Records iter.Seq2[cell.Record, error]
	// Preview has noted all Records in an earlier pass over them.
	Preview *Preview
	// Rows are the results by row number, ascending: exactly one for every record. With problems they are read twice.
	Rows iter.Seq2[result.Row, error]
	// Steps are what the run asked for, by client: the lines of the sheet Steps, or of the sheet Plan in a dry run. nil for none.
	Steps    iter.Seq2[result.Step, error]
	Problems problem.List
	// Values are the lines of the sheet Values of a plan workbook.
	Values  []Value
	Summary result.Summary
	// Facts are further lines of the sheet Summary, in order.
	Facts []Fact
	// ClientIDHeader is clientId (v1) or contactId (v2).
	ClientIDHeader string
	// Contacts adds the column contacts to the sheet Results.
	Contacts bool
	// Binding is stored in the workbook's document properties and read by IsOurs. Empty values are left out. Write sets KindProperty.
	Binding map[string]string
	// Notice is the first line of the sheet Summary when it is not empty.
	Notice string
}

// Write writes a workbook to its place. The file appears complete, durable and readable by its owner only. After an error it does not
// appear at all: an older file stays as it was and nothing else is left behind. Whenever the program is killed, either the older or the new
// file is at the place.
//
// Every row that comes in goes out: a record without a result, or a result without a record, is an error.
func (p Placement) Write(b Workbook) (Placement, error) {
	if b.Steps == nil {
		b.Steps = func(func(result.Step, error) bool) {}
	}
	kind := Results
	if b.Summary.DryRun {
		kind = Plan
	}
	return p.write(func(file io.Writer) (*xlsx.Writer, error) {
		// The source's serial numbers must mean the same days.
		w := xlsx.NewWriter(file, b.Sheet.Date1904)
		for _, name := range slices.Sorted(maps.Keys(b.Binding)) {
			w.SetProperty(name, b.Binding[name])
		}
		w.SetProperty(KindProperty, string(kind))
		return w, b.writeSheets(w)
	})
}

// writeSheets writes the sheets, those first that the user should see first.
func (b Workbook) writeSheets(w *xlsx.Writer) error {
	sheets := []func(*xlsx.Writer, Workbook) error{writeResults, writeSteps, writeSummary}
	if b.Summary.DryRun {
		sheets = []func(*xlsx.Writer, Workbook) error{writeResults, writePlan, writeValues, writeSummary}
	}
	if len(b.Problems) > 0 || b.Summary.Rows.Failed+b.Summary.Rows.Uncertain > 0 {
		sheets = slices.Insert(sheets, 0, writeProblems)
	}
	for _, write := range sheets {
		if err := write(w, b); err != nil {
			return err
		}
	}
	return nil
}

// WriteList writes a workbook of one sheet with a header and rows of texts to path,
// complete or not at all. It is not a results workbook: nothing reads it back.
func WriteList(path, sheet string, header []string, rows [][]string) error {
	_, err := Placement{Path: path}.write(func(file io.Writer) (*xlsx.Writer, error) {
		w := xlsx.NewWriter(file, false)
		layout := xlsx.Layout{Name: sheet, Headers: header, Ours: len(header)}
		for i, h := range header {
			longest := headerWidth(h)
			for _, row := range rows {
				longest = max(longest, utf8.RuneCountInString(row[i]))
			}
			layout.Widths = append(layout.Widths, float64(min(longest, 60)+2))
		}
		t := w.NewSheet(layout)
		for _, row := range rows {
			t.Next(1, false)
			for _, text := range row {
				t.Text(xlsx.Style{}, text)
			}
			t.End()
		}
		return w, t.Close()
	})
	return err
}
