package dispatch_test

import (
	"crypto/rand"
	"fmt"
	"maps"
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

// long asks for what takes long: .ci/run gives it.
var long = testform.Long

// onlyLong leaves a test out without -long.
func onlyLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("only with -long")
	}
}

// TestTablesOfAnotherProcess: the tables of a run are lost, and another process makes them
// again before the coordinator sees it. Its connections know the types of the lost
// tables; it hands its plans over all the same.
func TestTablesOfAnotherProcess(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	p := newPlace(t)
	run, err := p.open().Start(t.Context(), "a run", "queue", []byte("spec"))
	must(t, err)
	plans := map[int64][]byte{1: []byte("a plan")}
	must(t, run.Add(t.Context(), plans))

	p.query("DROP TABLE river_job, dispatched_clients, dispatched_runs")
	p.open()
	_, err = run.Check(t.Context(), func() map[int64][]byte { return maps.Clone(plans) })
	must(t, err)
	there := p.query("SELECT count(*) FROM dispatched_clients c JOIN river_job j ON j.id = c.job WHERE c.number = 1 AND j.state = 'available'")
	if there != "1" {
		t.Errorf("the plan is in the tables %s times", there)
	}
}

// TestOneTableLost: one of the tables is lost, whichever it is. The next process that begins
// makes it again, and the plans are delivered all the same; the stop rules stay, unless they
// are what was lost.
func TestOneTableLost(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	p := newPlace(t)
	run, err := p.open().Start(t.Context(), "a run", "queue", []byte("spec"))
	must(t, err)
	plans := map[int64][]byte{1: []byte("a plan")}
	must(t, run.Add(t.Context(), plans))
	tables := strings.Fields(p.query("SELECT string_agg(tablename, ' ') FROM pg_tables WHERE schemaname = current_schema() AND (tablename LIKE 'river%' OR tablename LIKE 'dispatched%')"))
	if len(tables) != 7 {
		t.Fatalf("the tables are %q", tables)
	}
	for _, table := range tables {
		p.query("UPDATE dispatched_runs SET rules = 'seen', stopped = true; UPDATE dispatched_clients SET queued = now() - interval '1 minute'; DROP TABLE " + table + " CASCADE")
		p.open()
		if p.query("SELECT to_regclass('"+table+"') IS NOT NULL") != "t" {
			t.Errorf("%s is not made again", table)
		}
		_, err = run.Check(t.Context(), func() map[int64][]byte { return maps.Clone(plans) })
		must(t, err)
		if n := p.query(jobsOfPlans); n != "1" {
			t.Errorf("%s was lost: the plan is in the tables %s times", table, n)
		}
		if rules := p.query("SELECT rules = 'seen' AND stopped FROM dispatched_runs"); (rules == "t") != (table != "dispatched_runs") {
			t.Errorf("%s was lost: the rules stay: %s", table, rules)
		}
	}
}

// jobsOfPlans counts the plans that have a job of their own.
const jobsOfPlans = "SELECT count(*) FROM dispatched_clients c JOIN river_job j ON j.id = c.job AND j.args->>'run' = c.run AND (j.args->>'number')::bigint = c.number WHERE j.state = 'available'"

// TestOtherVersions: tables of an older River are brought to the present version, also where
// one of them was lost. Those of a newer one are left as they are.
func TestOtherVersions(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const older = "DROP TABLE river_notification; DELETE FROM river_migration WHERE version > 6; " +
		"CREATE TABLE river_client (id int); CREATE TABLE river_client_queue (id int)"
	for name, c := range map[string]struct{ change, jobs string }{
		"older":                              {older, "1"},
		"older, and a table was lost":        {older + "; DROP TABLE river_leader", "0"},
		"older, and what it drops is lost":   {older + "; DROP TABLE river_client_queue", "0"},
		"newer":                              {"INSERT INTO river_migration (line, version) VALUES ('main', 99)", "1"},
		"newer, which has one table less":    {"INSERT INTO river_migration (line, version) VALUES ('main', 99); DROP TABLE river_notification", "1"},
		"no version, and tables are there":   {"DELETE FROM river_migration", "0"},
		"newer, and all beside it were lost": {"INSERT INTO river_migration (line, version) VALUES ('main', 99); DROP TABLE dispatched_clients, dispatched_runs", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			run, err := p.open().Start(t.Context(), "a run", "queue", []byte("spec"))
			must(t, err)
			must(t, run.Add(t.Context(), map[int64][]byte{1: []byte("a plan")}))
			p.query(c.change)
			p.open()
			if jobs := p.query("SELECT count(*) FROM river_job"); jobs != c.jobs {
				t.Errorf("%s jobs are left, want %s", jobs, c.jobs)
			}
			if p.query("SELECT to_regclass('river_notification') IS NULL") != fmt.Sprint(strings.Contains(name, "less"))[:1] ||
				p.query("SELECT to_regclass('river_leader') IS NOT NULL AND to_regclass('dispatched_clients') IS NOT NULL") != "t" {
				t.Error("a table is missing, or was made that is not of this version")
			}
		})
	}
}

// TestTablesStay: a process that begins leaves the tables as they are, and what is in them.
func TestTablesStay(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	p := newPlace(t)
	run, err := p.open().Start(t.Context(), "a run", "queue", []byte("spec"))
	must(t, err)
	must(t, run.Add(t.Context(), map[int64][]byte{1: []byte("a plan")}))
	const all = "SELECT string_agg(relname || oid, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
	before := p.query(all)
	p.open()
	if now := p.query(all); now != before {
		t.Errorf("the tables were\n%s\nand are\n%s", before, now)
	}
	if n := p.query(jobsOfPlans); n != "1" {
		t.Errorf("the plan is in the tables %s times", n)
	}
}

// TestBegunAtOnce: processes that begin at the same moment find or make all tables, and none
// drops what another has filled.
func TestBegunAtOnce(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	p := newPlace(t)
	p.open()
	for _, lost := range []string{"river_leader", "river_migration", "river_job", "dispatched_clients", "dispatched_runs"} {
		p.query("DELETE FROM dispatched_runs; DROP TABLE " + lost + " CASCADE")
		const processes = 8
		var all sync.WaitGroup
		for range processes {
			all.Go(func() {
				b, err := p.tryOpen() // the goroutines of a test must not end it
				if err == nil {
					run, failed := b.Start(t.Context(), rand.Text(), "queue", []byte("spec"))
					if err = failed; err == nil {
						err = run.Add(t.Context(), map[int64][]byte{1: []byte("a plan")})
					}
				}
				if err != nil {
					t.Errorf("%s was lost: %v", lost, err)
				}
			})
		}
		all.Wait()
		if n := p.query(jobsOfPlans); n != fmt.Sprint(processes) {
			t.Errorf("%s was lost: %s of %d plans are in the tables", lost, n, processes)
		}
	}
}

// TestErasingRemovesPlans: the plans that a killed run has left are removed with what is
// removed from the ledger.
func TestErasingRemovesPlans(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	p := newPlace(t)
	run, err := p.open().Start(t.Context(), "a run", "queue", []byte("spec"))
	must(t, err)
	must(t, run.Add(t.Context(), map[int64][]byte{1: []byte("a plan")}))
	_, err = p.ledger.Purge(ledger.Purge{Before: time.Now()})
	must(t, err)
	if n := p.query("SELECT (SELECT count(*) FROM dispatched_clients) + (SELECT count(*) FROM dispatched_runs)"); n != "0" {
		t.Errorf("%s rows are left", n)
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

func (p *place) tryOpen() (*dispatch.Broker, error) {
	b, err := dispatch.Open(p.t.Context(), p.address, p.ledger.Session())
	if err == nil {
		p.t.Cleanup(b.Close)
	}
	return b, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
