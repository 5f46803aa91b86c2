package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// besides are the flags of a run that works beside others: each has a state folder and a
// workbook of its own.
func (s *scene) besides(n int) []string {
	return []string{"--state", s.path(fmt.Sprint("state-", n)), "-o", s.path(fmt.Sprintf("out-%d.results.xlsx", n))}
}

// TestRunsShareALedger: several runs of one sheet at the same time create everything once,
// and each gives back all ids.
func TestRunsShareALedger(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, append(leads(30), lead(3, "second"), lead(7, "second")))
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 4}")
	s.service.Play(func(apitest.Call) apitest.Fault { return apitest.Fault{Delay: time.Millisecond} })
	var all sync.WaitGroup
	codes, said := make([]int, 3), make([]string, 3)
	for n := range codes {
		all.Go(func() {
			var out string
			codes[n], out, said[n] = s.claimsheet(slices.Concat([]string{"run", "-m", s.path("mapping.yaml")}, s.besides(n), []string{s.path(s.input)})...)
			said[n] += out
		})
	}
	all.Wait()
	for n, code := range codes {
		if code != 0 {
			t.Errorf("run %d: exit code %d\n%s", n, code, said[n])
		}
	}
	before := len(s.service.Calls())
	s.mustRun(0)
	for _, c := range s.service.Calls()[before:] {
		if c.Method != "GET" {
			t.Errorf("afterwards a run sends %s %s", c.Method, c.Path)
		}
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
	for n := range codes {
		for _, row := range s.workbook(fmt.Sprintf("out-%d.results.xlsx", n), "Results") {
			if row["contactId"] == "" {
				t.Errorf("run %d: the row %s has no client id: %s %s", n, row["Source row"], row["Import status"], row["Error"])
			}
		}
	}
}

// TestOneStateFolder: two runs that would share a state folder do not work at the same
// time, and the message says what to do.
func TestOneStateFolder(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	arrived, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" {
			once.Do(func() { close(arrived); <-goOn })
		}
		return apitest.Fault{}
	})
	first := make(chan played, 1)
	go func() { first <- s.run() }()
	<-arrived
	code, _, said := s.claimsheet("run", "-m", s.path("mapping.yaml"), "-o", s.path("other.xlsx"), s.path(s.input))
	close(goOn)
	if code != 5 {
		t.Errorf("exit code %d", code)
	}
	expect(t, said, "another run holds the ledger", "--state")
	if p := <-first; p.code != 0 {
		t.Errorf("the first run: exit code %d\n%s", p.code, p.err)
	}
}

// TestAddressOfAKilledClient: a run is killed before it knows whether it has created
// somebody, and the next run's sheet has another key with the same address: nothing is
// created for it while nobody knows about the first.
func TestAddressOfAKilledClient(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, in := range map[string]func(*scene){
		"in a file":     func(*scene) {},
		"in a database": func(s *scene) { s.inDatabase(pgtest.Shared(t), "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, strings.Replace(stepThree, "key: E-mail", "key: First name", 1), leads(1))
			in(s)
			s.service.KeyField = "firstName"
			cmd := exec.Command(programName, s.args()...)
			cmd.Env = append(os.Environ(), "CLAIMSHEET_ENV=")
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Method == "GET" {
					return apitest.Fault{}
				}
				_ = cmd.Process.Kill()
				return apitest.DropBefore()
			})
			if err := cmd.Run(); err == nil {
				t.Fatal("the run was not killed")
			}
			s.service.Play(nil)
			other := lead(1, "A-2")
			other[0], other[1] = "C1@example.com", "Bob"
			s.sheet([][]any{other})
			before := len(s.service.Calls())
			s.mustRun(1)
			for _, c := range s.service.Calls()[before:] {
				if c.Method != "GET" {
					t.Errorf("sent %s %s", c.Method, c.Path)
				}
			}
			if row := s.results()[0]; !strings.Contains(row["Error"], "“Ann1” has the same e-mail address") {
				t.Errorf("the row says %q: %q", row["Error"], row["What to do"])
			}
		})
	}
}

// TestCreatedTwiceIsSaid: a process is paused when it is about to send a client, until
// another one has found nobody, waited for as long as it must, and created the client.
// When it goes on, its request cannot be held back any more, and it says what it has
// created, or keeps the answer in its emergency file.
func TestCreatedTwiceIsSaid(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary := trialName
	const step = "client c2@example.com"
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	var said bytes.Buffer
	first := exec.Command(binary, s.args(append(s.besides(1), "--concurrency", "1")...)...)
	first.Stderr = &said
	first.Env = append(os.Environ(), "CLAIMSHEET_ENV=", "TRIAL_LEASE=2s", "TRIAL_PAUSE=before-write c2@example.com:client")
	must(t, first.Start())
	t.Cleanup(func() { _ = first.Process.Kill() })
	s.waitFor("the pause", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", first.Process.Pid))
		return strings.Contains(string(stat), ") T ")
	})
	s.mustRunTrial(binary, 4, "TRIAL_LEASE=2s")
	if n := s.asked()[step]; n != 0 {
		t.Errorf("the second process has sent the client %d times, though the first may have", n)
	}
	s.mustRunTrial(binary, 0, "TRIAL_LEASE=2s", "TRIAL_BELIEVE=1ms")
	must(t, first.Process.Signal(syscall.SIGCONT))
	_ = first.Wait()
	things, word := s.service.Created()[step], s.said()[step]
	if code := first.ProcessState.ExitCode(); code != 3 || len(things) != 2 || word.State != apitest.Done {
		t.Errorf("exit code %d, the client was created %d times, and the workbook says %+v\n%s", code, len(things), word, said.String())
	}
	texts := said.String()
	kept, err := filepath.Glob(filepath.Join(s.path("state-1"), "emergency-*.jsonl*")) // an answer whose step could not be looked up is there alone
	must(t, err)
	for _, path := range kept {
		text, err := os.ReadFile(path)
		must(t, err)
		texts += string(text)
	}
	if n := unsaid(things, word, texts); n > 0 {
		t.Errorf("%d of %v was not said; the workbook has %s\n%s", n, things, word.ID, said.String())
	}
}

// TestAddressInTwoSheets: two runs have the address of one person under two keys. The one
// that has looked it up before the other created the client, and waited for that, looks
// again.
func TestAddressInTwoSheets(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary := trialName
	s := newScene(t, strings.Replace(stepThree, "key: E-mail", "key: First name", 1), nil)
	s.inDatabase(pgtest.Shared(t), "")
	s.service.KeyField = "firstName"
	_, first, last := sharedAddressRows(9)
	writeSheet(t, s.path("first.xlsx"), header, first)
	writeSheet(t, s.path("last.xlsx"), header, last)
	both, all := make(chan struct{}), make(chan struct{}) // have begun to look up, and have looked everybody up
	var lookups atomic.Int64
	s.service.Play(func(c apitest.Call) apitest.Fault {
		switch {
		case c.Method != "GET":
			return apitest.Fault{Until: all}
		case c.Kind != "lookup":
			return apitest.Fault{}
		}
		switch lookups.Add(1) {
		case 2:
			close(both)
		case int64(2 * (1 + len(first))): // and one each for an invented address
			close(all)
		}
		return apitest.Fault{Until: both}
	})
	var runs []*exec.Cmd
	for n, sheet := range []string{"first.xlsx", "last.xlsx"} {
		cmd := exec.Command(binary, slices.Concat([]string{"run", "-m", s.path("mapping.yaml")}, s.besides(n), []string{s.path(sheet)})...)
		cmd.Env = append(os.Environ(), "CLAIMSHEET_ENV=", "TRIAL_SETTLE=10ms")
		must(t, cmd.Start())
		runs = append(runs, cmd)
	}
	for _, cmd := range runs {
		ended := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
		_, _ = cmd.Process.Wait()
		ended.Stop()
	}
	for n := range last {
		ann, bob := s.service.Created()[fmt.Sprint("client Ann", n+1)], s.service.Created()[fmt.Sprint("client Bob", n+1)]
		if len(ann)+len(bob) != 1 {
			t.Errorf("of the two keys of address %d, one was created %d times and the other %d times", n+1, len(ann), len(bob))
		}
	}
}
