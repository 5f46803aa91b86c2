package importer

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// Survey is what the first pass over a sheet learns: which rows make one
// client, and how many there are of each. It holds a few bytes for each row
// and client, never their cells.
type Survey struct {
	Rows    int
	Clients int
	Invalid int // rows with a cell that cannot be used; not counted where Take does not convert
	// Typed are the dates, numbers and booleans under attributes whose type
	// nobody says.
	Typed mapping.TypedCells

	numbers map[[16]byte]int32
	groups  []int32 // by record, in sheet order: the client's number, from 1; 0 for a row without one
	sizes   []int32 // by client number - 1: how many rows
}

// Take makes the first pass: every cell is read, so that a damaged sheet shows
// before anything is sent. With convert they are all converted too, so that a
// failing conversion does; what sends nothing can leave that to Plans, where the
// type of every attribute is known.
func Take(ctx context.Context, b *mapping.Binding, rows *Kept, convert bool) (*Survey, error) {
	s := &Survey{numbers: map[[16]byte]int32{}}
	whose := func(record cell.Record) client { return clientOf(b.Client(record)) }
	if convert || len(b.Untyped()) > 0 {
		whose = func(record cell.Record) client {
			lead := b.Read(record)
			c := clientOf(lead.Client)
			c.invalid, c.typed = len(lead.Problems) > 0, lead.Typed
			return c
		}
	}
	work := func(b *batch) []client { return clientsOf(b, whose) }
	for who, err := range orderedMap(inBatches(rows.Records()), work) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for _, c := range who {
			s.add(c)
		}
	}
	s.Clients = len(s.sizes)
	return s, nil
}

// client is whose a row is: the fingerprint of an identity, or nobody's.
type client struct {
	known   bool
	invalid bool // the row has a cell that cannot be used
	key     [16]byte
	typed   []mapping.TypedCell
}

func clientOf(who mapping.Identity) client {
	if who == (mapping.Identity{}) {
		return client{}
	}
	return client{known: true, key: fingerprint(who)}
}

func clientsOf(b *batch, whose func(cell.Record) client) []client {
	defer b.release()
	list := make([]client, len(b.records))
	for i, record := range b.records {
		list[i] = whose(record)
	}
	return list
}

// add notes the sheet's next row.
func (s *Survey) add(c client) {
	s.Rows++
	s.Typed.Add(c.typed)
	if c.invalid {
		s.Invalid++
	}
	if !c.known {
		s.groups = append(s.groups, 0)
		return
	}
	number, seen := s.numbers[c.key]
	if !seen {
		s.sizes = append(s.sizes, 0)
		number = int32(len(s.sizes))
		s.numbers[c.key] = number
	}
	s.sizes[number-1]++
	s.groups = append(s.groups, number)
}

// inBatches passes copies of records on, some at a time.
func inBatches(rows iter.Seq2[cell.Record, error]) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		b := newBatch()
		for record, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if b.keep(record); b.full() {
				if !yield(b, nil) {
					return
				}
				b = newBatch()
			}
		}
		if len(b.records) > 0 {
			yield(b, nil)
		}
	}
}

// Has tells whether the sheet has a client.
func (s *Survey) Has(who mapping.Identity) bool { return s.numbers[fingerprint(who)] > 0 }

// fingerprint stands for an identity in memory: half of its SHA-256.
func fingerprint(who mapping.Identity) [16]byte {
	sum := sha256.Sum256([]byte(who.Space + "\x00" + who.Key))
	return [16]byte(sum[:16])
}

// Plans makes the second pass: it yields the plan of each client as soon as
// the client's last row has been read, wherever in the sheet its rows stand. A
// row that belongs to no client is a plan of its own, numbered 0.
//
// Plans are made some ahead, on every core. In memory are the rows of those
// few clients, and a number for each row of a client whose last one is to come.
func (s *Survey) Plans(b *mapping.Binding, rows *Kept) iter.Seq2[mapping.Plan, error] {
	work := func(batch *batch) []mapping.Plan {
		defer batch.release()
		plans, records := make([]mapping.Plan, len(batch.groups)), batch.records
		for i, g := range batch.groups {
			leads := make([]mapping.Lead, g.rows)
			for k, record := range records[:g.rows] {
				leads[k] = b.Read(record)
			}
			plans[i], records = b.Plan(int(g.number), leads), records[g.rows:]
		}
		return plans
	}
	return func(yield func(mapping.Plan, error) bool) {
		for plans, err := range orderedMap(s.gather(rows), work) {
			if err != nil {
				yield(mapping.Plan{}, err)
				return
			}
			for _, p := range plans {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// gather yields each client's rows at its last one, some clients at a time. Of
// rows that wait for a later one it holds their places, and reads them back when
// that has come.
func (s *Survey) gather(rows *Kept) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		back := rows.reader(spillLook)
		waiting := map[int32][]int64{}
		b, i := newBatch(), 0
		for placed, err := range rows.placed() {
			if err != nil {
				yield(nil, err)
				return
			}
			number := s.groups[i]
			i++
			places := waiting[number]
			if number != 0 && len(places)+1 < int(s.sizes[number-1]) {
				waiting[number] = append(places, placed.at)
				continue
			}
			if err := back.each(places, b.keep); err != nil {
				yield(nil, err)
				return
			}
			delete(waiting, number)
			b.keep(placed.record)
			b.groups = append(b.groups, group{number, len(places) + 1})
			if b.full() {
				if !yield(b, nil) {
					return
				}
				b = newBatch()
			}
		}
		if len(b.groups) > 0 && !yield(b, nil) {
			return
		}
		if i < s.Rows || len(waiting) > 0 {
			yield(nil, errors.New("the sheet has fewer rows than when it was first read"))
		}
	}
}
