package cli_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
)

// killed runs a night, and leaves the state folder as a kill would have left it
// when the n-th thing was to be created.
func (s *scene) killed(n int, flags ...string) {
	s.t.Helper()
	var mu sync.Mutex
	s.service.Play(func(c apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if c.Method != "GET" {
			if n--; n == 0 {
				s.saveState("killed")
			}
		}
		return apitest.Fault{}
	})
	s.mustRun(0, flags...)
	s.service.Play(nil)
	s.restoreState("killed")
	must(s.t, os.Remove(s.path("leads.results.xlsx")))
}

// TestALogCutToHalf: the commits that a disk has lost are counted beside the
// ledger. Nothing is sent until somebody has said what became of them, and what
// was in doubt before is not sent then either.
func TestALogCutToHalf(t *testing.T) {
	inEveryVariant(t, everyWay, nil, func(t *testing.T, v variant) {
		s := newScene(t, creating, leads(1))
		v.doubt(s, "link c1@example.com")
		s.mustRun(4)
		s.sheet(leads(12))
		s.killWhenMade("client c12@example.com", v.flags()...)
		log := s.path(".claimsheet/ledger.db-wal")
		info, err := os.Stat(log)
		must(t, err)
		must(t, os.Truncate(log, info.Size()/2))
		before := len(s.service.Calls())
		for _, flags := range [][]string{{"--dry-run"}, v.flags(), {"--accept", "new-identity"}, nil} {
			if p := s.run(flags...); p.code != 3 || !strings.Contains(p.err, "[ledger-cut]") {
				t.Errorf("%q: exit code %d\n%s", flags, p.code, p.err)
			}
		}
		for _, command := range [][]string{{"settle"}, {"ledger", "check"}} {
			if code, _, said := s.claimsheet(append(command, "--environments", s.path("environments.yaml"))...); code != 3 {
				t.Errorf("%q: exit code %d\n%s", command, code, said)
			}
		}
		// A command that is refused for another reason does not accept the ledger.
		if p := s.run("--accept", "ledger-cut", "--accept", "new-ledger", "--min-rows", "1000"); p.code == 0 {
			t.Errorf("a sheet with too few rows: exit code %d\n%s", p.code, p.err)
		}
		if p := s.run("-o", s.path("elsewhere.xlsx")); p.code != 3 || !strings.Contains(p.err, "[ledger-cut]") {
			t.Errorf("after that: exit code %d\n%s", p.code, p.err)
		}
		if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
			t.Errorf("something was sent\n%s", transcript(calls))
		}
		for _, flags := range [][]string{v.flags("--accept", "ledger-cut", "--accept", "new-ledger"), nil} {
			if p := s.run(flags...); p.code == 3 {
				t.Errorf("exit code %d\n%s", p.code, p.err)
			}
		}
		if made := s.service.Created()["link c1@example.com"]; len(made) != 1 {
			t.Errorf("the link that was in doubt was created %d times", len(made))
		}
	})
}

// TestAnHonestLedgerIsNotRefused: not after a kill, and not where a power loss
// took the count, or left an older or an empty one.
func TestAnHonestLedgerIsNotRefused(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]string{"an older count": fmt.Sprintf("%19d\n", 3), "an empty one": "", "half of one": "   12", "the count as it was": "-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, creating, leads(4))
			s.killed(5, "--concurrency", "1")
			if count != "-" {
				write(t, s.path(".claimsheet/ledger.db.count"), count)
			}
			if p := s.run("--dry-run"); p.code == 3 {
				t.Errorf("exit code %d\n%s", p.code, p.err)
			}
			if p := s.run(); p.code == 3 {
				t.Errorf("exit code %d\n%s", p.code, p.err)
			}
		})
	}
}

// TestAnOlderLedgerAlone is put back without what lies beside it, or is taken
// away: the count tells, also where there is no workbook.
func TestAnOlderLedgerAlone(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{"older": "[ledger-cut]", "gone": "[ledger-missing]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, creating, leads(1))
			s.mustRun(0)
			older, err := os.ReadFile(s.path(".claimsheet/ledger.db"))
			must(t, err)
			s.sheet(leads(3))
			s.mustRun(0)
			must(t, os.Remove(s.path(".claimsheet/ledger.db")))
			if name == "older" {
				write(t, s.path(".claimsheet/ledger.db"), string(older))
			}
			must(t, os.Rename(s.path("leads.results.xlsx"), s.path("kept.xlsx")))
			for _, flags := range [][]string{{"--dry-run"}, nil} {
				if p := s.mustRun(3, flags...); !strings.Contains(p.err, refusal) {
					t.Errorf("%q\n%s", flags, p.err)
				}
			}
			if code, said := s.rerun("--yes", "--accept", "ledger-cut", "kept.xlsx"); code != 0 {
				t.Errorf("rerun: exit code %d\n%s", code, said)
			}
			if p := s.mustRun(0); len(p.posts()) > 0 {
				t.Errorf("made again: %v", p.posts())
			}
		})
	}
}

// TestARunWithoutItsLedger: the ledger is gone, and any file beside it says that there
// was one. A run makes no new one in its place unless that is meant; the sandbox may
// lose its own.
func TestARunWithoutItsLedger(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]string{"no count": "", "half a count": "   12"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, creating, leads(2))
			s.mustRun(0)
			path := s.path(".claimsheet/ledger.db")
			must(t, os.Remove(path))
			must(t, os.Remove(path+".count"))
			if count != "" {
				write(t, path+".count", count)
			}
			must(t, os.Remove(s.path("leads.results.xlsx")))
			for _, flags := range [][]string{{"--dry-run"}, nil, nil} {
				if p := s.mustRun(3, flags...); !strings.Contains(p.err, "[ledger-missing]") || len(p.posts()) > 0 {
					t.Errorf("%q: created %v\n%s", flags, p.posts(), p.err)
				}
			}
			if _, err := os.Lstat(path); !os.IsNotExist(err) {
				t.Errorf("a new ledger is there: %v", err)
			}
			if p := s.mustRun(0, "--accept", "ledger-missing"); p.posts()["client"] != 2 {
				t.Errorf("created %v", p.posts())
			}
		})
	}
	s := newScene(t, creating, leads(2))
	s.mustRun(0, "-e", "sandbox")
	must(t, os.Remove(s.path(".claimsheet/sandbox/ledger.db")))
	s.mustRun(0, "-e", "sandbox")
}
