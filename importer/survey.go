package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"iter"

	"claimsheet/importer/parallel"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Survey is the result of the first pass over a sheet: which rows belong to one
// client, and how many rows and clients there are. It holds a few bytes for each row
// and client, never their cells.
type Survey struct {
	Rows    int
	Clients int
	Invalid int // rows with a cell that cannot be used; not counted where Take does not convert
	// Problems are the first problems of those rows, without what the cells say.
	Problems problem.List
	// Typed are the dates, numbers and booleans under attributes for which neither
	// service nor mapping has a type.
	Typed mapping.TypedCells

	// KnownIDs are the ids that the rows give for clients and claims.
	KnownIDs KnownIDs
	// Groups are the clients who belong together; none where Take does not convert.
	Groups Groups

	numbers map[[16]byte]int // of the clients, from 1, by fingerprint
	rows    spool.Groups     // of each client
}

// firstProblems is how many problems a Survey keeps.
const firstProblems = 40

// Take makes the first pass over a sheet. It reads every cell, so that a damaged
// sheet is noticed before anything is sent. With convert it converts them too, so
// that a failing conversion is noticed; a command that sends nothing can leave that
// to Plans, which converts anyway.
func Take(ctx context.Context, b *mapping.Binding, rows *spool.Rows, convert bool) (*Survey, error) {
	s := &Survey{numbers: map[[16]byte]int{}}
	whose := func(record cell.Record) client { return clientOf(b.Client(record)) }
	if len(b.Mapping().Contacts) > 0 {
		s.KnownIDs.Clients = map[[16]byte]string{}
	}
	if convert || len(b.Untyped()) > 0 || b.KnownIDs() {
		whose = func(record cell.Record) client {
			lead := b.Convert(record)
			c := clientOf(lead.Client)
			c.invalid, c.typed = lead.Problems, lead.Typed
			c.row, c.ids, c.people = lead.Row, b.KnownIDsOf(lead), b.People(lead)
			return c
		}
	}
	var people grouper
	work := func(b *spool.Batch) []client { return clientsOf(b, whose) }
	for who, err := range parallel.Map(rows.Batches(), work) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for _, c := range who {
			if number := s.add(c); number > 0 {
				people.add(number, c.people)
			}
		}
	}
	s.Clients, s.Groups = len(s.numbers), people.groups(s.numbers)
	return s, nil
}

// client is the client of a row, as a fingerprint, or none.
type client struct {
	known   bool
	invalid problem.List // what is wrong with the row
	key     [16]byte
	typed   []mapping.TypedCell
	row     cell.Row          // set where ids are
	ids     []mapping.KnownID // that the row gives
	people  mapping.People
}

func clientOf(who mapping.Identity) client {
	if who == (mapping.Identity{}) {
		return client{}
	}
	return client{known: true, key: fingerprint(who)}
}

func clientsOf(b *spool.Batch, whose func(cell.Record) client) []client {
	defer b.Release()
	list := make([]client, len(b.Records))
	for i, record := range b.Records {
		list[i] = whose(record)
	}
	return list
}

// add notes the sheet's next row, and returns its client's number, 0 for none.
func (s *Survey) add(c client) (number int) {
	s.Rows++
	s.Typed.Add(c.typed)
	if len(c.invalid) > 0 {
		s.Invalid++
	}
	for _, p := range c.invalid[:min(len(c.invalid), firstProblems-len(s.Problems))] {
		p.Seen = ""
		s.Problems = append(s.Problems, p)
	}
	if c.known {
		if number = s.numbers[c.key]; number == 0 {
			number = len(s.numbers) + 1
			s.numbers[c.key] = number
		}
		s.KnownIDs.add(c.key, c.row, c.ids)
	}
	s.rows.Add(number)
	return number
}

// Facts are KnownIDs for Job.TakeFacts of another process.
func (s *Survey) Facts() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(s.KnownIDs)
	return b.Bytes(), err
}

// TakeFacts sets KnownIDs as Survey.Facts has them.
func (j *Job) TakeFacts(data []byte) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(&j.KnownIDs)
}

// Client returns the number of the client that a record of the sheets belongs to, 0 for
// none; record counts from 0.
func (s *Survey) Client(record int) int { return s.rows.Number(record) }

// Number returns the number of a client in the sheets, from 1; 0 when they have no such client.
func (s *Survey) Number(who mapping.Identity) int { return s.numbers[fingerprint(who)] }

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
func (s *Survey) Plans(b *mapping.Binding, rows *spool.Rows) iter.Seq2[mapping.Plan, error] {
	work := func(batch *spool.Batch) []mapping.Plan {
		defer batch.Release()
		plans := make([]mapping.Plan, len(batch.Groups))
		var leads []mapping.ConvertedRow // a plan does not keep them
		for i, g := range batch.Groups {
			leads = leads[:0]
			for _, record := range g.Records {
				leads = append(leads, b.Convert(record))
			}
			plans[i] = b.Plan(g.Number, leads)
		}
		return plans
	}
	return func(yield func(mapping.Plan, error) bool) {
		for plans, err := range parallel.Map(rows.Grouped(&s.rows), work) {
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

// RowProblems returns what is wrong with the rows of a plan, as a dry run reports it of a
// client for whom nothing is done yet. It needs neither ledger nor service.
func (s *Survey) RowProblems(b *mapping.Binding, plan mapping.Plan) problem.List {
	if len(plan.Problems) > 0 {
		return plan.Problems
	}
	return takenNames(plan, nil, b)
}
