// Package spool keeps what a run must go through more than once, and must not hold in memory, in private temporary files: the rows of its
// sheets, and the results of a dry run.
//
// Rows reads the sheets once and gives the same records to every pass; Grouped brings the rows of each client together, wherever they are
// in the sheet. Results holds a dry run's results until its workbook is written. In memory are a few bytes for each row and client.
//
// The files are readable by the user only (0600) and, where the system allows it, have no name: nothing of them is left when the process
// ends, however it ends.
package spool

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"slices"

	"claimsheet/mapping/cell"
)

// Rows holds the records of a run's sheets. The first complete pass reads the sheets and copies every record to the file; later passes read
// the file, which takes a tenth of the time and cannot give other rows.
//
// The first pass must have ended before another begins; later ones may run side
// by side. The cells of a record are valid until the pass yields the next one.
type Rows struct {
	source   iter.Seq2[cell.Record, error]
	file     *spoolFile
	complete bool // a pass has reached the end of the sheets
}

// NewRows returns the rows of source, with an empty file in folder. It does not read them yet. Call Close at the end of the run.
func NewRows(folder string, source iter.Seq2[cell.Record, error]) (*Rows, error) {
	file, err := newSpoolFile(folder)
	if err != nil {
		return nil, err
	}
	return &Rows{source: source, file: file}, nil
}

// Close removes the file.
func (r *Rows) Close() error { return r.file.close() }

// Records makes a pass: it yields the records in the order of the sheets. An error ends the pass, and the next one reads the sheets again.
func (r *Rows) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for placed, err := range r.placed() {
			if !yield(placed.record, err) || err != nil {
				return
			}
		}
	}
}

// Places returns where each record is in the file, in the order of the sheets, for Read. It makes a pass.
func (r *Rows) Places() (places []int64, err error) {
	for placed, err := range r.placed() {
		if err != nil {
			return nil, err
		}
		places = append(places, placed.at)
	}
	return places, nil
}

// Read calls do with the records at some places, each valid during the call. It may only follow a complete pass.
func (r *Rows) Read(places []int64, do func(cell.Record)) error {
	return r.reader(lookSize).each(places, do)
}

// placedRecord is a record and its place in the file.
type placedRecord struct {
	at     int64
	record cell.Record
}

func (r *Rows) placed() iter.Seq2[placedRecord, error] {
	if r.complete {
		return r.replay
	}
	return r.first
}

// first passes on the records of the sheets and copies them to the file.
func (r *Rows) first(yield func(placedRecord, error) bool) {
	r.file.reset()
	var encoded []byte
	for record, err := range r.source {
		placed := placedRecord{record: record}
		if err == nil {
			encoded = appendRecord(encoded[:0], record)
			placed.at, err = r.file.add(encoded)
		}
		if !yield(placed, err) || err != nil {
			return
		}
	}
	if err := r.file.flush(); err != nil {
		yield(placedRecord{}, err)
		return
	}
	r.complete = true
}

// replay reads the records back from the file.
func (r *Rows) replay(yield func(placedRecord, error) bool) {
	from := r.reader(bufferSize)
	for {
		at := from.file.at
		record, err := from.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if !yield(placedRecord{at, record}, err) || err != nil {
			return
		}
	}
}

// isShown marks the kind of a cell whose Shown differs from Raw.
const isShown = 0x80

// appendRecord appends the entry of a record: its numbers, and then for each cell its kind and its texts.
func appendRecord(b []byte, record cell.Record) []byte {
	hidden := 0
	if record.Hidden {
		hidden = 1
	}
	for _, n := range []int{record.Table, record.Row, record.Source, hidden, len(record.Cells), len(record.Above)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, cells := range [][]cell.Cell{record.Cells, record.Above} {
		for i := range cells {
			b = appendCell(b, &cells[i])
		}
	}
	return b
}

func appendCell(b []byte, c *cell.Cell) []byte {
	if c.Shown == c.Raw {
		return appendText(appendText(append(b, byte(c.Kind)), c.Raw), c.Format)
	}
	return appendText(appendText(appendText(append(b, byte(c.Kind)|isShown), c.Raw), c.Format), c.Shown)
}

// recordReader reads records back, in order or by their places.
type recordReader struct {
	file  *fileReader
	cells []cell.Cell
}

func (r *Rows) reader(ahead int) *recordReader { return &recordReader{file: r.file.reader(ahead)} }

// each calls do with the records at some places, each valid during the call.
func (r *recordReader) each(places []int64, do func(cell.Record)) error {
	for _, at := range places {
		if err := r.file.seek(at); err != nil {
			return err
		}
		record, err := r.next()
		if err != nil {
			return err
		}
		do(record)
	}
	return nil
}

// next reads a record, whose cells are valid until the next call.
func (r *recordReader) next() (cell.Record, error) {
	e, err := r.file.next()
	if err != nil {
		return cell.Record{}, err
	}
	record := cell.Record{Table: e.number(), Row: e.number(), Source: e.number(), Hidden: e.number() == 1}
	own := e.number()
	all := min(own+e.number(), len(e.bytes)) // each cell has a byte at least
	r.cells = slices.Grow(r.cells[:0], all)[:all]
	for i := range r.cells {
		readCell(e, &r.cells[i])
	}
	if e.failed || len(e.bytes) > 0 || own > all {
		return cell.Record{}, errors.New("a row that was kept while the sheet was read cannot be read back")
	}
	record.Cells, record.Above = r.cells[:own:own], r.cells[own:]
	return record, nil
}

func readCell(e *entry, c *cell.Cell) {
	kind := e.byte()
	*c = cell.Cell{Kind: cell.Kind(kind &^ isShown), Raw: e.text(), Format: e.text()}
	if c.Shown = c.Raw; kind&isShown != 0 {
		c.Shown = e.text()
	}
}
