package reports

import (
	"fmt"
	"io"
	"iter"
	"time"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Book is everything that a results workbook shows, or a plan workbook when
// Summary.DryRun is set. An error from an iterator ends the writing.
type Book struct {
	// Sheet is the source sheet. Records may be wider than its header.
	Sheet cell.Sheet
	// Records are the source rows in sheet order. A record's cells need be valid
	// only until the next one. Without Ruler they are gone through twice.
	Records iter.Seq2[cell.Record, error]
	// Ruler has measured the columns of Records, in a pass over them that was
	// made for something else; nil to measure them first.
	Ruler *Ruler
	// Own are columns of Sheet that are not written again: those that an earlier
	// results workbook added. 0 is A.
	Own []int
	// Rows are the results by row number, ascending: exactly one for every
	// record.
	Rows iter.Seq2[result.Row, error]
	// Steps are what the run asked for, by client: the lines of the sheet Steps,
	// or of the sheet Plan in a dry run. nil for none.
	Steps    iter.Seq2[result.Step, error]
	Problems problem.List
	Summary  result.Summary
	// Facts are further lines of the sheet Summary, in order.
	Facts []Fact
	// ClientIDHeader is clientId (v1) or contactId (v2).
	ClientIDHeader string
	// Binding is kept in the workbook's document properties and read back by
	// IsOurs. Empty values are left out. KindProperty is set by WriteWorkbook.
	Binding map[string]string
	// Made is when the workbook says it was made. Take it from the run rather
	// than the clock, so that the same run gives the same workbook again. The
	// zero Time leaves it out.
	Made time.Time
	// Notice stands at the top of the sheet Summary when it is not empty.
	Notice string
}

// Fact is a line of the sheet Summary: a text, or a moment if Text is empty,
// which stands there as a date in UTC.
type Fact struct {
	Label string
	Text  string
	Time  time.Time
}

// Written is a workbook that was written.
type Written struct {
	// Path is where it is: the path asked for, or NAME.2.xlsx and so on beside
	// it when that could not be replaced because another program holds it open.
	Path string
	// Aside is where the edited workbook that was there is kept; "" when there
	// was none, or when it stays at the path asked for.
	Aside string
	// Digest is the file's SHA-256 in hex.
	Digest string
}

// WriteWorkbook writes b to path, replacing what is there; see
// Placement.WriteWorkbook.
func WriteWorkbook(path string, b Book) (Written, error) {
	return Placement{Path: path}.WriteWorkbook(b)
}

// WriteWorkbook writes b to its place. The file appears whole, durable and
// readable by its owner only, or, after an error, not at all: an older file
// stays as it was and nothing else is left behind. Until the new file takes its
// place the older one is there, whenever the program is killed.
//
// The number of rows that come in is the number that go out: a record without
// a result, or a result without a record, is an error. Results are read back
// before they take their place; see verify. The same Book gives the same bytes
// at any time and on any machine.
func (p Placement) WriteWorkbook(b Book) (Written, error) {
	w, err := writeAtomically(p, b.write)
	if err != nil {
		return Written{}, fmt.Errorf("writing the workbook %s: %w", p.Path, err)
	}
	return w, nil
}

// write writes the workbook to a new file and reads it back, unless it is a plan,
// which can be had again.
func (b Book) write(dst io.Writer, file readBack) error {
	w, err := writeBook(dst, b)
	if err != nil || b.Summary.DryRun {
		return err
	}
	return w.verify(file)
}

// writeBook writes the workbook's bytes.
func writeBook(dst io.Writer, b Book) (*workbook, error) {
	w := newWorkbook(dst)
	defer w.abandon()
	if err := w.describe(b); err != nil {
		return nil, err
	}
	// The tabs in the order in which a person should see them. Which cells of
	// the results the problems are about is known after these.
	if len(b.Problems) > 0 {
		if err := w.tab(ProblemsSheet); err != nil {
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
		err = writeSteps(w, b)
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
	return w, w.complete()
}
