// Package spool keeps what a run must go through more than once, and must not
// hold in memory, in private temporary files: the rows of its sheets, and the
// results of a dry run.
//
// Rows reads the sheets once and gives the same records to every pass; Grouped
// brings the rows of each client together, wherever they are in the sheet.
// Results holds a dry run's results until its workbook is written. In memory
// are a few bytes for each row and client.
//
// The files are readable by the user only (0600) and, where the system allows
// it, have no name: nothing of them is left when the process ends, however it
// ends.
package spool

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"slices"

	"claimsheet/mapping/cell"
)

// Rows holds the records of a run's sheets. The first complete pass reads the
// sheets and copies every record to the file; later passes read the file, which
// takes a tenth of the time and cannot give other rows.
//
// The first pass must have ended before another begins; later ones may run side
// by side. The cells of a record are valid until the pass yields the next one.
type Rows struct {
	source   iter.Seq2[cell.Record, error]
	file     *spoolFile
	complete bool // a pass has reached the end of the sheets
	formats  []string
	places   map[string]int // of formats
	entry    []byte
}

// NewRows returns the rows of source, with an empty file in folder. It does not
// read them yet. Call Close at the end of the run.
func NewRows(folder string, source iter.Seq2[cell.Record, error]) (*Rows, error) {
	file, err := newSpoolFile(folder)
	if err != nil {
		return nil, err
	}
	return &Rows{source: source, file: file, places: map[string]int{}}, nil
}

// Close removes the file.
func (r *Rows) Close() error { return r.file.close() }

// Records makes a pass: it yields the records in the order of the sheets. An
// error ends the pass, and the next one reads the sheets again.
func (r *Rows) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for placed, err := range r.placed() {
			if !yield(placed.record, err) || err != nil {
				return
			}
		}
	}
}

// Places returns where each record is in the file, in the order of the sheets, for
// Read. It makes a pass.
func (r *Rows) Places() (places []int64, err error) {
	for placed, err := range r.placed() {
		if err != nil {
			return nil, err
		}
		places = append(places, placed.at)
	}
	return places, nil
}

// Read calls do with the records at some places, each valid during the call. It may
// only follow a complete pass.
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
	for record, err := range r.source {
		placed := placedRecord{record: record}
		if err == nil {
			placed.at, err = r.file.add(r.encode(record))
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

// An entry is the record's numbers, then for each cell its marks and the
// lengths of its texts, then all texts. The marks of a cell hold its kind and:
const (
	kindBits   = 0x0f
	shownAsRaw = 0x10 // Shown equals Raw and is not written
	withFormat = 0x20

	emptyCell = byte(cell.Empty) | shownAsRaw // nothing follows it
)

// encode returns the entry of a record, valid until the next call.
func (r *Rows) encode(record cell.Record) []byte {
	b := binary.AppendUvarint(r.entry[:0], uint64(record.Table))
	b = binary.AppendUvarint(b, uint64(record.Row))
	b = binary.AppendUvarint(b, uint64(record.Source))
	hidden := uint64(0)
	if record.Hidden {
		hidden = 1
	}
	b = binary.AppendUvarint(b, uint64(len(record.Cells))<<1|hidden)
	b = binary.AppendUvarint(b, uint64(len(record.Above)))
	for _, cells := range [][]cell.Cell{record.Cells, record.Above} {
		for i := range cells {
			b = r.encodeCell(b, &cells[i])
		}
	}
	for _, cells := range [][]cell.Cell{record.Cells, record.Above} {
		for i := range cells {
			c := &cells[i]
			b = append(b, c.Raw...)
			if c.Shown != c.Raw {
				b = append(b, c.Shown...)
			}
		}
	}
	r.entry = b
	return b
}

func (r *Rows) encodeCell(b []byte, c *cell.Cell) []byte {
	marks := byte(c.Kind)
	if c.Shown == c.Raw {
		marks |= shownAsRaw
	}
	if c.Format != "" {
		marks |= withFormat
	}
	b = append(b, marks)
	if marks == emptyCell {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(c.Raw)))
	if marks&shownAsRaw == 0 {
		b = binary.AppendUvarint(b, uint64(len(c.Shown)))
	}
	if marks&withFormat != 0 {
		b = binary.AppendUvarint(b, uint64(r.format(c.Format)))
	}
	return b
}

// format returns the index of a number format in formats, and adds a new one.
func (r *Rows) format(code string) int {
	n, known := r.places[code]
	if !known {
		n = len(r.formats)
		r.places[code] = n
		r.formats = append(r.formats, code)
	}
	return n
}

// recordReader reads records back, in order or by their places.
type recordReader struct {
	rows  *Rows
	file  *fileReader
	cells []cell.Cell
	spans []span
}

// span is where a cell's texts end among the texts of its record; shown is -1
// where Shown equals Raw.
type span struct{ raw, shown int }

func (r *Rows) reader(ahead int) *recordReader {
	return &recordReader{rows: r, file: r.file.reader(ahead)}
}

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

var errDamagedRow = errors.New("a row that was kept while the sheet was read cannot be read back")

// next reads a record, whose cells are valid until the next call.
func (r *recordReader) next() (cell.Record, error) {
	entry, err := r.file.next()
	if err != nil {
		return cell.Record{}, err
	}
	d := decoder{rest: entry}
	record := cell.Record{Table: d.number(), Row: d.number(), Source: d.number()}
	n := d.number()
	record.Hidden = n&1 == 1
	own := n >> 1
	all := own + d.number()
	r.cells = slices.Grow(r.cells[:0], all)[:all]
	r.spans = slices.Grow(r.spans[:0], all)[:all]
	end := 0
	for i := range r.cells {
		r.cells[i] = cell.Cell{}
		end = r.cellHead(&d, i, end)
	}
	if d.failed || end != len(d.rest) {
		return cell.Record{}, errDamagedRow
	}
	text, from := string(d.rest), 0
	for i, s := range r.spans {
		c := &r.cells[i]
		c.Raw = text[from:s.raw]
		if c.Shown, from = c.Raw, s.raw; s.shown >= 0 {
			c.Shown, from = text[s.raw:s.shown], s.shown
		}
	}
	record.Cells, record.Above = r.cells[:own:own], r.cells[own:]
	return record, nil
}

// cellHead reads the marks and lengths of cell i. It takes the end of the texts
// before the cell's and returns the end of the cell's own.
func (r *recordReader) cellHead(d *decoder, i, end int) int {
	marks := d.byte()
	c := &r.cells[i]
	c.Kind = cell.Kind(marks & kindBits)
	if marks == emptyCell {
		r.spans[i] = span{end, -1}
		return end
	}
	r.spans[i] = span{raw: end + d.number(), shown: -1}
	end = r.spans[i].raw
	if marks&shownAsRaw == 0 {
		end += d.number()
		r.spans[i].shown = end
	}
	if n := 0; marks&withFormat != 0 {
		if n = d.number(); n >= len(r.rows.formats) {
			d.failed = true
			return end
		}
		c.Format = r.rows.formats[n]
	}
	return end
}

// decoder takes numbers off the front of an entry.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.failed = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) number() int {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > 1<<40 {
		d.failed = true
		return 0
	}
	d.rest = d.rest[size:]
	return int(n)
}
