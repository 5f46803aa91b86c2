// Package sheet reads a spreadsheet (.xlsx, .xlsm or .csv), row by row, as records
// with typed cells.
//
// The first promise: no row is lost silently. A pass delivers every row of the sheet
// that has a value, or ends with an error. So every part is read to its end and its
// checksum compared, the XML must be complete, and rows or cells out of order are
// errors; nothing is repaired.
//
// What is wrong with a file is a problem.Problem whose place is the file, or a line
// or cell of a CSV file. Contents of cells never appear in a message. Codes:
// no-file, not-a-file, no-access, cannot-read, not-a-workbook, encrypted-workbook, wrong-password,
// damaged-workbook, workbook-too-large, sheet-not-found, empty-sheet, no-header; for
// a CSV file also not-text, unknown-delimiter, other-delimiter, extra-field, long-field,
// open-quote, stray-quote, is-utf-8, file-too-large.
package sheet

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet/xlsx"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Options say which part of a file is read.
type Options struct {
	Name      string // of the sheet, exact or else ignoring case; "" for the first visible one
	HeaderRow int    // from 1; 0 means 1
	// As is the path that the Sheet and problems name, and whose extension makes a
	// text file a CSV; "" means the path itself.
	As       string
	Password string // opens an encrypted workbook

	// Of a CSV file, which has one sheet whatever Name says:
	Encoding  string // utf-8 or windows-1252; "" means utf-8. A byte order mark decides first
	Delimiter string // one of , ; and tab; "" to find it in the header
}

// Reader reads one sheet of a file and keeps the file open.
//
// Passes are independent of each other: they may run one after another or side by
// side, from any goroutine, until Close.
type Reader struct {
	SheetNames []string          // of the workbook's visible sheets, in their order
	Properties map[string]string // the workbook's custom document properties by name, values as text
	Delimiter  string            // of the fields of a CSV file
	Merged     []cell.Area       // merged cells below the header that cover another cell of its columns, from the top
	Encrypted  bool              // the file is an encrypted workbook

	sheet   cell.Sheet
	records iter.Seq2[cell.Record, error]
	file    *os.File
}

// Open opens a workbook (.xlsx, .xlsm), whatever its name, or a file named .csv.
//
// It reads everything but the rows below the header: the list of sheets, styles,
// shared strings, merged cells and the header itself. A workbook's sheet is unpacked
// and a CSV file read to its end, so that a damaged or incomplete file is refused
// here, before any row is used.
//
// The error is a problem.Problem.
func Open(path string, o Options) (*Reader, error) {
	o.HeaderRow, o.As = cmp.Or(o.HeaderRow, 1), cmp.Or(o.As, path)
	file, err := safefile.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file, sheet: cell.Sheet{File: o.As, HeaderRow: o.HeaderRow}}
	if err := r.open(o); err != nil {
		file.Close()
		return nil, asProblem(o.As, err)
	}
	return r, nil
}

// Properties returns the custom document properties of the workbook at path by name, values
// as text. Only they are read, so it is fast for any size. It returns nil for a file that
// is not a workbook, or is damaged; an error means that the file could not be read.
func Properties(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would block for ever
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	properties, err := xlsx.Properties(file, info.Size())
	if _, isProblem := errors.AsType[problem.Problem](err); isProblem {
		return nil, nil
	}
	return properties, err
}

// open reads the file as what its first bytes say it is. Text is a CSV file only by its
// name, because nothing in it says so.
func (r *Reader) open(o Options) error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	head := make([]byte, 4)
	if _, err := r.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case size == 0:
		return problem.New("not-a-workbook", "is empty (0 bytes), not a workbook").Hinted("export the sheet again")
	case bytes.HasPrefix(head, []byte("PK")):
		return r.openWorkbook(r.file, size, o)
	case bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0")): // a compound file: an encrypted workbook, or an old .xls
		workbook, err := xlsx.Decrypt(r.file, size, o.Password)
		if err != nil {
			return err
		}
		r.Encrypted = true
		return r.openWorkbook(bytes.NewReader(workbook), int64(len(workbook)), o)
	case !strings.EqualFold(filepath.Ext(o.As), ".csv"):
		return problem.New("not-a-workbook", "is not a workbook; a sheet is an .xlsx, .xlsm or .csv file").
			Hinted("unpack it if it is packed; if it is a CSV file, name it .csv; else open it in a spreadsheet program and save it as .xlsx")
	}
	r.sheet.Name = filepath.Base(o.As)
	f, err := openCSV(r.file, size, r.sheet, o)
	if err != nil {
		return err
	}
	r.records, r.sheet.Header, r.Delimiter = f.records(), f.sheet.Header, string(f.comma)
	return nil
}

func (r *Reader) openWorkbook(file io.ReaderAt, size int64, o Options) error {
	w, err := xlsx.Open(file, size, o.Name, o.HeaderRow)
	if err != nil {
		return err
	}
	r.records, r.SheetNames, r.Properties, r.Merged = w.Records(), w.Visible, w.Properties, w.Merged()
	r.sheet.Name, r.sheet.Header = w.Name, w.Header
	r.sheet.Date1904, r.sheet.HiddenColumns = w.Date1904, w.HiddenColumns
	return nil
}

// Sheet returns what is known of the sheet besides its records. Its Header has no
// trailing columns without a name.
func (r *Reader) Sheet() cell.Sheet { return r.sheet }

// Records returns the rows below the header that have at least one value, in order.
// Each call is a fresh pass over the file.
//
// A Record's Cells are reused for the next one: they are valid until then. An error is the last thing that a pass delivers; without
// one, every row of the sheet was delivered. It is a problem.Problem.
//
// Cells end with the last one that has a value, and may be more than the header's.
// Cells covered by a merged one are empty.
func (r *Reader) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range r.records {
			if err != nil {
				err = asProblem(r.sheet.File, err)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// Close closes the file. Running passes end with an error.
func (r *Reader) Close() error { return r.file.Close() }

// asProblem turns any error of reading into a problem. A problem without a place gets
// the file as its place.
func asProblem(path string, err error) error {
	p, ok := errors.AsType[problem.Problem](err)
	if !ok {
		p = problem.New("cannot-read", "cannot be read: %v", problem.Cause(err))
	}
	if p.Where == (problem.Where{}) {
		p.Where = problem.Where{File: path}
	}
	return p
}
