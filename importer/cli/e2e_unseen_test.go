package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
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

// TestOlderSpellingsInTheLedger gives the ledger keys as older versions wrote
// them, what cannot be seen included: what is done under them stays done, and
// new work goes on under them.
func TestOlderSpellingsInTheLedger(t *testing.T) {
	t.Parallel()
	rows := leads(2)
	s := newScene(t, numbered, rows)
	s.mustRun(0)
	old := strings.NewReplacer("Ann1", "Ann\u00ad1", "A-1", "A\u200b\u00ad-1")
	s.respell(func(owner ledger.ClientKey) []ledger.ClientKey {
		owner.Client = old.Replace(owner.Client)
		return []ledger.ClientKey{owner}
	}, old)
	for _, flags := range [][]string{{"--dry-run"}, nil, {"--only", "Ann1"}} {
		if p := s.mustRun(0, flags...); len(p.posts()) > 0 || p.summary.Rows.Unchanged+p.summary.Rows.Skipped != 2 {
			t.Errorf("%v: created %v, rows %+v\n%s", flags, p.posts(), p.summary.Rows, p.err)
		}
	}
	s.sheet(append(rows, lead(1, "A-9")))
	if p := s.mustRun(0); p.posts()["client"] != 0 || p.posts()["claim"] != 1 {
		t.Errorf("created %v, want one claim", p.posts())
	}
}

// TestOneClientInTheLedgerTwice: what older versions made two clients of is not
// sent for, since both may have what the sheet asks for.
func TestOneClientInTheLedgerTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t, numbered, leads(2))
	s.mustRun(0)
	s.respell(func(owner ledger.ClientKey) []ledger.ClientKey {
		twin := owner
		twin.Client = strings.Replace(owner.Client, "Ann1", "Ann\u00ad1", 1)
		return slices.Compact([]ledger.ClientKey{owner, twin})
	}, strings.NewReplacer())
	p := s.mustRun(1)
	if len(p.posts()) > 0 || p.summary.Rows.Invalid != 1 || !strings.Contains(p.err, "[client-twice]") {
		t.Errorf("created %v, rows %+v\n%s", p.posts(), p.summary.Rows, p.err)
	}
}

// respell writes the scene's ledger again, with its clients as others and its
// steps' names replaced.
func (s *scene) respell(as func(ledger.ClientKey) []ledger.ClientKey, steps *strings.Replacer) {
	s.t.Helper()
	path := s.path(".claimsheet/ledger.db")
	was, err := ledger.OpenReadOnly(path)
	if err != nil {
		s.t.Fatal(err)
	}
	var events []ledger.Event
	environments, err := was.Environments(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, environment := range environments {
		for _, key := range []string{"Ann1", "Ann2"} {
			owner := ledger.ClientKey{Environment: environment, Space: "numbered", Client: key}
			known, err := was.StepsOfClient(s.t.Context(), owner)
			if err != nil || len(known) == 0 {
				s.t.Fatalf("%s: %d steps, %v", key, len(known), err)
			}
			for _, step := range known {
				for i, other := range as(owner) {
					done := step.Event
					if i > 0 && done.ID != "" { // nothing is two clients'
						done.ID += "-twin"
					}
					if i > 0 && done.URL != "" {
						done.URL += "-twin"
					}
					done.ClientKey, done.Step, done.Answer = other, steps.Replace(done.Step), nil
					intent := done
					intent.To, intent.ID, intent.URL, intent.Via, intent.Status = ledger.Intent, "", "", "", 0
					done.Data, done.Digest = nil, ""
					events = append(events, intent, done)
				}
			}
		}
	}
	if err := was.Close(); err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{".claimsheet", "leads.results.xlsx"} {
		if err := os.RemoveAll(s.path(name)); err != nil {
			s.t.Fatal(err)
		}
	}
	now, err := ledger.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := now.Append(events...); err != nil {
		s.t.Fatal(err)
	}
	if err := now.Close(); err != nil {
		s.t.Fatal(err)
	}
}
