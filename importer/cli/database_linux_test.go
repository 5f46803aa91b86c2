package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// inDatabase gives the scene's environment a ledger in a schema of a database. more are further lines of its entry.
func (s *scene) inDatabase(server *pgtest.Server, more string) (schema string) {
	s.t.Helper()
	file, url := filepath.Join(s.t.TempDir(), "url"), server.URL()
	write(s.t, file, url+"&password=canary-password")
	s.environment(more + "\nledger: file:" + file)
	_, schema, _ = strings.Cut(url, "search_path=")
	return schema
}

// TestLedgerInDatabase: every command works with a ledger in a database, a second night is quiet, and no file, line or
// workbook has the url.
func TestLedgerInDatabase(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	quiet := func() {
		t.Helper()
		if posts := s.mustRun(0).posts(); len(posts) > 0 {
			t.Errorf("the run sends %v", posts)
		}
		s.checkPromise()
	}
	said := s.must(0, "doctor")
	expect(t, said, "PostgreSQL", "there is no ledger yet")
	first := s.mustRun(0)
	if len(first.posts()) == 0 {
		t.Fatal("nothing was sent")
	}
	quiet()
	if _, err := os.Stat(s.path(".claimsheet/ledger.db")); err == nil {
		t.Error("there is a ledger in the state folder too")
	}
	expect(t, s.must(0, "history", "c1@example.com"), "done")
	s.must(0, "settle")
	s.report()
	said += s.must(0, "doctor") + first.out + first.err
	expect(t, said, "schema version 4")

	// To a file, into another database, and on from there.
	s.must(0, "copy-ledger", "--to", s.path("copy.db"))
	expect(t, s.must(2, "copy-ledger", "--to", s.path("copy.db")), "there is a file")
	url := filepath.Join(t.TempDir(), "url")
	write(t, url, pgtest.Shared(t).URL())
	expect(t, s.must(0, "copy-ledger", "--to", "file:"+url), "rows were counted and checked")
	expect(t, s.must(2, "copy-ledger", "--to", "file:"+url), "not empty")
	s.environment("ledger: file:" + url)
	quiet()
	kept := len(s.glob(".claimsheet/inputs/*"))
	expect(t, s.must(0, "history", "--yes", "--forget", "c2@example.com"), "another ledger has its copies there too")
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
	if after := len(s.glob(".claimsheet/inputs/*")); after != kept {
		t.Errorf("of %d copies of sheets, which may be the other database's, %d are left", kept, after)
	}
	for _, text := range []string{"canary-password", "search_path", "postgres@"} {
		s.eachFile("", func(path string, data []byte) {
			if strings.Contains(said+string(data), text) {
				t.Errorf("%q is printed, or in %s", text, path)
			}
		})
	}
}

// TestLedgerElsewhere: a run that finds no ledger where it looks, in a state folder that belongs to a ledger in another
// place, or whose database was made new, creates nothing, and neither does its dry run promise to.
func TestLedgerElsewhere(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	database := func() string { return fmt.Sprintf("ledger: %q", server.URL()) }
	for name, moved := range map[string][2]string{
		"from a file to a database":    {"", database()},
		"from a database to a file":    {database(), ""},
		"from one database to another": {database(), database()},
		"the database is gone":         {database(), "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, stepThree, leads(2))
			s.environment(moved[0])
			s.mustRun(0)
			_, schema, _ := strings.Cut(strings.Trim(moved[0], `"`), "search_path=")
			says := []string{"belongs to a ledger in another place", "--accept ledger-missing"}
			if moved[1] == "gone" {
				server.Exec(t, "DROP SCHEMA "+schema+" CASCADE")
				says = []string{"the ledger is gone"}
			} else {
				s.environment(moved[1])
			}
			for _, flags := range [][]string{{"--dry-run"}, nil} {
				refused := s.mustRun(3, flags...)
				expect(t, refused.err, says...)
				if len(refused.posts()) > 0 {
					t.Errorf("%v: sent %v", flags, refused.posts())
				}
			}
			if moved[1] == "gone" && server.Exec(t, "SELECT count(*) FROM pg_namespace WHERE nspname = '"+schema+"'") != "0" {
				t.Error("the refused run has made a new ledger")
			}
		})
	}
}

// TestOneStateFolder: two runs that would share a state folder do not work at the same time, and the message says what
// to do.
func TestOneStateFolder(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	s.service.Play(apitest.Once(onStep("client c1@example.com"), apitest.Fault{Then: func() {
		p := claimsheet(t, s.args("-o", s.path("other.xlsx"))...)
		if expect(t, p.err, "another run holds the ledger", "--state"); p.code != 5 {
			t.Errorf("exit code %d", p.code)
		}
	}}))
	s.mustRun(0)
}

// TestCreatedTwiceIsSaid: a process is paused when it is about to send a client, until another one has found nobody,
// waited for as long as it must, and created the client. When it goes on, its request cannot be held back any more, and
// it says what it has created, or keeps the answer in its journal.
func TestCreatedTwiceIsSaid(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const step = "client c2@example.com"
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	first := child(trialName, s.args("--state", s.path("state-1"), "-o", s.path("out-1.results.xlsx"), "--concurrency", "1"), "TRIAL_LEASE=2s", "TRIAL_PAUSE=before-write c2@example.com:client")
	first.start(t)
	t.Cleanup(first.kill)
	s.waitFor("the pause", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", first.Process.Pid))
		return strings.Contains(string(stat), ") T ")
	})
	if code, said := s.runTrial(trialName, "TRIAL_LEASE=2s"); code != 4 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	if n := s.asked()[step]; n != 0 {
		t.Errorf("the second process has sent the client %d times, though the first may have", n)
	}
	if code, said := s.runTrial(trialName, "TRIAL_LEASE=2s", "TRIAL_BELIEVE=1ms"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	first.signal(syscall.SIGCONT)
	code, said := first.end(t)
	things, word := s.service.Created()[step], s.said()[step]
	if code != 3 || len(things) != 2 || word.State != apitest.Done {
		t.Errorf("exit code %d, the client was created %d times, and the workbook says %+v\n%s", code, len(things), word, said)
	}
	for _, path := range s.glob("state-1/*.outcomes*") { // an answer whose step could not be looked up is there alone
		said += readText(t, path)
	}
	if n := unsaid(things, word, said); n > 0 {
		t.Errorf("%d of %v was not said; the workbook has %s\n%s", n, things, word.ID, said)
	}
}
