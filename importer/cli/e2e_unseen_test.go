package cli_test

import (
	"slices"
	"testing"
)

// numbered is a mapping whose clients are told apart by a number.
const numbered = `
name: numbered
api: v2
client:
  key: First name
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, ref: First name}
claims: [{key: Agreement no, name: "{Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
activities: [{template: Agreement details, on: claim, attributes: {Agreement number: Agreement no}}]
`

// TestKeysThatLookTheSame: rows whose keys differ by what cannot be seen are one
// client with one claim, in one sheet and from night to night.
func TestKeysThatLookTheSame(t *testing.T) {
	t.Parallel()
	rows := append(leads(1), lead(1, "A\u00ad-1"), lead(1, "A-\u200d1"))
	rows[1][1], rows[2][1] = "A\u034fnn1", "Ann1\ufe0f"
	s := newScene(t, numbered, rows)
	if p := s.mustRun(0); p.posts()["client"] != 1 || p.posts()["claim"] != 1 || p.posts()["activity"] != 1 {
		t.Errorf("created %v", p.posts())
	}
	slices.Reverse(rows)
	s.sheet(rows)
	if p := s.mustRun(0); len(p.posts()) > 0 {
		t.Errorf("created again: %v", p.posts())
	}
}

// TestDoubtAboutAKeyThatLooksTheSame: what is in doubt under a key is in doubt
// under all keys that look the same.
func TestDoubtAboutAKeyThatLooksTheSame(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, everyWay, bothOrders, func(t *testing.T, v variant) {
		one, other := lead(1, "A\u00ad-1"), lead(1, "A-\u200d1")
		one[1], other[1] = "A\u034fnn1", "Ann1\ufe0f"
		s := newScene(t, numbered, leads(1))
		step, code := "client c1@example.com", 0 // a look-up finds the client
		if v.odd {
			step, code = "claim c1@example.com/A-1", 4
		}
		v.doubt(s, step)
		s.sheet(v.rows(one, other))
		s.foretold(code, v.flags()...)
		s.mustRun(code, v.flags()...)
		for step, made := range s.service.Created() {
			if len(made) != 1 {
				t.Errorf("%s was created %d times", step, len(made))
			}
		}
		if n := len(s.service.Created()); v.odd && n > 2 || n > 4 {
			t.Errorf("created %v", s.service.Created())
		}
	})
}
