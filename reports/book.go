package reports

import (
	"archive/zip"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// Book is everything that a results workbook shows, or a plan workbook when
// Summary.DryRun is set. An error from an iterator ends the writing.
type Book struct {
	// Sheet is the source sheet. Records may be wider than its header.
	Sheet mapping.Sheet
	// Records are the source rows in sheet order. They are gone through twice:
	// the columns are measured before the first row is written. A record's
	// cells need be valid only until the next one.
	Records iter.Seq2[mapping.Record, error]
	// Own are columns of Sheet that are not written again: those that an earlier
	// results workbook added. 0 is A.
	Own []int
	// Rows are the results by row number, ascending: exactly one for every
	// record.
	Rows     iter.Seq2[importer.RowResult, error]
	Steps    iter.Seq2[importer.StepResult, error] // nil for none
	Problems problem.List
	Summary  importer.Summary
	// Facts are further lines of the sheet Summary, in order.
	Facts []Fact
	// ClientIDHeader is clientId (v1) or contactId (v2).
	ClientIDHeader string
	// Binding is kept in the workbook's document properties and read back by
	// IsOurs. Empty values are left out. KindProperty is set by WriteWorkbook.
	Binding map[string]string
	// Notice stands at the top of the sheet Summary when it is not empty.
	Notice string
}

// Fact is a line of the sheet Summary.
type Fact struct {
	Label string
	Text  string
}

// Written is a workbook that was written.
type Written struct {
	// Path is where it is: the path asked for, or NAME.2.xlsx and so on beside
	// it when that could not be replaced because another program holds it open.
	Path string
	// Digest is the file's SHA-256 in hex.
	Digest string
}

// WriteWorkbook writes b to path, replacing what is there. The file appears
// whole, durable and readable by its owner only, or, after an error, not at
// all: an older file stays as it was and nothing else is left behind.
//
// The number of rows that come in is the number that go out: a record without
// a result, or a result without a record, is an error.
func WriteWorkbook(path string, b Book) (Written, error) {
	w, err := writeAtomically(path, func(dst io.Writer, scratch string) error {
		return writeBook(dst, scratch, b)
	})
	if err != nil {
		return Written{}, fmt.Errorf("writing the workbook %s: %w", path, err)
	}
	return w, nil
}

// workbook is a file under construction.
type workbook struct {
	*excelize.File
	styles   styles
	literals literals
}

// writeBook writes the workbook's bytes; excelize spills into scratch.
func writeBook(dst io.Writer, scratch string, b Book) error {
	w := &workbook{File: excelize.NewFile(excelize.Options{TmpDir: scratch}), literals: newLiterals()}
	defer func() {
		// Its only work is to remove spilled files, which go with scratch.
		_ = w.Close()
	}()
	w.styles = newStyles(w.File)
	// The archive goes straight to dst: excelize would hold the whole of it in
	// memory first. What it then writes itself is empty.
	w.SetZipWriter(func(io.Writer) excelize.ZipWriter {
		return &literalZip{Writer: zip.NewWriter(dst), literals: w.literals}
	})
	if err := w.describe(b); err != nil {
		return err
	}
	for _, sheet := range []func(*workbook, Book) error{writeResults, writeSteps, writeProblems, writeOverview} {
		if err := sheet(w, b); err != nil {
			return err
		}
	}
	return w.Write(io.Discard)
}

// describe sets what belongs to the whole workbook: the date system, so that
// the source's serial numbers mean the same days, and its properties.
func (w *workbook) describe(b Book) error {
	date1904 := b.Sheet.Date1904
	if err := w.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	if err := w.SetDocProps(&excelize.DocProperties{
		Title: "Claimsheet " + string(kindOf(b.Summary)), Creator: "Claimsheet", LastModifiedBy: "Claimsheet",
		Created: now, Modified: now,
	}); err != nil {
		return err
	}
	return w.bind(b)
}
