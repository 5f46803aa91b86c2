package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// inDatabase gives the scene's environment a ledger in a database. more are further lines
// of its entry.
func (s *scene) inDatabase(server *pgtest.Server, more string) {
	s.t.Helper()
	url := filepath.Join(s.t.TempDir(), "url")
	write(s.t, url, server.URL()+"&password=canary-password")
	s.environment(more + "\nledger: file:" + url)
}

// must runs a command and expects an exit code.
func (s *scene) must(want int, words ...string) string {
	s.t.Helper()
	code, out, diagnostics := s.claimsheet(slices.Insert(words, 1, "-m", s.path("mapping.yaml"))...)
	if code != want {
		s.t.Fatalf("%v: exit code %d, want %d\n%s%s", words, code, want, out, diagnostics)
	}
	return out + diagnostics
}

// TestLedgerInDatabase: every command works with a ledger in a database, a second night
// is quiet, and no file, line or workbook has the url.
func TestLedgerInDatabase(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	printed := s.must(0, "doctor")
	expect(t, printed, "PostgreSQL", "there is no ledger yet")
	first := s.mustRun(0)
	if len(first.posts()) == 0 {
		t.Fatal("nothing was sent")
	}
	if posts := s.mustRun(0).posts(); len(posts) > 0 {
		t.Errorf("the second night sends %v", posts)
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
	if _, err := os.Stat(s.path(".claimsheet/ledger.db")); err == nil {
		t.Error("there is a ledger in the state folder too")
	}
	expect(t, s.must(0, "history", "c1@example.com"), "done")
	s.must(0, "settle")
	s.must(0, "report", "--out", s.path("again.xlsx"))
	printed += s.must(0, "doctor") + first.out + first.err
	expect(t, printed, "schema version 3")

	// To a file, into another database, and on from there.
	s.must(0, "copy-ledger", "--to", s.path("copy.db"))
	expect(t, s.must(2, "copy-ledger", "--to", s.path("copy.db")), "there is a file")
	url := filepath.Join(t.TempDir(), "url")
	write(t, url, pgtest.Shared(t).URL())
	expect(t, s.must(0, "copy-ledger", "--to", "file:"+url), "rows were counted and checked")
	expect(t, s.must(2, "copy-ledger", "--to", "file:"+url), "not empty")
	s.environment("ledger: file:" + url)
	if posts := s.mustRun(0).posts(); len(posts) > 0 {
		t.Errorf("with the copy the run sends %v", posts)
	}
	kept, err := os.ReadDir(s.path(".claimsheet/inputs"))
	must(t, err)
	expect(t, s.must(0, "history", "--yes", "--forget", "c2@example.com"), "another ledger has its copies there too")
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
	if after, err := os.ReadDir(s.path(".claimsheet/inputs")); err != nil || len(after) != len(kept) {
		t.Errorf("of %d copies of sheets, which may be the other database's, %d are left, %v", len(kept), len(after), err)
	}
	for _, text := range []string{"canary-password", "search_path", "postgres@"} {
		s.searchFor(printed, text)
	}
}

// expect fails unless all texts are in what was said.
func expect(t *testing.T, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("“%s” is not in\n%s", text, said)
		}
	}
}

// TestDatabaseStops: when the server of the ledger stops in the middle of a run, nothing
// more is sent, what is on its way is kept beside, and the next run goes on without a
// second creation.
func TestDatabaseStops(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Own(t)
	s := newScene(t, stepThree, leads(12))
	s.inDatabase(server, "limits: {concurrency: 4}")
	var posts, late atomic.Int64
	var gone atomic.Bool
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method == "GET" {
			return apitest.Fault{}
		}
		if posts.Add(1) == 20 {
			server.Stop()
			gone.Store(true)
		} else if gone.Load() {
			late.Add(1)
		}
		return apitest.Fault{}
	})
	stopped := s.run()
	if stopped.code != 3 {
		t.Fatalf("exit code %d\n%s%s", stopped.code, stopped.out, stopped.err)
	}
	if late.Load() > 4 {
		t.Errorf("%d requests were sent after the server had stopped, with 4 in flight", late.Load())
	}
	expect(t, stopped.err, "the ledger cannot be written", "see that the ledger's server runs")
	kept, _ := filepath.Glob(s.path(".claimsheet/journal-*.jsonl"))
	if len(kept) != 1 {
		t.Errorf("the journals are %v", kept)
	}
	s.service.Play(nil)
	while := s.run()
	if while.code != 3 || len(while.posts()) > 0 {
		t.Errorf("while the server is away: exit code %d, calls %v\n%s", while.code, while.posts(), while.err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	again := s.run()
	expect(t, again.err, "outcomes recorded that an earlier run had to keep in its journal")
	// A commit may have reached the disk though its answer was lost: what it was about to
	// send is uncertain then.
	if open := len(s.uncertain()); again.code != 0 && again.code != 4 || open > 8 {
		t.Errorf("exit code %d, %d steps are uncertain\n%s", again.code, open, again.err)
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
	s.searchFor(stopped.out+stopped.err+while.err, "canary-password")
}

// TestLedgerElsewhere: a run that finds no ledger where it looks, in a state folder that
// belongs to a ledger in another place, creates nothing, and neither does its dry run
// promise to.
func TestLedgerElsewhere(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	database := func() string { return "ledger: " + fmt.Sprintf("%q", server.URL()) }
	for name, moved := range map[string][2]string{
		"from a file to a database":    {"", database()},
		"from a database to a file":    {database(), ""},
		"from one database to another": {database(), database()},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, stepThree, leads(2))
			s.environment(moved[0])
			s.mustRun(0)
			s.environment(moved[1])
			for _, flags := range [][]string{{"--dry-run"}, nil} {
				refused := s.run(flags...)
				if refused.code != 3 || len(refused.posts()) > 0 {
					t.Errorf("%v: exit code %d, sent %v", flags, refused.code, refused.posts())
				}
				expect(t, refused.err, "belongs to a ledger in another place", "--accept ledger-missing")
			}
		})
	}
}

// TestLedgerOfAnotherDatabase: a database that was put back, or made new, lets no run
// create again what it has lost.
func TestLedgerOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	s := newScene(t, stepThree, leads(2))
	url := server.URL()
	s.environment("ledger: " + fmt.Sprintf("%q", url))
	s.mustRun(0)
	_, schema, _ := strings.Cut(url, "search_path=")
	server.Exec(t, "DROP SCHEMA "+schema+" CASCADE")
	lost := s.run()
	if lost.code != 3 || len(lost.posts()) > 0 {
		t.Errorf("exit code %d, sent %v", lost.code, lost.posts())
	}
	expect(t, lost.err, "the ledger is gone")
	if n := server.Exec(t, "SELECT count(*) FROM pg_namespace WHERE nspname = '"+schema+"'"); n != "0" {
		t.Error("the refused run has made a new ledger")
	}
}
