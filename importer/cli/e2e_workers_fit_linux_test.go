package cli_test

import (
	"strings"
	"testing"
	"time"

	"claimsheet/importer/ledger/postgres/pgtest"
)

// TestWorkerOfAnotherEnvironment: a worker whose environments file says otherwise where
// answers have an id, or what they mean, says so and sends nothing for a run. One that has
// the run's environment carries the run out, and what the other one had begun.
func TestWorkerOfAnotherEnvironment(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 20
	for name, change := range map[string][2]string{
		"wire":  {"/claimId", "/claim/id"},
		"rules": {"means: stop", "means: failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(clients))
			server := pgtest.Shared(t)
			schema := s.inSchema(server, "limits: {concurrency: 1}\nwire: {claim_id: /claimId}\nerrors: [{status: 418, means: stop}]")
			begunBy := "attempted_by[array_upper(attempted_by, 1)]"
			jobs := schema + ".river_job WHERE state = 'running'"
			stop := s.worker(0, change[0], change[1], "--concurrency", "1")
			done := make(chan played, 1)
			go func() { done <- s.run("--workers") }()
			s.waitFor("plans that are handed over", func() bool { return s.handedOver(server, schema) })
			s.waitFor("plans that the worker begins", func() bool { return server.Exec(t, "SELECT count(*) > 0 FROM "+jobs) == "t" })
			begun := server.Exec(t, "SELECT DISTINCT "+begunBy+" FROM "+jobs)
			s.worker(1, "", "")
			s.waitFor("all other plans", func() bool {
				return server.Exec(t, "SELECT NOT EXISTS (SELECT 1 FROM "+schema+".river_job WHERE state <> 'running' OR "+begunBy+" <> '"+begun+"')") == "t"
			})
			said := stop()
			p := <-done
			if by := posted(p.calls); p.code != 0 || p.summary.Clients.Done != clients || by["1"] < 60 {
				t.Errorf("exit code %d, %+v; creating calls by worker: %v\n%s", p.code, p.summary.Clients, by, p.err)
			}
			for _, c := range p.calls {
				if c.Header.Get("X-Worker") == "0" {
					t.Errorf("the worker of another environment sends %s %s", c.Method, c.Path)
				}
			}
			expect(t, said, "this worker cannot work for it", "the environment “uat” of this worker is not that of the run")
			if strings.Contains(said, "works for run ") {
				t.Errorf("the worker works for the run:\n%s", said)
			}
			s.checkPromise()
		})
	}
}

// TestWorkerOfAnotherAddress: a worker whose base_url is not that of the run gets none of its
// clients, and says why.
func TestWorkerOfAnotherAddress(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(20))
	server := pgtest.Shared(t)
	schema := s.inSchema(server, "limits: {concurrency: 1}")
	end, said := s.startWorker(0, "base_url: http://127.0.0.1", "base_url: http://127.0.0.2")
	done := make(chan played, 1)
	go func() { done <- s.run("--workers") }()
	s.waitFor("plans that are handed over", func() bool { return s.handedOver(server, schema) })
	time.Sleep(3 * time.Second) // a worker looks every two
	s.worker(1, "", "")
	if p := <-done; p.code != 0 || posted(p.calls)["0"] > 0 {
		t.Errorf("exit code %d, creating calls by worker: %v\n%s", p.code, posted(p.calls), p.err)
	}
	end()
	expect(t, said(), "this worker cannot work for it: its environment “uat” is at http://127.0.0.1", "this worker's base_url is http://127.0.0.2")
}
