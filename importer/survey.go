package importer

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"

	"claimsheet/mapping"
)

// Survey is what the first pass over a sheet learns: which rows make one
// client, and how many there are of each. It holds a few bytes for each row
// and client, never their cells.
type Survey struct {
	Rows    int
	Clients int
	Invalid int // rows with a cell that cannot be used

	numbers map[[16]byte]int32
	groups  []int32 // by record, in sheet order: the client's number, from 1; 0 for a row without one
	sizes   []int32 // by client number - 1: how many rows
}

// Take makes the first pass: every cell is read and converted, so that a
// damaged sheet or a failing conversion shows before anything is sent.
func Take(ctx context.Context, b *mapping.Binding, records iter.Seq2[mapping.Record, error]) (*Survey, error) {
	s := &Survey{numbers: map[[16]byte]int32{}}
	for record, err := range records {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		lead := b.Read(record)
		s.Rows++
		if len(lead.Problems) > 0 {
			s.Invalid++
		}
		if lead.Client == (mapping.Identity{}) {
			s.groups = append(s.groups, 0)
			continue
		}
		key := fingerprint(lead.Client)
		number, known := s.numbers[key]
		if !known {
			s.sizes = append(s.sizes, 0)
			number = int32(len(s.sizes))
			s.numbers[key] = number
		}
		s.sizes[number-1]++
		s.groups = append(s.groups, number)
	}
	s.Clients = len(s.sizes)
	return s, nil
}

// Has tells whether the sheet has a client.
func (s *Survey) Has(who mapping.Identity) bool { return s.numbers[fingerprint(who)] > 0 }

// fingerprint stands for an identity in memory: 16 bytes of its SHA-256.
func fingerprint(who mapping.Identity) [16]byte {
	sum := sha256.Sum256([]byte(who.Space + "\x00" + who.Key))
	return [16]byte(sum[:16])
}

// Plans makes the second pass: it yields the plan of each client as soon as
// the client's last row has been read, wherever in the sheet its rows stand. A
// row that belongs to no client is a plan of its own, numbered 0.
func (s *Survey) Plans(b *mapping.Binding, records iter.Seq2[mapping.Record, error]) iter.Seq2[mapping.Plan, error] {
	return func(yield func(mapping.Plan, error) bool) {
		open := map[int32][]mapping.Lead{}
		i := 0
		for record, err := range records {
			if err != nil {
				yield(mapping.Plan{}, err)
				return
			}
			lead, number := b.Read(record), s.groups[i]
			i++
			if number == 0 {
				if !yield(b.Plan(0, []mapping.Lead{lead}), nil) {
					return
				}
				continue
			}
			leads := append(open[number], lead)
			if len(leads) < int(s.sizes[number-1]) {
				open[number] = leads
				continue
			}
			delete(open, number)
			if !yield(b.Plan(int(number), leads), nil) {
				return
			}
		}
		if len(open) > 0 {
			yield(mapping.Plan{}, errors.New("the sheet has fewer rows than when it was first read"))
		}
	}
}
