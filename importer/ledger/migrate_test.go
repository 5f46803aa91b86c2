package ledger_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// The files in testdata are ledgers of versions 2 and 3, and what the programs that
// wrote them said of them: the output of dump. Version 2 has two runs of a sample
// against the sandbox, and steps in all states, with several attempts, decisions,
// corrected ids, fresh links, an erased client, and two clients with one id. Version 3
// has three runs of six clients: the rows of two were dropped, and the third has a list
// of unchanged rows.

// oldLedger puts the ledger of a version into a folder. That of version 1 is made from
// version 2.
func oldLedger(t testing.TB, version int, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "ledger.db")
	do(t, os.WriteFile(path, unzipped(t, fmt.Sprintf("version-%d.db.gz", max(version, 2))), 0o600))
	if version == 1 {
		database(t, path, "DROP INDEX steps_ids", "DROP INDEX steps_urls",
			"CREATE INDEX steps_clients ON steps (created) WHERE kind = 'client' AND state = 'done'", "PRAGMA user_version = 1")
	}
	return path
}

func unzipped(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	do(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	do(t, err)
	data, err := io.ReadAll(z)
	do(t, err)
	return data
}

// ref are the numbers that version 2 did not show, and which version 3 showed of some.
var ref = regexp.MustCompile(`,"Ref":\{[^}]*\}`)

// reworded are the words of decisions that were other words in version 2, and the state
// of steps that were not there yet, which version 3 left out.
var reworded = strings.NewReplacer(`"State":"","ID":""`, `"State":"planned","ID":""`, `"Via":"operator"`, `"Via":"by hand"`,
	"an operator found it in the service", "you decided that it was created", "an operator found that it was not created", "you decided that it was not created",
	"an operator gave it up", "you gave it up", "an operator took the decision back", "you undid the decision", "a fresh link is asked for", "you asked for a fresh link")

// sameAsBefore compares what a migrated ledger says with what it said before.
func sameAsBefore(t *testing.T, version int, l *ledger.Ledger) {
	t.Helper()
	want := ref.ReplaceAllString(reworded.Replace(string(unzipped(t, fmt.Sprintf("version-%d.txt.gz", max(version, 2))))), "")
	if diff := gocmp.Diff(strings.Split(want, "\n"), strings.Split(ref.ReplaceAllString(dump(t, l), ""), "\n")); diff != "" {
		t.Errorf("the ledger says something else (-before +now):\n%s", diff)
	}
}

// TestMigration: a ledger of an earlier version says the same when it is only read,
// which changes nothing on the disk; after Open has migrated it; and when it is
// opened again.
func TestMigration(t *testing.T) {
	for version, intents := range map[int]int{1: 1, 2: 1, 3: 0} {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			path := oldLedger(t, version, t.TempDir())
			before := listing(t, filepath.Dir(path))
			l, err := ledger.OpenReadOnly(path)
			do(t, err)
			sameAsBefore(t, version, l)
			do(t, l.Close())
			same(t, "the folder after it was read", listing(t, filepath.Dir(path)), before)

			said := map[string]bool{}
			l, err = ledger.OpenWith(path, func(what string, done, total int64) { said[what] = done <= total })
			do(t, err)
			same(t, "said", said, map[string]bool{"checking": true, "upgrading": true})
			sameAsBefore(t, version, l)
			n, err := l.MarkInterrupted("r", noon)
			do(t, err)
			same(t, "interrupted", n, intents)
			do(t, l.Close())
			do(t, ledger.Check(path, nil))
			same(t, "files", len(listing(t, filepath.Dir(path))), 3) // the ledger, its count and its sum
		})
	}
}

// dump is everything that a ledger says through its methods, as lines of JSON.
func dump(t testing.TB, l *ledger.Ledger) string {
	t.Helper()
	var text strings.Builder
	say := func(what string, v any) {
		line, err := json.Marshal(v)
		do(t, err)
		fmt.Fprintf(&text, "%s %s\n", what, line)
	}
	ctx := t.Context()
	newest, err := l.LastEvent(ctx)
	do(t, err)
	say("newest event", newest)
	environments, err := l.Environments(ctx)
	do(t, err)
	for _, r := range collect(t, l.Runs(ctx, environments)) {
		say("run", r)
		for _, row := range collect(t, l.Rows(ctx, r.ID, ledger.Newest)) {
			say(" row", row)
		}
		for _, s := range collect(t, l.RunSteps(ctx, r.ID, ledger.Newest)) {
			say(" step", s)
		}
		for _, at := range []int64{0, 1, newest / 2, newest - 10, newest} {
			for _, s := range collect(t, l.RunSteps(ctx, r.ID, at)) {
				say(fmt.Sprint(" step as of ", at), s)
			}
		}
	}
	for _, environment := range environments {
		say("environment", environment)
		dumpEnvironment(t, l, environment, say)
	}
	return text.String()
}

func init() { children["migrate"] = migrateAndDie }

// migrateAndDie migrates a ledger, and is killed when LEDGER_AT begins.
func migrateAndDie(path string) {
	_, err := ledger.OpenWith(path, func(what string, _, _ int64) {
		if what == os.Getenv("LEDGER_AT") {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	})
	fmt.Println("not killed:", err)
	os.Exit(1)
}

// TestMigrationKilled: a migration that was killed is begun again, and nothing is
// lost.
func TestMigrationKilled(t *testing.T) {
	for _, at := range []string{"upgrading", "checking"} {
		t.Run(at, func(t *testing.T) {
			path := oldLedger(t, 2, t.TempDir())
			before, err := os.ReadFile(path)
			do(t, err)
			t.Setenv("LEDGER_AT", at)
			child, out := start(t, "migrate", path)
			if out.Scan() {
				t.Fatal(out.Text())
			}
			_ = child.Wait()
			now, err := os.ReadFile(path)
			do(t, err)
			same(t, "the old file is there", bytes.Equal(now, before), true)
			if len(listing(t, filepath.Dir(path))) < 2 {
				t.Error("the migration had not begun when it was killed")
			}
			l := open(t, path)
			sameAsBefore(t, 2, l)
			do(t, l.Close())
			same(t, "files", len(listing(t, filepath.Dir(path))), 2) // the ledger and its sum
		})
	}
}

// TestOnlyWhatWasNotClosedIsChecked: a ledger that was closed is opened without
// reading it as a whole.
func TestOnlyWhatWasNotClosedIsChecked(t *testing.T) {
	path := closedLedger(t)
	checks := func() (n int) {
		l, err := ledger.OpenWith(path, func(string, int64, int64) { n++ })
		do(t, err)
		do(t, l.Close())
		return n
	}
	same(t, "checks of a closed ledger", checks(), 0)
	dir := t.TempDir()
	l := open(t, path)
	copyLedger(t, filepath.Dir(path), dir, "ledger.db", "ledger.db-wal")
	do(t, l.Close())
	path = filepath.Join(dir, "ledger.db")
	same(t, "checks of one that was not closed", checks(), 1)
	same(t, "checks after it was closed", checks(), 0)
}

func dumpEnvironment(t testing.TB, l *ledger.Ledger, environment string, say func(string, any)) {
	ctx := t.Context()
	for _, u := range collect(t, l.Unsettled(ctx, environment)) {
		say("unsettled", u)
		was, err := l.WasUnsettled(ctx, u.Number)
		do(t, err)
		say("was", was)
	}
	for _, u := range collect(t, l.Decided(ctx, environment)) {
		say("decided", u)
	}
	for _, s := range collect(t, l.UndecidedClients(ctx, environment)) {
		say("undecided", s)
	}
	shared, err := l.SharedIDs(ctx, environment)
	do(t, err)
	say("shared", shared)
	definitions, err := l.Definitions(ctx, environment)
	do(t, err)
	say("definitions", definitions)
	trusted, err := l.Trusted(ctx, environment)
	do(t, err)
	say("trusted", trusted)
	beyond, err := l.ClientsBeyondASCII(ctx, environment)
	do(t, err)
	say("beyond ASCII", beyond)
	known, err := l.KnownClients(ctx, environment, 1000)
	do(t, err)
	say("known clients", known)
	mappings, err := l.OtherMappings(ctx, environment, "")
	do(t, err)
	say("mappings", mappings)
	for _, kind := range []string{ledger.KindClient, ledger.KindClaim, ledger.KindActivity} {
		ids, err := l.IDs(ctx, environment, kind, 1000)
		do(t, err)
		slices.Sort(ids)
		say("ids", slices.Compact(ids))
	}
	clients := map[ledger.ClientKey]bool{}
	for _, r := range collect(t, l.Runs(ctx, []string{environment})) {
		for _, s := range collect(t, l.RunSteps(ctx, r.ID, ledger.Newest)) {
			for _, space := range []string{"email", "lead", "leads", "phone", "reference"} {
				clients[ledger.ClientKey{Environment: environment, Space: space, Client: s.ClientKey}] = true
			}
		}
	}
	for _, name := range []string{"anna", "bob", "carl", "dora", "twin1", "twin2", "fred"} {
		clients[ledger.ClientKey{Environment: environment, Space: "email", Client: name + "@example.com"}] = true
	}
	clients[ledger.ClientKey{Environment: environment, Space: "email", Client: "emil@müller.example"}] = true
	named, err := l.ErasedNamed(ctx, environment, "fred@example.com")
	do(t, err)
	for _, stone := range named {
		clients[stone] = true
	}
	var all []ledger.ClientKey
	for c := range clients {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b ledger.ClientKey) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Space, b.Space))
	})
	for _, c := range all {
		steps, err := l.StepsOfClient(ctx, c)
		do(t, err)
		for _, s := range steps {
			say("step", s)
			events, err := l.Events(ctx, s.StepID)
			do(t, err)
			for _, e := range events {
				say(" event", e)
			}
			status, err := l.AnswerStatus(ctx, s.StepID)
			do(t, err)
			if s.Answer != nil {
				say(" status", status)
			}
		}
		rows, err := l.RowsOfClient(ctx, c)
		do(t, err)
		for _, r := range rows {
			say(" row", r)
		}
		plan, err := l.PlanOfClient(ctx, c, "loans")
		do(t, err)
		say(" plan", plan)
	}
}

// TestMigrationFailed: a migration that fails leaves nothing beside the old file, and
// opening a ledger removes what one that was killed has left.
func TestMigrationFailed(t *testing.T) {
	dir := t.TempDir()
	path := oldLedger(t, 2, dir)
	database(t, path, "UPDATE steps SET attempts = attempts + 1 WHERE id = (SELECT max(id) FROM steps)")
	before := listing(t, dir)
	_, err := ledger.Open(path)
	if !errors.Is(err, ledger.ErrDamaged) {
		t.Fatal(err)
	}
	same(t, "the folder", listing(t, dir), before)

	path = closedLedger(t)
	left := filepath.Join(filepath.Dir(path), ".upgraded-ledger.db")
	do(t, os.WriteFile(left, []byte("jane@example.com"), 0o600))
	open(t, path)
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("what a migration has left is still there:", err)
	}
}

// TestMigrationOfAnOpenLedger: it is refused, and the hint is to close the other
// program.
func TestMigrationOfAnOpenLedger(t *testing.T) {
	path := oldLedger(t, 2, t.TempDir())
	db, err := sql.Open("sqlite", path)
	do(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	var n int
	var mode string
	do(t, db.QueryRow("PRAGMA journal_mode = WAL").Scan(&mode))
	do(t, db.QueryRow("SELECT count(*) FROM steps").Scan(&n))
	err = ledger.MigrateImpatiently(path)
	p, ok := errors.AsType[problem.Problem](err)
	if !ok || !errors.Is(err, ledger.ErrStopped) || !strings.Contains(p.Message, "another program still has it open") || strings.Contains(p.Hint, "room") {
		t.Errorf("got %v (hint %q)", err, p.Hint)
	}
}
