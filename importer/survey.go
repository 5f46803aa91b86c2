package importer

import (
	"context"
	"crypto/sha256"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

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
	Invalid int               // rows with a cell that cannot be used; not counted where NewSurvey does not convert
	Notes   mapping.CellNotes // cells that make the mapping doubtful
	Groups  Groups            // the clients who belong together

	numbers map[[16]byte]int // of the clients, from 1, by fingerprint
	rows    spool.Groups     // of each client
}

// NewSurvey makes the first pass over a sheet. It reads every cell, so that a damaged
// sheet is noticed before anything is sent. With convert it converts all of them, so
// that a failing conversion is noticed; a command that sends nothing leaves that
// to Plans, which converts anyway.
func NewSurvey(ctx context.Context, b *mapping.Binding, rows *spool.Rows, convert bool) (*Survey, error) {
	s := &Survey{numbers: map[[16]byte]int{}}
	people := grouper{asked: map[[16]byte]int32{}}
	if len(b.Mapping().Contacts) > 0 {
		people.sent = map[[16]byte]int32{}
	}
	work := func(batch *spool.Batch) []surveyedRow {
		defer batch.Release()
		list := make([]surveyedRow, len(batch.Records))
		for i, record := range batch.Records {
			list[i] = surveyRow(b, record, convert)
		}
		return list
	}
	for row, err := range inParallel(rows.Batches(), work) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		s.Rows++
		s.Notes.Add(row.notes)
		if row.invalid {
			s.Invalid++
		}
		number := 0
		if row.client != [16]byte{} {
			if number = s.numbers[row.client]; number == 0 {
				number = len(s.numbers) + 1
				s.numbers[row.client] = number
			}
			people.add(number, row.people)
		}
		s.rows.Add(number)
	}
	s.Clients, s.Groups = len(s.numbers), people.joined(s.numbers)
	return s, nil
}

// surveyedRow is what a survey takes from a row.
type surveyedRow struct {
	client  [16]byte // the fingerprint of the client's key; zero for a row without a client
	invalid bool     // a cell of the row cannot be used
	notes   []mapping.CellNote
	people  []mapping.Person // the client first
}

// surveyRow converts a record, or without convert the part of it that says who its people are.
func surveyRow(b *mapping.Binding, record cell.Record, convert bool) surveyedRow {
	read := b.ConvertPeople
	if convert {
		read = b.Convert
	}
	row := read(record)
	r := surveyedRow{invalid: convert && len(row.Problems) > 0, notes: row.Notes, people: b.People(row)}
	if row.Client != (mapping.Identity{}) {
		r.client = fingerprint(row.Client)
	}
	if b.Mapping().Client.Existing == mapping.Create {
		r.people[0].Asked = nil
	}
	for _, id := range b.KnownIDsOf(row) { // clients with the same one belong together, too
		r.people[0].Asked = append(r.people[0].Asked, mapping.Identity{Space: "known " + string(id.Kind), Key: strings.ToLower(id.ID)})
	}
	return r
}

// Client returns the number of the client to whom a record of the sheets belongs; 0 when it belongs
// to no client. record counts from 0.
func (s *Survey) Client(record int) int { return s.rows.Number(record) }

// Number returns the number of a client in the sheets, from 1; 0 when they have no such client.
func (s *Survey) Number(who mapping.Identity) int { return s.numbers[fingerprint(who)] }

// Plans makes the second pass: it yields the plan of each client as soon as
// the client's last row has been read, wherever in the sheet its rows stand. A
// row that belongs to no client is a plan of its own, numbered 0.
//
// Every core makes plans ahead. In memory are the rows of these few clients, and a number for each
// row whose client has more rows to come.
func (s *Survey) Plans(b *mapping.Binding, rows *spool.Rows) iter.Seq2[mapping.Plan, error] {
	return s.PlansSeen(b, rows, func(cell.Record, mapping.ConvertedRow) {})
}

// PlansSeen is Plans, and calls see with each row before it yields the plan of the row's client.
// see is called by several goroutines, and must not keep the record.
func (s *Survey) PlansSeen(b *mapping.Binding, rows *spool.Rows, see func(cell.Record, mapping.ConvertedRow)) iter.Seq2[mapping.Plan, error] {
	work := func(batch *spool.Batch) []mapping.Plan {
		defer batch.Release()
		plans := make([]mapping.Plan, len(batch.Groups))
		var leads []mapping.ConvertedRow // a plan does not keep them
		for i, g := range batch.Groups {
			leads = leads[:0]
			for _, record := range g.Records {
				lead := b.Convert(record)
				see(record, lead)
				leads = append(leads, lead)
			}
			plans[i] = b.Plan(g.Number, leads)
		}
		return plans
	}
	return inParallel(rows.Grouped(&s.rows), work)
}

// RowProblems returns what is wrong with the rows of a plan, as a dry run reports it of a
// client for whom nothing is done yet. It needs neither ledger nor service.
func RowProblems(b *mapping.Binding, plan mapping.Plan) problem.List {
	if len(plan.Problems) > 0 {
		return plan.Problems
	}
	return takenNames(plan, nil, b)
}

// Clients who share an address are one group: they are worked on one after the other, in
// the order of the sheet, by one goroutine. So it never depends on chance which of two
// clients is created. A further contact belongs to the group of the client who is the same
// person, or is looked up by the same address. Between groups nothing is shared but what the ledger
// refuses to give twice: ids, redirect urls and addresses.

// Groups says which clients of the sheets belong to one group. In the zero value every
// client is a group alone. It is a union-find: each client leads to another one of its group, and
// in the end to the group's root.
type Groups struct {
	parent []int32       // by client number; when the survey has ended, every client leads to its root at once
	sizes  map[int32]int // how many clients a group has, by its root; only groups of several clients
}

// root returns the root of a client's group.
func (g *Groups) root(client int32) int32 {
	for g.parent[client] != client {
		g.parent[client] = g.parent[g.parent[client]]
		client = g.parent[client]
	}
	return client
}

func (g *Groups) join(a, b int32) {
	for int(max(a, b)) >= len(g.parent) {
		g.parent = append(g.parent, int32(len(g.parent)))
	}
	g.parent[g.root(a)] = g.root(b)
}

// size returns the group of a client and how many clients it has.
func (g *Groups) size(client int) (group int32, clients int) {
	if client == 0 || client >= len(g.parent) {
		return 0, 1
	}
	group = g.parent[client]
	return group, max(g.sizes[group], 1)
}

// grouper finds the groups while the rows are surveyed. It holds some bytes for each
// address: its fingerprint.
type grouper struct {
	groups   Groups
	asked    map[[16]byte]int32 // the first client who is looked up by an address
	sent     map[[16]byte]int32 // the first client who has an address without that; nil where there are no contacts
	mentions []mention
}

// mention is a person or an address in a client's rows. It joins the client with another one who is
// that person, or is looked up by that address; that of a contact also with one who has that address.
type mention struct {
	what      [16]byte
	client    int32
	isContact bool
}

func (g *grouper) add(client int, people []mapping.Person) {
	asked := people[0].Asked
	for _, address := range asked {
		key := fingerprint(address)
		if first, known := g.asked[key]; !known {
			g.asked[key] = int32(client)
		} else if first != int32(client) {
			g.groups.join(first, int32(client))
		}
	}
	for i, p := range people {
		if i > 0 && p.Who != (mapping.Identity{}) {
			p.Addresses = append(p.Addresses, p.Who)
		}
		for _, who := range p.Addresses {
			if slices.Contains(asked, who) {
				continue
			}
			m := mention{fingerprint(who), int32(client), i > 0}
			g.mentions = append(g.mentions, m)
			if _, known := g.sent[m.what]; !known && i == 0 && g.sent != nil {
				g.sent[m.what] = m.client
			}
		}
	}
}

// joined returns the groups. Call it after add of the last row. numbers are those of the clients, by
// the fingerprints of their keys.
func (g *grouper) joined(numbers map[[16]byte]int) Groups {
	for _, m := range g.mentions {
		if client, known := g.asked[m.what]; known {
			g.groups.join(client, m.client)
		}
		if client, known := g.sent[m.what]; known && m.isContact {
			g.groups.join(client, m.client)
		}
		if client, known := numbers[m.what]; known {
			g.groups.join(int32(client), m.client)
		}
	}
	g.groups.sizes = map[int32]int{}
	for i := range g.groups.parent {
		client := int32(i)
		if root := g.groups.root(client); root != client {
			g.groups.parent[client], g.groups.sizes[root] = root, max(g.groups.sizes[root], 1)+1
		}
	}
	return g.groups
}

// Grouped yields the plans of each group together, in the order in which they came, as soon as the
// last of them has come. A row without a client is a group alone.
func (g Groups) Grouped(plans iter.Seq2[mapping.Plan, error]) iter.Seq2[[]mapping.Plan, error] {
	return func(yield func([]mapping.Plan, error) bool) {
		waiting := map[int32][]mapping.Plan{}
		for plan, err := range plans {
			if err != nil {
				yield(nil, err)
				return
			}
			together := []mapping.Plan{plan}
			if group, clients := g.size(plan.Number); clients > 1 {
				if together = append(waiting[group], plan); len(together) < clients {
					waiting[group] = together
					continue
				}
				delete(waiting, group)
			}
			if !yield(together, nil) {
				return
			}
		}
		for _, together := range waiting { // groups of which not all plans have come
			if !yield(together, nil) {
				return
			}
		}
	}
}

// givesID reports whether the sheet gives the id of a plan's client.
func givesID(plan mapping.Plan) bool { return len(plan.Steps) > 0 && plan.Steps[0].KnownID != "" }

// fingerprint stands for an identity in memory: half of its SHA-256.
func fingerprint(who mapping.Identity) [16]byte {
	sum := sha256.Sum256([]byte(who.Space + "\x00" + who.Key))
	return [16]byte(sum[:16])
}

// inParallel yields the results of work(item) for each item, in the order of the items. It works on every
// core, some items ahead of the consumer, so work must be safe for concurrent use. It reads items in a
// goroutine of its own; all its goroutines end before the iteration returns. An error of items
// ends the iteration, and so does a panic of work or items, as a problem of the class Bug.
func inParallel[T, R any](items iter.Seq2[T, error], work func(T) []R) iter.Seq2[R, error] {
	type outcome struct {
		results []R
		err     error
	}
	return func(yield func(R, error) bool) {
		ordered, stop := make(chan chan outcome, 2*runtime.GOMAXPROCS(0)), make(chan struct{})
		var all sync.WaitGroup
		safely := func(do func() ([]R, error)) (o outcome) {
			defer func() {
				if p := recover(); p != nil {
					o.err = Caught(p)
				}
			}()
			o.results, o.err = do()
			return o
		}
		begin := func(do func() ([]R, error)) bool { // false when the consumer has stopped
			done := make(chan outcome, 1)
			select {
			case ordered <- done:
			case <-stop:
				return false
			}
			all.Go(func() { done <- safely(do) })
			return true
		}
		all.Go(func() {
			defer close(ordered)
			read := safely(func() ([]R, error) {
				for item, err := range items {
					if err != nil || !begin(func() ([]R, error) { return work(item), nil }) {
						return nil, err
					}
				}
				return nil, nil
			})
			if read.err != nil {
				begin(func() ([]R, error) { return nil, read.err })
			}
		})
		defer all.Wait()
		defer close(stop)
		for done := range ordered {
			o := <-done
			if o.err != nil {
				yield(*new(R), o.err)
				return
			}
			for _, r := range o.results {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func chunked[T any](items iter.Seq2[T, error], n int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		chunk := make([]T, 0, n)
		for item, err := range items {
			if err != nil {
				yield(nil, err)
				return
			}
			if chunk = append(chunk, item); len(chunk) == n {
				if !yield(chunk, nil) {
					return
				}
				chunk = make([]T, 0, n)
			}
		}
		if len(chunk) > 0 {
			yield(chunk, nil)
		}
	}
}
