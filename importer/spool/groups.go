package spool

import (
	"errors"
	"iter"
	"sync"

	"claimsheet/mapping/cell"
)

// Groups says which records belong together: the rows of one client. It holds four bytes for each record and for each group.
type Groups struct {
	numbers []int32 // by record, in the order of the sheets
	sizes   []int32 // by group number - 1: its records
}

// Add says which group the next record belongs to. Groups are numbered from 1
// as they first appear; 0 is for a record that belongs to no group.
func (g *Groups) Add(number int) {
	g.numbers = append(g.numbers, int32(number))
	if number == 0 {
		return
	}
	if number > len(g.sizes) {
		g.sizes = append(g.sizes, 0)
	}
	g.sizes[number-1]++
}

// Number returns the group of a record, by its place in the sheets from 0.
func (g *Groups) Number(record int) int { return int(g.numbers[record]) }

// Batch is some records that are worked on together. They are copies in memory that Release gives back for the next batch.
type Batch struct {
	Records []cell.Record
	Groups  []Group // divide the records, from the first to the last
	cells   []cell.Cell
}

// Group is the records of one group, in the order of the sheets, or a single record that belongs to none and has the number 0.
type Group struct {
	Number  int
	Records []cell.Record
}

const (
	batchRows  = 64     // a batch is full when it has as many records
	batchCells = 16_384 // most cells allocated at once, unless one record has more
)

var batches = sync.Pool{New: func() any { return new(Batch) }}

// Release ends the use of the batch, its records and their cells. The texts of the cells stay valid.
func (b *Batch) Release() {
	b.Records, b.Groups, b.cells = b.Records[:0], b.Groups[:0], b.cells[:0]
	batches.Put(b)
}

// add copies a record.
func (b *Batch) add(record cell.Record) {
	record.Cells, record.Above = b.copied(record.Cells), b.copied(record.Above)
	b.Records = append(b.Records, record)
}

// copied returns a copy of cells, which belongs to the batch.
func (b *Batch) copied(cells []cell.Cell) []cell.Cell {
	from, n := len(b.cells), len(cells)
	if cap(b.cells)-from < n { // the cells before stay in the old memory
		b.cells, from = make([]cell.Cell, 0, max(n, min(batchRows*n, batchCells))), 0
	}
	b.cells = append(b.cells, cells...)
	return b.cells[from : from+n : from+n]
}

// Batches makes a pass as Records does, and yields copies of the records, some at a time.
func (r *Rows) Batches() iter.Seq2[*Batch, error] { return r.Grouped(nil) }

// Grouped makes a pass and yields each group complete, at the place of its last record; with nil each record is a group. It may only follow a
// complete pass, unless groups is nil. In memory are the records of some groups, and the places of the records whose group is not complete yet.
func (r *Rows) Grouped(groups *Groups) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		back := r.reader(lookSize)
		waiting := map[int32][]int64{}
		b, i := batches.Get().(*Batch), 0
		for placed, err := range r.placed() {
			if err != nil {
				yield(nil, err)
				return
			}
			number := int32(0)
			if groups != nil {
				number = groups.numbers[i]
			}
			i++
			places := waiting[number]
			if number != 0 && len(places)+1 < int(groups.sizes[number-1]) {
				waiting[number] = append(places, placed.at)
				continue
			}
			if err := back.each(places, b.add); err != nil {
				yield(nil, err)
				return
			}
			delete(waiting, number)
			b.add(placed.record)
			b.Groups = append(b.Groups, Group{Number: int(number), Records: b.Records[len(b.Records)-len(places)-1:]})
			if len(b.Records) >= batchRows {
				if !yield(b, nil) {
					return
				}
				b = batches.Get().(*Batch)
			}
		}
		if len(b.Groups) > 0 && !yield(b, nil) {
			return
		}
		if groups != nil && (i < len(groups.numbers) || len(waiting) > 0) {
			yield(nil, errors.New("the sheet has fewer rows than when it was first read"))
		}
	}
}
