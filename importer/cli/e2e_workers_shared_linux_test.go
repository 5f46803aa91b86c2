package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/result"
)

// TestContactsWithWorkers: a further contact whom clients of several workers name is
// created once, and the claims of all of them have the contact.
func TestContactsWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients, contacts = 24, 4
	var rows []string
	for i := range clients {
		rows = append(rows, fmt.Sprintf("a%d@ | Ann | A-%d | p%d@ | Poe", i, i, i%contacts))
	}
	mapping := strings.NewReplacer(`, administrator: {id: "file:broker"}`, "", "{key: Agreement no", "{id: loan, key: Agreement no", "on: claim", "on: loan").Replace(joint)
	p := likeOneProcess(t, 0, func() *scene {
		s := newJoint(t, rows...)
		s.mapping(mapping)
		return s
	}, func(s *scene) { s.workers(2) })
	if p.summary.Clients.Done != clients || p.posts()["client"] != clients+contacts || p.posts()["claim"] != clients {
		t.Errorf("clients %+v, creating calls %v", p.summary.Clients, p.posts())
	}
}

// TestSharedAddressWithWorkers: of two keys with one e-mail address one is created,
// whoever carries them out, and the row of the other one says why it is not.
func TestSharedAddressWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary := trialName
	pairs, first, _ := sharedAddressRows(24)
	rows := append([][]any{lead(30, "A-30")}, pairs...) // the run carries out the first one itself
	var s *scene
	p := likeOneProcess(t, 1, func() *scene {
		s = newScene(t, strings.Replace(stepThree, "key: E-mail", "key: First name", 1), rows)
		s.service.KeyField = "firstName"
		return s
	}, func(s *scene) {
		for i := range 2 {
			s.workerProcess(binary, i, "TRIAL_SETTLE=6s") // longer than a look-up is used
		}
	}, "--max-failures", "100%")
	created := map[string]int{}
	for _, row := range s.results() {
		switch status := row["Import status"]; {
		case status == "done":
			created[row["E-mail"]]++
		case !saysSharedAddress.MatchString(row["Error"]):
			t.Errorf("row %s is %q: %s", row["Source row"], status, row["Error"])
		}
	}
	for address, n := range created {
		if n != 1 {
			t.Errorf("%d keys with the address %s are created", n, address)
		}
	}
	if want := 1 + len(first); len(created) != want || p.posts()["client"] != want {
		t.Errorf("%d of %d addresses are created; creating calls %v", len(created), want, p.posts())
	}
}

// workerProcess starts a worker of a binary, which ends with the test.
func (s *scene) workerProcess(binary string, number int, env ...string) {
	s.t.Helper()
	cmd := exec.Command(binary, append(s.workerArgs(number, "", ""), "--concurrency", "4")...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &said, &said, append(append(os.Environ(), "CLAIMSHEET_ENV="), env...)
	must(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
			s.t.Errorf("worker %d: %s\n%s", number, cmd.ProcessState, &said)
		}
	})
}

// likeOneProcess holds that a run with workers comes to the same as one process. It makes the
// scene twice with set. The first is carried out by the run alone; for the second, start starts
// two workers. Both must count the same rows, clients and creating requests, and the second
// workbook must say what its service has. code is the exit code of both runs. It returns what
// the run with workers came to.
func likeOneProcess(t *testing.T, code int, set func() *scene, start func(*scene), flags ...string) (p played) {
	t.Helper()
	alone := set().mustRun(code, flags...)
	s := set()
	schema := s.inSchema(pgtest.Shared(t), "limits: {concurrency: 1}")
	start(s)
	if p = s.runTogether(2, schema, flags...); p.code != code {
		t.Fatalf("exit code %d, want %d\n%s%s", p.code, code, p.out, p.err)
	}
	if by := posted(p.calls); by["0"] == 0 || by["1"] == 0 {
		t.Errorf("creating calls by worker: %v; want some of both", by)
	}
	for what, counts := range map[string][2]any{
		"rows":     {p.summary.Rows, alone.summary.Rows},
		"clients":  {p.summary.Clients, alone.summary.Clients},
		"requests": {creations(p), creations(alone)},
	} {
		if counts[0] != counts[1] {
			t.Errorf("%s with workers: %+v; by itself: %+v", what, counts[0], counts[1])
		}
	}
	s.checkPromise()
	return p
}

// creations are the creating requests of a summary. How often processes look somebody up is
// their own affair.
func creations(p played) result.Requests {
	r := p.summary.Requests
	r.Lookup, r.Templates = 0, 0
	return r
}
