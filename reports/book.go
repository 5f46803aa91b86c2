// Package reports shows what happened: it turns the results of a run into a workbook,
// a summary for a terminal and JSON.
//
// A workbook is a projection: nothing in it is known only there. It holds personal
// data and redirect urls, so only its owner may read the file. Summaries and errors
// hold neither.
//
// Memory does not grow with the rows: they are written while they are read. A dry run
// keeps twelve bytes for each client; links are kept up to the limit of a sheet, and
// rows that failed up to maxTroubled.
package reports

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// Book is everything that a results workbook shows, or a plan workbook when
// Summary.DryRun is set. An error from an iterator ends the writing.
type Book struct {
	// Sheet is the source sheet. Records may be wider than its header.
	Sheet cell.Sheet
	// Records are the source rows in sheet order. A record's cells need to be valid
	// only until the next record. Without Widths they are read twice.
	Records iter.Seq2[cell.Record, error]
	// Widths has measured the columns of Records, in an earlier pass over them; nil
	// to measure them first.
	Widths *ColumnWidths
	// Own are the columns of Sheet that an earlier results workbook added: they are
	// not written again. 0 is A.
	Own []int
	// Rows are the results by row number, ascending: exactly one for every
	// record.
	Rows iter.Seq2[result.Row, error]
	// Steps are what the run asked for, by client: the lines of the sheet Steps, or
	// of the sheet Plan in a dry run. nil for none.
	Steps iter.Seq2[result.Step, error]
	// Progress is what the service has said since: the lines of the sheet Progress, by
	// client. There is no such sheet without any.
	Progress []Progress
	Problems problem.List
	Summary  result.Summary
	// Facts are further lines of the sheet Summary, in order.
	Facts []Fact
	// ClientIDHeader is clientId (v1) or contactId (v2).
	ClientIDHeader string
	// Contacts adds the column contacts to the sheet Results.
	Contacts bool
	// Binding is stored in the workbook's document properties and read by IsOurs.
	// Empty values are left out. WriteWorkbook sets KindProperty.
	Binding map[string]string
	// Made is when the workbook says it was made. Take it from the run instead of
	// the clock, so that the same run gives the same workbook again. The zero Time
	// leaves it out.
	Made time.Time
	// Notice is the first line of the sheet Summary when it is not empty.
	Notice string
}

// Fact is a line of the sheet Summary: a text or, if Text is empty, a time, shown as
// a date in UTC.
type Fact struct {
	Label string
	Text  string
	Time  time.Time
}

// Written is a file that was written.
type Written struct {
	// Path is where it is: the path asked for, or NAME.2.xlsx and so on beside it
	// when the older file could not be replaced because a program has it open.
	Path string
	// Aside is where the edited workbook that was at the path is kept; "" when there
	// was none, or when it is still at the path.
	Aside string
	// Digest is the file's SHA-256 in hex.
	Digest string
}

// WriteWorkbook writes b to path, replacing what is there; see
// Placement.WriteWorkbook.
func WriteWorkbook(path string, b Book) (Written, error) {
	return Placement{Path: path}.WriteWorkbook(b)
}

// WriteWorkbook writes b to its place. The file appears complete, durable and
// readable by its owner only. After an error it does not appear at all: an older file
// stays as it was and nothing else is left behind. Whenever the program is killed,
// either the older or the new file is at the place.
//
// Every row that comes in goes out: a record without a result, or a result without a
// record, is an error. Results are read back before they replace anything; see
// xlsx.Workbook.Verify. The same Book gives the same bytes at any time and on any
// machine.
func (p Placement) WriteWorkbook(b Book) (Written, error) {
	w, err := writeAtomically(p, b.write)
	if err != nil {
		return Written{}, fmt.Errorf("writing the workbook %s: %w", p.Path, err)
	}
	return w, nil
}

// write writes the workbook to a new file and reads it back, except a plan, which a
// dry run can make again.
func (b Book) write(dst io.Writer, file readBack) error {
	w, err := writeBook(dst, b)
	if err != nil || b.Summary.DryRun {
		return err
	}
	return verify(w, file)
}

// verify reads a workbook back before it takes the place of another one.
func verify(w *xlsx.Workbook, file readBack) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return w.Verify(file, info.Size())
}

// writeBook writes the workbook's bytes.
func writeBook(dst io.Writer, b Book) (*xlsx.Workbook, error) {
	w := xlsx.New(dst)
	defer w.Abandon()
	kind := kindOf(b.Summary)
	// The source's serial numbers must mean the same days.
	if err := w.Describe("Claimsheet "+string(kind), "Claimsheet", b.Made, b.Sheet.Date1904); err != nil {
		return nil, err
	}
	for name, value := range b.Binding {
		w.SetProperty(name, value)
	}
	w.SetProperty(KindProperty, string(kind))
	// The sheets in the order in which the user should see them. Which cells of
	// Results the problems are about is known after Results.
	if b.hasProblems() {
		if err := w.AddSheet(ProblemsSheet); err != nil {
			return nil, err
		}
	}
	results, err := writeResults(w, b)
	if err != nil {
		return nil, err
	}
	if b.Summary.DryRun {
		err = writePlan(w, b, results.clients)
	} else {
		err = errors.Join(writeSteps(w, b), writeProgress(w, b))
	}
	if err != nil {
		return nil, err
	}
	if err := writeProblems(w, b, results); err != nil {
		return nil, err
	}
	if err := writeOverview(w, b); err != nil {
		return nil, err
	}
	return w, w.Close()
}
