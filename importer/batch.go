package importer

import (
	"sync"

	"claimsheet/mapping/cell"
)

// batchRows is how many rows are converted at a time.
const batchRows = 64

// batch is some rows that are converted together. They are copies, in space
// that is used again: release it when all that is needed of them is texts.
type batch struct {
	records []cell.Record
	groups  []group // of the records, one after the other
	cells   []cell.Cell
}

// group is the rows of one client, or one row of nobody's with the number 0.
type group struct {
	number int32
	rows   int
}

var batches = sync.Pool{New: func() any { return new(batch) }}

func newBatch() *batch { return batches.Get().(*batch) }

// release gives the space back.
func (b *batch) release() {
	b.records, b.groups, b.cells = b.records[:0], b.groups[:0], b.cells[:0]
	batches.Put(b)
}

// keep adds a record.
func (b *batch) keep(record cell.Record) {
	const most = 16_384 // cells at once
	from, n := len(b.cells), len(record.Cells)
	if cap(b.cells)-from < n { // the records before stay where they are
		b.cells, from = make([]cell.Cell, 0, max(n, min(batchRows*n, most))), 0
	}
	b.cells = append(b.cells, record.Cells...)
	record.Cells = b.cells[from : from+n : from+n]
	b.records = append(b.records, record)
}

// full tells that there are enough rows.
func (b *batch) full() bool { return len(b.records) >= batchRows }
