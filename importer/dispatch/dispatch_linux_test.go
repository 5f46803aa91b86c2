package dispatch_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/importer/dispatch"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var must = testform.NoError

// plans is one group of a run, by its number.
var plans = map[int64][]byte{1: []byte(`[{"Number": 2,  "Key": "\u0000"}]`)}

// TestVersionsOfTables: tables of an older River are brought to the present version, with what
// is in them. Those of a newer one are left as they are.
func TestVersionsOfTables(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	const older = "DROP TABLE river_notification; DELETE FROM river_migration WHERE version > 6; " +
		"CREATE TABLE river_client (id int); CREATE TABLE river_client_queue (id int)"
	for name, change := range map[string]string{
		"present":                       "SELECT 1",
		"older":                         older,
		"newer":                         "INSERT INTO river_migration (line, version) VALUES ('main', 99)",
		"newer, which has fewer tables": "INSERT INTO river_migration (line, version) VALUES ('main', 99); DROP TABLE river_notification",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.start(p.open(), "a-run")
			p.query(change)
			before := p.query(tables)
			p.open()
			if jobs := p.query("SELECT count(*) FROM river_job"); jobs != "1" {
				t.Errorf("%s jobs are left, want 1", jobs)
			}
			if now := p.query(tables); now != before && (name == "present" || strings.HasPrefix(name, "newer")) {
				t.Errorf("the tables were\n%s\nand are\n%s", before, now)
			}
			p.start(p.open(), "another-run")
		})
	}
}

// tables are the tables of a schema, and what belongs to them.
const tables = "SELECT string_agg(relname || oid, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"

// TestBegunAtOnce: processes that begin at the same moment find or make all tables, and none
// drops what another has filled.
func TestBegunAtOnce(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	p := newPlace(t)
	const processes = 8
	var all sync.WaitGroup
	for range processes {
		all.Go(func() { // the goroutines of a test must not end it
			b, err := p.tryOpen()
			if err == nil {
				run, failed := b.Start(t.Context(), rand.Text(), "queue", struct{}{})
				if err = failed; err == nil {
					err = run.Add(t.Context(), plans)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.query("SELECT count(*) FROM river_job"); n != fmt.Sprint(processes) {
		t.Errorf("%s of %d jobs are in the tables", n, processes)
	}
}

// TestErasingRemovesPlans: the plans that a killed run has left are removed with what is
// removed from the ledger.
func TestErasingRemovesPlans(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	p := newPlace(t)
	p.start(p.open(), "a-run")
	_, _, err := p.ledger.Purge(nil, "", time.Now())
	must(t, err)
	p.empty()
}

// TestNextRunRemovesPlans: a run removes what one has left whose coordinator is gone, and
// nothing of one that is under way.
func TestNextRunRemovesPlans(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	p := newPlace(t)
	b := p.open()
	p.start(b, "under-way")
	p.start(b, "killed")
	p.query("UPDATE dispatched_runs SET coordinator = 0 WHERE run = 'killed'")
	p.start(b, "next")
	for _, from := range []string{"dispatched_runs", "(SELECT tags[1] AS run FROM river_job) j"} {
		if runs := p.query("SELECT string_agg(run, ' ' ORDER BY run) FROM " + from); runs != "next under-way" {
			t.Errorf("the runs in %s are %q", from, runs)
		}
	}
}

// TestGroupsCarriedOut: plans reach a worker as they are, again if they were given back, and then the coordinator. A job whose
// worker is gone is given to another one, and so is one that workers have refused because the
// coordinator was silent. Nothing is left then, also not in the files of the server.
func TestGroupsCarriedOut(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	p := newPlace(t)
	b := p.open()
	const file = "SELECT pg_relation_filenode('river_job')"
	before := p.query(file)
	run := p.start(b, "a-run")
	collect := func() (finished map[int64][]byte) {
		must(t, run.Collect(t.Context(), false, func(groups map[int64][]byte) error {
			finished = groups
			return nil
		}))
		return finished
	}
	for _, change := range []string{
		"UPDATE river_job SET state = 'running', attempted_by = ARRAY['0']",
		"UPDATE river_job SET state = 'cancelled', finalized_at = now()",
	} {
		p.query(change)
		_, err := run.Check(t.Context(), 1)
		must(t, err)
		if state := p.query("SELECT state FROM river_job"); state != "available" {
			t.Errorf("after %s the job is %s", change, state)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		again := false
		ended <- b.Work(ctx, "queue", 1, slog.DiscardHandler, func(_ string, got []byte) (done bool, err error) {
			if string(got) != string(plans[1]) {
				t.Errorf("the plans are %q, want %q", got, plans[1])
			}
			done, again = again, true
			return done, nil
		})
	}()
	for finished := collect(); !maps.EqualFunc(finished, plans, bytes.Equal); finished = collect() { // until go test's own limit
		time.Sleep(10 * time.Millisecond)
	}
	end()
	must(t, <-ended)
	must(t, run.End(t.Context()))
	p.empty()
	for p.query("SELECT vacuum_count > 0 FROM pg_stat_user_tables WHERE relid = 'river_job'::regclass") != "t" { // until go test's own limit
		time.Sleep(10 * time.Millisecond)
	}
	if p.query(file) == before {
		t.Error("river_job is in the same file as before: its indexes keep their room")
	}
}

// TestRunStops: when a run stops, the coordinator gets back the plans that no worker carries out,
// and not those that one does.
func TestRunStops(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	p := newPlace(t)
	b := p.open()
	run := p.start(b, "a-run")
	must(t, run.Add(t.Context(), map[int64][]byte{2: []byte("begun"), 3: []byte("abandoned")}))
	session, _ := p.ledger.Session()
	p.query(fmt.Sprintf("UPDATE river_job SET state = 'running', attempted_by = ARRAY['0', CASE args->>'number' WHEN '2' THEN '%d' ELSE '0' END] WHERE args->>'number' <> '1'", session))
	back := map[int64]string{}
	for range 2 {
		must(t, run.Collect(t.Context(), true, func(groups map[int64][]byte) error {
			for number, plans := range groups {
				back[number] = string(plans)
			}
			return nil
		}))
		_, err := run.Check(t.Context(), 1)
		must(t, err)
	}
	if want := map[int64]string{1: string(plans[1]), 3: "abandoned"}; !maps.Equal(back, want) {
		t.Errorf("it gets back %v, want %v", back, want)
	}
	if stopped, err := b.IsStopped(t.Context(), "a-run"); !stopped || err != nil {
		t.Errorf("the run is stopped: %t, %v", stopped, err)
	}
}

// TestJobsLost: a coordinator is told that jobs have disappeared, or the tables.
func TestJobsLost(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	for change, want := range map[string]string{"TRUNCATE river_job": "have disappeared from the database", "DROP TABLE river_job": "does not exist"} {
		p := newPlace(t)
		run := p.start(p.open(), "a-run")
		p.query(change)
		if _, err := run.Check(t.Context(), 1); !errors.Is(err, ledger.ErrServer) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", change, err)
		}
	}
}

// place is a ledger in a schema of its own.
type place struct {
	t       *testing.T
	server  *pgtest.Server
	schema  string
	address postgres.Address
	ledger  *ledger.Ledger
}

// newPlace makes a ledger, which is closed with the test.
func newPlace(t *testing.T) *place {
	t.Helper()
	server := pgtest.Shared(t)
	url := server.URL()
	_, schema, _ := strings.Cut(url, "search_path=")
	address, err := postgres.Parse(url)
	must(t, err)
	l, err := postgres.Open(t.Context(), address)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return &place{t, server, schema, address, l}
}

// query executes a statement in the schema.
func (p *place) query(statement string) string {
	p.t.Helper()
	return p.server.Exec(p.t, "SET search_path = "+p.schema+"; "+statement)
}

// open opens a broker beside the ledger, which is closed with the test.
func (p *place) open() *dispatch.Broker {
	p.t.Helper()
	b, err := p.tryOpen()
	must(p.t, err)
	return b
}

// start starts a run, with one job.
func (p *place) start(b *dispatch.Broker, id string) *dispatch.Run {
	p.t.Helper()
	run, err := b.Start(p.t.Context(), id, "queue", struct{}{})
	must(p.t, err)
	must(p.t, run.Add(p.t.Context(), plans))
	return run
}

// empty holds that nothing of a run is left.
func (p *place) empty() {
	p.t.Helper()
	if n := p.query("SELECT (SELECT count(*) FROM river_job) + (SELECT count(*) FROM dispatched_runs)"); n != "0" {
		p.t.Errorf("%s rows are left", n)
	}
}

func (p *place) tryOpen() (*dispatch.Broker, error) {
	b, err := dispatch.Open(p.t.Context(), p.address, p.ledger)
	if err == nil {
		p.t.Cleanup(b.Close)
	}
	return b, err
}
