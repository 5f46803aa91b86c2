package importer

import (
	"encoding/binary"
	"errors"
	"slices"

	"claimsheet/mapping/cell"
)

// keptReader reads records back, one after the other or by their place.
type keptReader struct {
	kept  *Kept
	from  *spillReader
	cells []cell.Cell
	spans []span
}

// span is where a cell's texts end among the texts of its record; shown is -1
// where a person sees what is stored.
type span struct{ raw, shown int }

func (k *Kept) reader(ahead int) *keptReader {
	return &keptReader{kept: k, from: k.spill.reader(ahead)}
}

// each gives do the records at some places, each valid until the next.
func (r *keptReader) each(places []int64, do func(cell.Record)) error {
	for _, at := range places {
		if err := r.from.seek(at); err != nil {
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

// next reads a record; its cells are used again for the next.
func (r *keptReader) next() (cell.Record, error) {
	entry, err := r.from.next()
	if err != nil {
		return cell.Record{}, err
	}
	d := decoder{rest: entry}
	record := cell.Record{Table: d.number(), Row: d.number(), Source: d.number()}
	n := d.number()
	record.Hidden = n&1 == 1
	r.cells = slices.Grow(r.cells[:0], n>>1)[:n>>1]
	r.spans = slices.Grow(r.spans[:0], n>>1)[:n>>1]
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
	record.Cells = r.cells
	return record, nil
}

// cellHead reads a cell's marks and lengths; end is where the texts before
// its own end, and those up to its own.
func (r *keptReader) cellHead(d *decoder, i, end int) int {
	marks := d.byte()
	c := &r.cells[i]
	c.Kind = cell.Kind(marks & kindBits)
	if marks == emptyCell {
		r.spans[i] = span{end, -1}
		return end
	}
	r.spans[i] = span{raw: end + d.number(), shown: -1}
	end = r.spans[i].raw
	if marks&asShown == 0 {
		end += d.number()
		r.spans[i].shown = end
	}
	if n := 0; marks&withFormat != 0 {
		if n = d.number(); n >= len(r.kept.formats) {
			d.failed = true
			return end
		}
		c.Format = r.kept.formats[n]
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
