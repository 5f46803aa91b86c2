package cli_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
)

// TestSharedAddressIsHeld: while one key's client was created, or may have been,
// no other key with its e-mail address gets a client, whatever became of the
// steps behind it and however slow the look-ups are to find it.
func TestSharedAddressIsHeld(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		step  string
		first apitest.Fault // of the step's first attempt
		then  apitest.Fault
	}{
		"the link is refused":      {"link A-1", apitest.Answer(apitest.JSON(422, "{}")), apitest.Fault{}},
		"busy, then uncertain":     {"client A-1", apitest.Busy(429, 0), apitest.CreateThen(apitest.JSON(500, "{}"))},
		"a conflict, and no match": {"client A-1", apitest.Answer(apitest.JSON(409, "{}")), apitest.Answer(apitest.JSON(409, "{}"))},
	} {
		for _, workers := range []string{"1", "4"} {
			t.Run(name+", "+workers, func(t *testing.T) {
				t.Parallel()
				rows := leads(2)
				rows[1][0] = rows[0][0]
				s := newScene(t, byAgreement("reuse", ""), rows)
				s.service.KeyField = "ref"
				var mu sync.Mutex
				asked := 0
				s.service.Play(func(c apitest.Call) apitest.Fault {
					mu.Lock()
					defer mu.Unlock()
					switch {
					case c.Kind == "lookup":
						return apitest.Answer(s.service.Nobody) // they lag
					case c.Step != fault.step:
						return apitest.Fault{}
					}
					if asked++; asked == 1 {
						return fault.first
					}
					return fault.then
				})
				s.run("--concurrency", workers)
				if n := len(s.service.Created()["client A-2"]); n > 0 {
					t.Errorf("a second client was created; rows %q", column(s.results(), "Import status"))
				}
			})
		}
	}
}

// TestRefusalsInARow: three 403 stop a run only where nothing was allowed in
// between.
func TestRefusalsInARow(t *testing.T) {
	t.Parallel()
	s := newScene(t, byAgreement("skip", ""), leads(30))
	s.service.KeyField = "ref"
	for i := range 30 {
		s.service.AddClient(fmt.Sprintf("A-%d", i+1), fmt.Sprintf("c%d@example.com", i+1), "")
	}
	s.service.Play(func(c apitest.Call) apitest.Fault {
		for _, i := range []int{5, 15, 25} {
			if c.Kind == "lookup" && strings.HasSuffix(c.Path, fmt.Sprintf("/c%d%%40example.com", i)) {
				return apitest.Answer(apitest.JSON(403, "{}"))
			}
		}
		return apitest.Fault{}
	})
	if p := s.mustRun(1, "--concurrency", "1"); p.summary.Rows.Skipped != 27 || p.summary.Rows.Failed != 3 {
		t.Errorf("rows %+v", p.summary.Rows)
	}
}

// TestDoubtsAreCountedByStep: the attempts at one link that may be repeated are
// one doubt.
func TestDoubtsAreCountedByStep(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(6))
	s.environment("repeatable: [link]")
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Step == "link c1@example.com" || c.Step == "link c2@example.com" {
			return apitest.CreateThen(apitest.JSON(500, "{}"))
		}
		return apitest.Fault{}
	})
	if p := s.mustRun(4, "--concurrency", "2"); p.summary.Rows.Done != 4 {
		t.Errorf("rows %+v\n%s", p.summary.Rows, p.err)
	}
}

// TestLostLedgerAfterRefusals: that rows failed for which nothing was sent
// teaches a new ledger nothing of their clients.
func TestLostLedgerAfterRefusals(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, byAgreement("reuse", ""), leads(8))
	s.service.KeyField = "ref"
	s.mustRun(0)
	must(t, os.RemoveAll(s.path(".claimsheet")))
	must(t, os.Remove(s.path("leads.results.xlsx"))) // it would tell
	s.mapping(byAgreement("fail", ""))
	s.mustRun(1)
	s.mapping(byAgreement("reuse", ""))
	if p := s.mustRun(3); len(p.posts()) > 0 {
		t.Errorf("posts %v", p.posts())
	}
}

// TestForecastOfASharedPhone: a client who is looked up by the phone number of one
// before it is asked for once, when that one is there, as the dry run says.
func TestForecastOfASharedPhone(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(6)
	rows[4][0], rows[4][2] = "", rows[1][2]
	s := newScene(t, byAgreement("reuse", ""), rows)
	s.service.KeyField = "ref"
	plan := s.run("--dry-run")
	if p := s.mustRun(1); p.summary.Requests != plan.summary.Requests {
		t.Errorf("foreseen were %+v; it was %+v", plan.summary.Requests, p.summary.Requests)
	}
}
