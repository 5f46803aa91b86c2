package importer

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"

	"claimsheet/mapping/cell"
)

// Kept is what a run's sheets hold, read once and gone through many times: the first
// whole pass writes every record to a private file without a name, and later
// ones read it from there, which takes a tenth of the time and can give no
// other rows. In memory it holds the number formats.
//
// The first pass must have ended before another begins; after it, passes may
// run side by side. A record's cells are valid until the pass's next one.
type Kept struct {
	source  iter.Seq2[cell.Record, error]
	spill   *spill
	whole   bool // a pass has reached the end of the sheet
	formats []string
	known   map[string]int
	entry   []byte
}

// Keep keeps the records of a sheet in a file in folder. Close it when the
// run is over.
func Keep(folder string, source iter.Seq2[cell.Record, error]) (*Kept, error) {
	s, err := newSpill(folder)
	if err != nil {
		return nil, err
	}
	return &Kept{source: source, spill: s, known: map[string]int{}}, nil
}

// Close gives the file back.
func (k *Kept) Close() error { return k.spill.close() }

// Records are the sheet's records in order. An error ends them.
func (k *Kept) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for placed, err := range k.placed() {
			if !yield(placed.record, err) || err != nil {
				return
			}
		}
	}
}

// placedRecord is a record and where it is kept.
type placedRecord struct {
	at     int64
	record cell.Record
}

func (k *Kept) placed() iter.Seq2[placedRecord, error] {
	if k.whole {
		return k.again
	}
	return k.first
}

// first passes the sheet's records on and keeps them.
func (k *Kept) first(yield func(placedRecord, error) bool) {
	k.spill.reset()
	for record, err := range k.source {
		placed := placedRecord{record: record}
		if err == nil {
			placed.at, err = k.spill.add(k.encode(record))
		}
		if !yield(placed, err) || err != nil {
			return
		}
	}
	if err := k.spill.flush(); err != nil {
		yield(placedRecord{}, err)
		return
	}
	k.whole = true
}

// again reads them back.
func (k *Kept) again(yield func(placedRecord, error) bool) {
	r := k.reader(spillBuffer)
	for {
		at := r.from.at
		record, err := r.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if !yield(placedRecord{at, record}, err) || err != nil {
			return
		}
	}
}

// The marks of a cell, besides its kind.
const (
	kindBits   = 0x0f
	asShown    = 0x10 // what is shown is what is stored
	withFormat = 0x20

	emptyCell = byte(cell.Empty) | asShown // nothing follows it
)

// encode writes a record as the bytes that keptReader reads: its numbers, then
// for each cell its marks and the lengths of its texts, then all texts.
func (k *Kept) encode(r cell.Record) []byte {
	b := binary.AppendUvarint(k.entry[:0], uint64(r.Table))
	b = binary.AppendUvarint(b, uint64(r.Row))
	b = binary.AppendUvarint(b, uint64(r.Source))
	hidden := uint64(0)
	if r.Hidden {
		hidden = 1
	}
	b = binary.AppendUvarint(b, uint64(len(r.Cells))<<1|hidden)
	for i := range r.Cells {
		b = k.encodeCell(b, &r.Cells[i])
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		b = append(b, c.Raw...)
		if c.Shown != c.Raw {
			b = append(b, c.Shown...)
		}
	}
	k.entry = b
	return b
}

func (k *Kept) encodeCell(b []byte, c *cell.Cell) []byte {
	marks := byte(c.Kind)
	if c.Shown == c.Raw {
		marks |= asShown
	}
	if c.Format != "" {
		marks |= withFormat
	}
	b = append(b, marks)
	if marks == emptyCell {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(c.Raw)))
	if marks&asShown == 0 {
		b = binary.AppendUvarint(b, uint64(len(c.Shown)))
	}
	if marks&withFormat != 0 {
		b = binary.AppendUvarint(b, uint64(k.format(c.Format)))
	}
	return b
}

// format is a number format's place among those seen.
func (k *Kept) format(code string) int {
	n, seen := k.known[code]
	if !seen {
		n = len(k.formats)
		k.known[code] = n
		k.formats = append(k.formats, code)
	}
	return n
}
