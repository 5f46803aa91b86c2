package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger"
)

// corrected is a row of L1 in which the address by which it is looked up was
// corrected since it was asked for.
func corrected(by string) []any {
	row, _ := sharing(by)
	row = slices.Clone(row)
	if by == "phone" {
		row[2] = "07911 999999"
	} else {
		row[0] = "right@example.com"
	}
	return row
}

// lookupOf reports whether a call is the look-up of an address of a row.
func lookupOf(by string, row []any) func(apitest.Call) bool {
	address := strings.ReplaceAll(fmt.Sprint(row[0]), "@", "%40")
	if by == "phone" {
		address = "+44" + strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(row[2]), "0"), " ", "")
	}
	return func(c apitest.Call) bool {
		return c.Kind == "lookup" && (strings.HasSuffix(c.Path, "/"+address) || strings.HasSuffix(c.Path, "/"+strings.ReplaceAll(address, "+", "%2B")))
	}
}

func (p played) count(is func(apitest.Call) bool) (n int) {
	for _, c := range p.calls {
		if is(c) {
			n++
		}
	}
	return n
}

// believeAtOnce lets a look-up that finds nobody be believed in the next run.
func (s *scene) believeAtOnce() { s.pace.Believable = 1 }

// TestCorrectedAddressInDoubt corrects the address of L1, whose creation is in
// doubt: both addresses are asked, and nothing is sent while one of them leaves
// it open. However that ends, L1 is created once at most.
func TestCorrectedAddressInDoubt(t *testing.T) {
	onlyLong(t)
	absent := []string{"not created"}
	for name, c := range map[string]struct {
		ways    []string
		ripe    bool // it was long ago
		another bool // the service knows a client by the corrected address
		code    int
		status  string
		says    string
		made    map[string]int // beside the first attempt
		posts   int            // of clients tonight
	}{
		"created":                           {ways: everyWay, status: "changed", says: "“", made: map[string]int{"client L1": 1, "claim L1/A-1": 1}},
		"created long ago":                  {ways: everyWay[1:2], ripe: true, status: "changed", says: "“", made: map[string]int{"client L1": 1, "claim L1/A-1": 1}},
		"created, and another":              {ways: everyWay, another: true, code: 4, status: "uncertain", says: "the corrected one", made: map[string]int{"client L1": 1}},
		"not created":                       {ways: absent, code: 4, status: "uncertain", says: "finds nobody yet", made: map[string]int{}},
		"not created, and another":          {ways: absent, another: true, code: 4, status: "uncertain", says: "finds nobody yet", made: map[string]int{}},
		"not created long ago":              {ways: absent, ripe: true, status: "done", made: map[string]int{"client L1": 1, "claim L1/A-1": 1}, posts: 1},
		"not created long ago, and another": {ways: absent, ripe: true, another: true, status: "changed", says: "“", made: map[string]int{"claim other/A-1": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryVariant(t, c.ways, nil, func(t *testing.T, v variant) {
				by := v.address()
				s := newLeadScene(t, by)
				v.doubt(s, "client L1")
				if c.ripe {
					s.believeAtOnce()
				}
				then, _ := sharing(by)
				now := corrected(by)
				other := ""
				if c.another {
					other = s.service.AddClient("other", fmt.Sprint(now[0]), "+447911999999")
				}
				s.sheet([][]any{now})
				p := s.foretold(c.code, v.flags()...)
				if p.count(lookupOf(by, then)) == 0 || p.count(lookupOf(by, now)) == 0 {
					t.Errorf("not both addresses were asked:\n%s", transcript(p.calls))
				}
				if n := p.posts()["client"]; n != c.posts {
					t.Errorf("%d clients were asked for, want %d", n, c.posts)
				}
				s.checkCreated(c.made)
				r := s.row("leads.results.xlsx", "L1")
				if r["Import status"] != c.status || !strings.Contains(r["Error"], c.says) {
					t.Errorf("the row says %v", r)
				}
				if c.says == "the corrected one" && !strings.Contains(r["Error"], other) {
					t.Errorf("the error does not name both clients: %q", r["Error"])
				}
				// Whatever was found out, it stays so.
				if again := s.foretold(c.code, v.flags()...); len(again.posts()) > 0 {
					t.Errorf("the next run sent %v", again.posts())
				}
				s.checkCreated(c.made)
			})
		})
	}
}

// TestCorrectedAddressSettled: an operator says what became of L1, whose address
// was corrected while that was open. It is created once.
func TestCorrectedAddressSettled(t *testing.T) {
	inEveryVariant(t, append([]string{"not created"}, everyWay...), nil, func(t *testing.T, v variant) {
		s := newLeadScene(t, "e-mail")
		v.doubt(s, "client L1")
		s.sheet([][]any{corrected("e-mail")})
		s.inDoubt("", apitest.Fault{}) // look-ups do not show it yet
		s.mustRun(4, v.flags()...)
		s.service.Play(nil)
		if v.way == "not created" {
			s.settle("--not-created", "L1:client")
		} else {
			s.settle("--created", s.service.Created()["client L1"][0].ID, "L1:client")
		}
		s.foretold(0, v.flags()...)
		s.checkCreated(map[string]int{"client L1": 1, "claim L1/A-1": 1})
	})
}

// TestAddressBeforeTheCorrection: the address with which L1 may have been created
// stays L1's when its cell was corrected; a look-up that fails says nothing.
func TestAddressBeforeTheCorrection(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, everyWay, everyOrder, func(t *testing.T, v variant) {
		s := newLeadScene(t, "e-mail")
		v.doubt(s, "client L1")
		s.believeAtOnce()
		then, newcomer := sharing("e-mail")
		s.service.Play(func(c apitest.Call) apitest.Fault {
			if lookupOf("e-mail", then)(c) {
				return apitest.Answer(apitest.JSON(403, `{}`))
			}
			return apitest.Fault{}
		})
		s.sheet([][]any{corrected("e-mail")})
		if p := s.mustRun(4, v.flags()...); len(p.posts()) > 0 {
			t.Errorf("sent %v, though the first address could not be asked", p.posts())
		}
		s.service.Play(nil)
		s.sheet(v.rows(corrected("e-mail"), newcomer))
		s.foretold(1, v.flags()...)
		made := map[string]int{"client L1": 1, "claim L1/A-1": 1}
		if v.order == "alone" {
			delete(made, "claim L1/A-1")
		}
		s.checkCreated(made)
		if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "failed" || !strings.Contains(r["Error"], "“L1”") {
			t.Errorf("the row of L2 says %v", r)
		}
	})
}

// TestEmptiedAddressInDoubt: a client whose address was taken out of the sheet
// is looked up by what was sent, and never sent again.
func TestEmptiedAddressInDoubt(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, append([]string{"not created"}, everyWay...), nil, func(t *testing.T, v variant) {
		code, made := 0, map[string]int{"client L1": 1, "claim L1/A-1": 1}
		if v.way == "not created" {
			code, made = 4, map[string]int{}
		}
		s := newLeadScene(t, "e-mail")
		v.doubt(s, "client L1")
		s.believeAtOnce()
		row := corrected("e-mail")
		row[0], row[2] = "", ""
		s.sheet([][]any{row})
		for range 2 {
			s.foretold(code, v.flags()...)
			s.checkCreated(made)
		}
	})
}

// TestPhonesInTwoFormats: a number with which L1 may have been created is the
// same number in whichever formats it is sent and looked up.
func TestPhonesInTwoFormats(t *testing.T) {
	onlyLong(t)
	for _, format := range []string{"national", "international", "e164"} {
		t.Run(format, func(t *testing.T) {
			inEveryVariant(t, []string{"not created"}, everyOrder, func(t *testing.T, v variant) {
				first, second := sharing("phone")
				first[0] = "c1@example.com" // which decides who L1 is
				s := newScene(t, strings.Replace(byLead, "    phone: {column: Mobile, type: Phone, region: GB}",
					"    phone: {column: Mobile, type: Phone, region: GB, format: "+format+"}", 1), [][]any{first})
				s.service.KeyField = "ref"
				v.doubt(s, "client L1")
				s.sheet(v.rows(first, second))
				code := 4
				if v.order == "alone" {
					code = 1
				}
				s.foretold(code, v.flags()...)
				s.checkCreated(map[string]int{})
				if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "failed" || !strings.Contains(r["Error"], "“L1”") {
					t.Errorf("the row of L2 says %v", r)
				}
			})
		})
	}
}

// TestTwoDoubtsWithOneAddress: of two clients who may have been created with one
// address, the contact who is found there is the earlier one's.
func TestTwoDoubtsWithOneAddress(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, everyWay, bothOrders, func(t *testing.T, v variant) {
		s := newLeadScene(t, "e-mail")
		v.doubt(s, "client L1")
		s.remember(ledger.StepID{ClientKey: ledger.ClientKey{Environment: s.url, Space: "by-lead", Client: "L2"}, Step: "client"},
			ledger.Event{To: ledger.Intent, Kind: ledger.KindClient, Digest: "d",
				Data: []byte(`{"mapping":"by-lead","values":[{"name":"email","field":"stringValue","value":"c1@example.com"}],"lookup":{"email":"c1@example.com","asked":["email c1@example.com"]},"addresses":["email c1@example.com"]}`)},
			ledger.Event{To: ledger.Uncertain})
		s.sheet(v.rows(sharing("e-mail")))
		s.foretold(4, v.flags()...)
		s.checkCreated(map[string]int{"client L1": 1, "claim L1/A-1": 1})
		if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "uncertain" || !strings.Contains(r["Error"], "“L1”") {
			t.Errorf("the row of L2 says %v", r)
		}
	})
}

// remember appends what happened to a step to the scene's ledger.
func (s *scene) remember(id ledger.StepID, events ...ledger.Event) {
	s.t.Helper()
	l, err := ledger.Open(s.path(".claimsheet/ledger.db"))
	must(s.t, err)
	for i := range events {
		events[i].StepID, events[i].At = id, time.Now().UTC()
	}
	must(s.t, l.Append(events...))
	must(s.t, l.Close())
}
