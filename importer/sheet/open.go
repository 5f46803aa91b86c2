package sheet

import (
	"iter"
	"maps"

	"claimsheet/mapping"
)

// Options tell which part of a file is read.
type Options struct {
	Name      string // the sheet's name, exact or else ignoring case; "" means the first visible sheet
	HeaderRow int    // 1-based; 0 means 1
}

// Reader reads one sheet of a file that it keeps open.
//
// Passes are independent of each other: they may be made one after another or
// side by side, from any goroutine, until Close.
type Reader struct {
	sheet      mapping.Sheet
	properties map[string]string
	records    func() iter.Seq2[mapping.Record, error]
	close      func() error
}

// Open opens an .xlsx or .xlsm file, by what it is and not by its name, and
// reads everything but the rows below the header: the list of sheets, styles,
// shared strings, merged cells and the header itself. The sheet is unpacked
// to its end, so that a file cut short or altered on its way is refused here,
// before any row is used.
//
// The error is a problem.Problem.
func Open(path string, o Options) (*Reader, error) {
	if o.HeaderRow == 0 {
		o.HeaderRow = 1
	}
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	r, err := openWorkbook(file, path, o)
	if err != nil {
		file.Close()
		return nil, asProblem(path, err)
	}
	r.close = file.Close
	return r, nil
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

// Close lets go of the file. Passes under way end with an error.
func (r *Reader) Close() error { return r.close() }
