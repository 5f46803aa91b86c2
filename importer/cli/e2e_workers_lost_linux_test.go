package cli_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// dropTables drops what a run and its workers meet by, in a schema: River's tables, with
// their functions and types, and those beside them. Others who change both of two tables
// begin with that which comes first here too.
const dropTables = `DO $$ DECLARE what record; BEGIN
	FOR what IN SELECT c.oid::regclass AS name FROM pg_class c WHERE c.relnamespace = '%[1]s'::regnamespace AND c.relkind = 'r' AND (c.relname LIKE 'river%%' OR c.relname LIKE 'dispatched%%') ORDER BY c.relname LOOP
		EXECUTE 'DROP TABLE ' || what.name || ' CASCADE'; END LOOP;
	FOR what IN SELECT p.oid::regprocedure AS name FROM pg_proc p WHERE p.pronamespace = '%[1]s'::regnamespace AND p.proname LIKE 'river%%' LOOP
		EXECUTE 'DROP FUNCTION ' || what.name || ' CASCADE'; END LOOP;
	FOR what IN SELECT t.oid::regtype AS name FROM pg_type t WHERE t.typnamespace = '%[1]s'::regnamespace AND t.typtype = 'e' AND t.typname LIKE 'river%%' LOOP
		EXECUTE 'DROP TYPE ' || what.name || ' CASCADE'; END LOOP;
END $$`

// TestRiverTablesLost: in the middle of a run the tables by which it meets its workers are
// lost, or what is in them. The run ends and says so. The next one makes the tables, and the same
// workers do the rest; everything is created once.
func TestRiverTablesLost(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, statement := range map[string]string{
		"dropped": dropTables,
		"jobs":    `TRUNCATE %[1]s.river_job`,
		"run":     `TRUNCATE %[1]s.river_job, %[1]s.dispatched_runs`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const clients, calls, before = 40, 6, 60
			s := newScene(t, stepThree, leads(clients))
			server := pgtest.Shared(t)
			schema := s.inSchema(server, "limits: {concurrency: 1}")
			var sent atomic.Int64
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Header.Get("X-Worker") != "" && c.Method != "GET" && sent.Add(1) == before {
					server.Exec(t, fmt.Sprintf(statement, schema))
				}
				return apitest.Fault{Delay: 2 * time.Millisecond}
			})
			stop := s.workers(2)
			lost := s.mustRun(3, "--workers")
			expect(t, lost.err+lost.out, "has disappeared from the database")
			s.mustRun(0, "--workers")
			said := strings.Join(stop(), "\n")
			if n := len(s.service.Created()); n != clients*calls || sent.Load() < clients*calls/2 {
				t.Errorf("%d things were created, %d by workers\n%s", n, sent.Load(), said)
			}
			s.checkPromise()
		})
	}
}
