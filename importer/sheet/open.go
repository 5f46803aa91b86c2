package sheet

import (
	"bytes"
	"iter"
	"maps"
	"os"

	"claimsheet/mapping"
)

// Options tell which part of a file is read.
type Options struct {
	Name      string // the sheet's name, exact or else ignoring case; "" means the first visible sheet
	HeaderRow int    // 1-based; 0 means 1
	// As is the path that the Sheet and problems name, and that tells whether a
	// text file is a CSV; "" means the path itself.
	As string
	// Password opens an encrypted workbook. One that Excel opens without asking
	// needs none.
	Password string

	// Of a CSV file, which has one sheet whatever Name says:
	Encoding  string // UTF8 or Windows1252, unless it has a byte order mark; "" means UTF8
	Delimiter string // one of , ; and tab; "" means the one that the header tells
}

// Reader reads one sheet of a file that it keeps open.
//
// Passes are independent of each other: they may be made one after another or
// side by side, from any goroutine, until Close.
type Reader struct {
	sheet      mapping.Sheet
	merges     []Area
	properties map[string]string
	records    func() iter.Seq2[mapping.Record, error]
	encrypted  bool
	close      func() error
}

// Open opens a workbook (.xlsx, .xlsm), by what it is and not by its name, or
// a file named .csv or .csv.gz.
//
// It reads everything but the rows below the header: the list of sheets,
// styles, shared strings, merged cells and the header itself. A workbook's
// sheet is unpacked and a CSV file read to its end, so that a file cut short or
// altered on its way is refused here, before any row is used.
//
// The error is a problem.Problem, or a problem.List where several rows of a CSV
// file are wrong.
func Open(path string, o Options) (*Reader, error) {
	if o.HeaderRow == 0 {
		o.HeaderRow = 1
	}
	if o.As == "" {
		o.As = path
	}
	file, kind, err := openFile(path, o.As)
	if err != nil {
		return nil, err
	}
	r, err := openKind(file, kind, o)
	if err != nil {
		file.Close()
		return nil, asProblem(o.As, err)
	}
	r.close = file.Close
	return r, nil
}

func openKind(file *os.File, kind fileKind, o Options) (*Reader, error) {
	switch kind {
	case csvText, csvGzip:
		return openCSV(file, kind == csvGzip, o)
	case compoundFile:
		workbook, secret, err := decrypt(file, o.Password)
		if err != nil {
			return nil, err
		}
		r, err := openWorkbook(bytes.NewReader(workbook), int64(len(workbook)), o)
		if err == nil {
			r.encrypted = secret
		}
		return r, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return openWorkbook(file, info.Size(), o)
}

// Sheet is what is known of the sheet besides its records. Trailing columns
// without a header are left out of its Header.
func (r *Reader) Sheet() mapping.Sheet { return r.sheet }

// Records are the rows below the header that have at least one value, in
// order. Each call is a fresh pass over the file.
//
// A Record's Cells are used again for the next one: they are valid until
// then, and Record.Clone keeps them. An error is the last thing that a pass
// delivers; without one, every row of the sheet was delivered. It is a
// problem.Problem.
//
// Cells are trimmed after the last one with a value, and may be longer than
// the header. Cells covered by a merged one are empty.
func (r *Reader) Records() iter.Seq2[mapping.Record, error] { return r.records() }

// Properties are the file's custom document properties by name, values as
// text; empty when it has none. Claimsheet knows its own results workbooks by
// them.
func (r *Reader) Properties() map[string]string { return maps.Clone(r.properties) }

// Encrypted tells that the file is a workbook that a password opened.
func (r *Reader) Encrypted() bool { return r.encrypted }

// Close lets go of the file. Passes under way end with an error.
func (r *Reader) Close() error { return r.close() }
