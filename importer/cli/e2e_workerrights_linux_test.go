package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/ledger/postgres/pgtest"
)

// TestRightsOfWorkers: a user who may write the ledger, and no more, cannot make the tables
// by which runs and workers meet, and is told so. Once they are there, the rights of
// docs/scale.md are enough for a run and a worker.
func TestRightsOfWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	s := newScene(t, stepThree, leads(2))
	owner := server.URL()
	_, schema, _ := strings.Cut(owner, "search_path=")
	user := "worker_of_" + schema
	other := strings.Replace(owner, "postgres@", user+"@", 1)
	url := filepath.Join(t.TempDir(), "url")
	write(t, url, owner)
	s.environment("ledger: file:" + url)
	s.mustRun(0) // makes the ledger
	server.Exec(t, "CREATE ROLE "+user+" LOGIN")
	grant := func() {
		for _, rights := range []string{"USAGE ON SCHEMA " + schema, "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " + schema, "USAGE ON ALL SEQUENCES IN SCHEMA " + schema} {
			server.Exec(t, "GRANT "+rights+" TO "+user)
		}
	}
	grant()
	write(t, url, other)
	if code, _, said := s.claimsheet("worker", "--environments", s.path("environments.yaml"), "--state", s.path("worker")); code == 0 || !strings.Contains(said, "[dispatch-rights]") {
		t.Fatalf("a worker without rights: exit code %d\n%s", code, said)
	}

	write(t, url, owner)
	s.mustRun(0, "--workers") // makes the tables; nothing is left to be sent
	grant()
	write(t, url, other)
	s.sheet(leads(4))
	stop := s.workers(1)
	if p := s.mustRun(0, "--workers"); p.summary.Clients.Done != 2 {
		t.Errorf("summary %+v", p.summary.Clients)
	}
	stop()
}
