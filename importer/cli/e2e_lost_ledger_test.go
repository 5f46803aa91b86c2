package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// TestLostLedger: the ledger is new, and the service knows clients of the sheet.
// The first 20 clients decide, or all of a smaller sheet with at least 5.
func TestLostLedger(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, c := range []struct {
		clients, known int // the first of them are known
		flags          []string
		said           string // "" where the run goes on
	}{
		{4, 4, nil, ""},
		{5, 2, nil, ""},
		{5, 3, nil, "3 of the first 5"},
		{5, 5, nil, "5 of the first 5"},
		{5, 5, []string{"--accept", "new-ledger"}, ""},
		{5, 5, []string{"--limit", "4"}, ""},
		{8, 8, []string{"--limit", "7"}, "7 of the first 7"},
		{25, 9, []string{"--limit", "1"}, ""},
		{8, 4, nil, ""},
		{25, 10, nil, ""},
		{25, 11, nil, "11 of the first 20"},
	} {
		t.Run(fmt.Sprint(c.known, " of ", c.clients, c.flags), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(c.clients))
			for n := range c.known {
				mail := fmt.Sprintf("c%d@example.com", n+1)
				s.service.AddClient(mail, mail, "")
			}
			var lookups []int
			for _, flags := range [][]string{append([]string{"--dry-run"}, c.flags...), c.flags} {
				p := s.run(flags...)
				lookups = append(lookups, p.summary.Requests.Lookup)
				switch {
				case c.said == "" && p.code != 0:
					t.Errorf("%q: exit code %d\n%s", flags, p.code, p.err)
				case c.said != "" && (p.code != 3 || len(p.posts()) > 0 || !strings.Contains(p.err, c.said)):
					t.Errorf("%q: exit code %d, created %v\n%s", flags, p.code, p.posts(), p.err)
				}
			}
			if c.said == "" && lookups[0] != lookups[1] {
				t.Errorf("%d look-ups were foretold, and %d made", lookups[0], lookups[1])
			}
		})
	}
}

// TestLostLedgerAfterACarefulTry: a try with one client does not teach a new
// ledger that all is well. What an operator says of it is remembered.
func TestLostLedgerAfterACarefulTry(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(30))
	know := func(from, to int) {
		for n := from; n <= to; n++ {
			mail := fmt.Sprintf("c%d@example.com", n)
			s.service.AddClient(mail, mail, "")
		}
	}
	know(1, 30)
	s.mustRun(0, "--limit", "1")
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		if p := s.mustRun(3, flags...); len(p.posts()) > 0 || !strings.Contains(p.err, "20 of the first 20") {
			t.Errorf("created %v\n%s", p.posts(), p.err)
		}
	}
	s.sheet(leads(3))
	s.mustRun(0, "--accept", "new-ledger")
	s.sheet(leads(15)) // the ledger knows fewer than 20 clients
	s.mustRun(0)
}

// TestLedgerGoneAfterAKill: what a killed run leaves says whether there was a ledger: not where
// it was killed before it had made one.
func TestLedgerGoneAfterAKill(t *testing.T) {
	t.Parallel()
	t.Run("one was made", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, stepThree, leads(1))
		s.mustRun(0)
		write(t, s.path(".claimsheet/ledger.db.holder"), `{"pid":1}`)
		for _, name := range []string{".claimsheet/ledger.db", ".claimsheet/ledger.db-wal", ".claimsheet/ledger.db-shm", "leads.results.xlsx"} {
			if err := os.Remove(s.path(name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if p := s.mustRun(3); len(p.posts()) > 0 || !strings.Contains(p.err, "[ledger-missing]") {
			t.Errorf("created %v\n%s", p.posts(), p.err)
		}
	})
	t.Run("none was made", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, stepThree, leads(1))
		must(t, os.MkdirAll(s.path(".claimsheet"), 0o700))
		must(t, os.WriteFile(s.path(".claimsheet/ledger.db.lock"), nil, 0o600))
		s.mustRun(0)
	})
}

// TestOldLedgerLearnsFromTheWorkbook puts an old copy of the state folder in its
// place, in which steps are refused that were done since: the results
// workbook, given back, says so, and nothing is sent again.
func TestOldLedgerLearnsFromTheWorkbook(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(4))
	s.service.Play(apitest.OnceEach(map[string]apitest.Fault{
		"activity c2@example.com Your details":               apitest.Answer(apitest.JSON(400, "{}")),
		"client c3@example.com":                              apitest.Answer(apitest.JSON(400, "{}")),
		"activity c4@example.com/Loan A-4 Agreement details": apitest.CreateThen(apitest.JSON(500, "{}")),
	}))
	s.mustRun(4)
	must(t, os.CopyFS(s.path("copy"), os.DirFS(s.path(".claimsheet"))))
	s.mustRun(4)
	must(t, os.RemoveAll(s.path(".claimsheet")))
	must(t, os.Rename(s.path("copy"), s.path(".claimsheet")))
	s.mustRun(3)
	p := runMain(t, "", "rerun", "-m", s.path("mapping.yaml"), "--json", "--yes", s.path("leads.results.xlsx"))
	if calls, _ := s.service.Since(s.seen); p.code != 4 || p.summary.Rows.Unchanged != 3 || len(played{calls: calls}.posts()) > 0 {
		t.Errorf("exit code %d, rows %+v, sent %v\n%s", p.code, p.summary.Rows, played{calls: calls}.posts(), p.err)
	}
	s.checkPromise()
}
