package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// byLead keys clients by a number of the sheet's own, so that two of them can
// have one address.
const byLead = `
name: by-lead
api: v2
client:
  key: First name
  lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB}}
  fields:
    ref: First name
    email: {column: E-mail, type: Email}
    phone: {column: Mobile, type: Phone, region: GB}
claims: [{key: Agreement no, name: "{Agreement no}"}]
`

// sharing are rows of the leads L1 and L2, who have one e-mail address or, where
// they are looked up by phone, one number.
func sharing(by string) (first, second []any) {
	first, second = lead(1, "A-1"), lead(2, "A-2")
	first[1], second[1] = "L1", "L2"
	if by == "phone" {
		first[0], second[0], second[2] = "", "", first[2]
	} else {
		second[0] = first[0]
	}
	return first, second
}

// address is by what a lead is looked up.
func (v variant) address() string {
	if v.odd {
		return "phone"
	}
	return "e-mail"
}

// newLeadScene is a scene with the lead L1.
func newLeadScene(t *testing.T, by string) *scene {
	t.Helper()
	first, _ := sharing(by)
	s := newScene(t, byLead, [][]any{first})
	s.service.KeyField = "ref"
	return s
}

// row is the row of a lead in the results, or the plan.
func (s *scene) row(file, lead string) record {
	s.t.Helper()
	rows := s.workbook(file, "Results")
	i := slices.IndexFunc(rows, func(r record) bool { return r["First name"] == lead })
	if i < 0 {
		s.t.Fatalf("%s has no row of %s", file, lead)
	}
	return rows[i]
}

// foretold runs dry and then for real, and compares what the dry run predicted with
// what happened: the requests by kind and the statuses of rows.
func (s *scene) foretold(code int, flags ...string) played {
	s.t.Helper()
	dry := s.run(append(flags, "--dry-run")...)
	real := s.mustRun(code, flags...)
	if diff := cmp.Diff(dry.summary.Requests, real.summary.Requests); diff != "" {
		s.t.Errorf("calls foretold and made (-dry run +run):\n%s", diff)
	}
	foretold, came := dry.summary.Rows, real.summary.Rows
	foretold.Done, foretold.Planned = foretold.Planned+foretold.Done, 0
	if diff := cmp.Diff(foretold, came); diff != "" {
		s.t.Errorf("rows foretold and done (-dry run +run):\n%s", diff)
	}
	if posts := dry.posts(); len(posts) > 0 {
		s.t.Errorf("the dry run sent %v", posts)
	}
	return real
}

// checkCreated compares what the service has created, links aside, with want.
func (s *scene) checkCreated(want map[string]int) {
	s.t.Helper()
	s.settleDown()
	got := map[string]int{}
	for step, made := range s.service.Created() {
		if !strings.HasPrefix(step, "link ") {
			got[step] = len(made)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("created (-want +got):\n%s", diff)
	}
}

// TestAddressInDoubt: an address with which L1 may have been created is L1's
// until that is settled. Though a look-up finds the contact, L2 does not get it,
// wherever it stands, and whether or not L1 is in the sheet.
func TestAddressInDoubt(t *testing.T) {
	inEveryVariant(t, everyWay, everyOrder, func(t *testing.T, v variant) {
		by := v.address()
		s := newLeadScene(t, by)
		v.doubt(s, "client L1")
		s.sheet(v.rows(sharing(by)))
		s.foretold(1, v.flags()...)
		made := map[string]int{"client L1": 1, "claim L1/A-1": 1}
		if v.order == "alone" {
			delete(made, "claim L1/A-1")
		}
		s.checkCreated(made)
		for _, file := range []string{"leads.plan.xlsx", "leads.results.xlsx"} {
			r := s.row(file, "L2")
			if r["Import status"] != "failed" || !strings.Contains(r["Error"], "“L1”") || r["contactId"] != "" {
				t.Errorf("%s says of L2: %v", file, r)
			}
			if v.order == "alone" && !strings.Contains(r["What to do"], "claimsheet settle") {
				t.Errorf("%s does not say how to settle it: %q", file, r["What to do"])
			}
		}
		// The truth, from an operator where nothing else says it.
		id := s.service.Created()["client L1"][0].ID
		if v.order == "alone" {
			s.settle("--created", id, "L1:client")
		}
		known, newcomer := sharing(by)
		s.sheet([][]any{newcomer, known})
		s.foretold(1, v.flags()...)
		s.checkCreated(map[string]int{"client L1": 1, "claim L1/A-1": 1})
		if r := s.row("leads.results.xlsx", "L1"); r["contactId"] != id || r["Import status"] == "failed" {
			t.Errorf("the row of L1 says %v", r)
		}
		if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "failed" || !strings.Contains(r["Error"], "“L1”") {
			t.Errorf("the row of L2 says %v", r)
		}
	})
}

// TestAddressSettledAsNotCreated: an operator who says that L1 was not created
// gives the address free.
func TestAddressSettledAsNotCreated(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, nil, everyOrder, func(t *testing.T, v variant) {
		s := newLeadScene(t, "e-mail")
		variant{way: "not created", workers: v.workers}.doubt(s, "client L1")
		s.sheet(v.rows(sharing("e-mail")))
		code := 4
		if v.order == "alone" {
			code = 1
		}
		s.foretold(code, v.flags()...)
		s.checkCreated(map[string]int{})
		s.settle("--not-created", "L1:client")
		s.foretold(map[string]int{"above": 1, "below": 1, "alone": 0}[v.order], v.flags()...)
		who := map[string]string{"above": "L2", "below": "L1", "alone": "L2"}[v.order]
		s.checkCreated(map[string]int{"client " + who: 1, "claim " + who + "/A-" + who[1:]: 1})
	})
}

// TestNewcomerWithTheAddressOfADoneClient: what the ledger has done counts
// first. Only the newcomer fails, wherever it stands, and the known client's new
// claim is made, unless an earlier claim of it is in doubt.
func TestNewcomerWithTheAddressOfADoneClient(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, append([]string{"done"}, everyWay...), everyOrder, func(t *testing.T, v variant) {
		by := v.address()
		s := newLeadScene(t, by)
		if v.way == "done" {
			s.mustRun(0, v.flags()...)
		} else {
			v.doubt(s, "claim L1/A-1")
		}
		known, newcomer := sharing(by)
		more := slices.Clone(known)
		more[6] = "A-9"
		sheet, code := v.rows(known, newcomer), 1
		want := map[string]int{"client L1": 1, "claim L1/A-1": 1}
		if v.order != "alone" {
			sheet = append(sheet, more)
			if v.way == "done" {
				want["claim L1/A-9"] = 1
			} else { // it waits for the claim in doubt
				code = 4
			}
		}
		s.sheet(sheet)
		for range 2 {
			s.foretold(code, v.flags()...)
			s.checkCreated(want)
			for _, r := range s.results() {
				status := "failed"
				switch {
				case r["Agreement no"] == "A-1" && v.way != "done":
					status = "uncertain"
				case r["First name"] == "L1":
					status = r["Import status"]
				}
				if r["Import status"] != status || status == "failed" && (r["First name"] != "L2" || !strings.Contains(r["Error"], "“L1”")) {
					t.Errorf("the row of %s says %v", r["First name"], r)
				}
			}
		}
	})
}

// TestDoubtfulClientIsAnother: a client whose creation is in doubt does not get
// an id that the ledger has for another, though its own address leads there.
func TestDoubtfulClientIsAnother(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, append([]string{"not created"}, everyWay...), everyOrder, func(t *testing.T, v variant) {
		s := newScene(t, byLead, nil)
		s.service.KeyField = "ref"
		done, doubtful := lead(1, "A-1"), lead(2, "A-2")
		done[1], doubtful[1] = "L1", "L2"
		s.sheet([][]any{done})
		s.mustRun(0)
		id := s.results()[0]["contactId"]
		s.sheet([][]any{done, doubtful})
		want := map[string]int{"client L1": 1, "claim L1/A-1": 1}
		if v.doubt(s, "client L2"); v.way != "not created" {
			want["client L2"] = 1
		}
		s.service.Play(func(c apitest.Call) apitest.Fault {
			if c.Kind == "lookup" && strings.HasSuffix(c.Path, "/c2%40example.com") {
				return apitest.Answer(apitest.JSON(200, fmt.Sprintf(`{"contactId":%q}`, id)))
			}
			return apitest.Fault{}
		})
		s.sheet(v.rows(done, doubtful))
		s.foretold(4, v.flags()...)
		s.checkCreated(want)
		if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "uncertain" || !strings.Contains(r["Error"], "“L1”") || r["contactId"] != "" {
			t.Errorf("the row of L2 says %v", r)
		}
	})
}

// TestLateInTheSameRun: L1's creation ends in doubt and is there a moment later,
// when L2 is looked up by the same address in the same run.
func TestLateInTheSameRun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, workers := range []string{"1", "2", "8"} {
		t.Run(workers, func(t *testing.T) {
			t.Parallel()
			first, second := sharing("e-mail")
			s := newScene(t, byLead, [][]any{first, second})
			s.service.KeyField = "ref"
			seen := 0 // look-ups of the address
			s.service.Play(func(c apitest.Call) apitest.Fault {
				switch {
				case c.Step == "client L1":
					return apitest.CreateThen(apitest.JSON(500, `{}`))
				case c.Kind == "lookup" && strings.HasSuffix(c.Path, "/c1%40example.com"):
					if seen++; seen <= 4 { // before it is sent, and three times after
						return apitest.Answer(s.service.Nobody)
					}
				}
				return apitest.Fault{}
			})
			s.mustRun(4, "--concurrency", workers)
			s.checkCreated(map[string]int{"client L1": 1})
			if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "failed" || r["contactId"] != "" {
				t.Errorf("the row of L2 says %v", r)
			}
		})
	}
}
