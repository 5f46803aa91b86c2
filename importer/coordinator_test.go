package importer_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// team is a Dispatcher in memory: a worker in the same process carries plans out as soon as
// they are handed over, each of them twice when again is set.
type team struct {
	t      *testing.T
	worker *importer.Job
	again  bool

	mu       sync.Mutex
	rules    importer.StopRules
	added    int
	finished []map[int64][]byte
}

// newTeam gives a run a worker, which reads and writes a ledger.
func newTeam(t *testing.T, job *importer.Job, known importer.Ledger) *team {
	t.Helper()
	d := &team{t: t, worker: &importer.Job{Runs: job.Runs, Environment: job.Environment, Binding: job.Binding, Service: job.Service, Ledger: known,
		Concurrency: job.Concurrency, MaxFailures: job.MaxFailures, LookAgain: job.LookAgain}}
	d.worker.Rules, job.Dispatch = d, d
	must(t, d.worker.Join(t.Context()))
	return d
}

func (d *team) Change(change func(*importer.StopRules)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.rules)
	return nil
}

func (d *team) Add(_ context.Context, plans map[int64][]byte) error {
	for _, number := range slices.Sorted(maps.Keys(plans)) {
		plan, times := plans[number], 1
		if d.again {
			times = 2
		}
		for range times {
			if done, err := d.worker.Work(plan); err != nil || !done {
				d.t.Errorf("plan %d: done %v, %v", number, done, err)
			}
			d.mu.Lock()
			d.finished = append(d.finished, map[int64][]byte{number: plan})
			d.mu.Unlock()
		}
		d.mu.Lock()
		d.added++
		d.mu.Unlock()
	}
	return nil
}

func (d *team) Collect(_ context.Context, _ bool, do func(groups map[int64][]byte) error) error {
	d.mu.Lock()
	come := d.finished
	d.finished = nil
	d.mu.Unlock()
	for _, groups := range come {
		if err := do(groups); err != nil {
			return err
		}
	}
	return nil
}

func (d *team) Check(context.Context, int) (workers int, err error) { return 1, nil }

// TestHandOver: the coordinator carries the first client out itself and hands the others
// over. A group that comes back twice counts once. A second run, which begins with a new client,
// hands nothing over: the others are done.
func TestHandOver(t *testing.T) {
	const clients = 8
	for name, again := range map[string]bool{"each plan once": false, "each plan twice": true} {
		t.Run(name, func(t *testing.T) {
			job, known, service := newJob(t, apiclient.InProcess)
			for _, run := range []struct {
				job             *importer.Job
				plans           iter.Seq2[mapping.Plan, error]
				added           int
				done, unchanged int
			}{
				{job, busyPlans(job.Binding, clients), clients - 1, clients, 0},
				{laterJob(t, job, known, "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12"), plansOf(job.Binding, append(busyRows(clients + 1)[clients:], busyRows(clients)...)...), 0, 1, clients},
			} {
				d := newTeam(t, run.job, known)
				d.again = again
				must(t, run.job.Do(t.Context(), run.plans))
				d.worker.Leave()
				if d.added != run.added {
					t.Errorf("%d clients were handed over, want %d", d.added, run.added)
				}
				summary, _, _ := run.job.Summary()
				if c := summary.Clients; c.Done != run.done || c.Unchanged != run.unchanged {
					t.Errorf("%+v; want %d done and %d unchanged", c, run.done, run.unchanged)
				}
			}
			if n := len(service.Created()); n != 3*(clients+1) {
				t.Errorf("%d things were created, want %d", n, 3*(clients+1))
			}
			madeOnce(t, service)
		})
	}
}

// TestRowsOfWorkers: the rows of a run that workers carry out are those that the same run has without them. A report
// has the same statuses and ids later, and where a rule of the environment reads an answer, the same error and advice. What is said of rows outside the
// workbook names nothing personal, also where the workbook says whose the id is that a client was given.
func TestRowsOfWorkers(t *testing.T) {
	t.Parallel()
	for _, existing := range []string{"reuse", "skip", "fail"} {
		t.Run(existing, func(t *testing.T) {
			t.Parallel()
			rows := func(workers bool) []result.Row {
				job, known, service := newJob(t, apiclient.InProcess)
				binding := bind(t, strings.Replace(busyMapping, "client: {", "client: {existing: "+existing+", ", 1), busySheet)
				job.Binding, job.Concurrency, job.MaxFailures = binding, 1, importer.MaxFailures{Percent: 100}
				job.LookAgain = []time.Duration{time.Millisecond}
				job.Service = newClient(t, apiclient.InProcess(service), 4, func(c *apiclient.Config) {
					c.Rules = []apiclient.Rule{{Status: 401, Pointer: "/message", Matches: "not this", Means: "failed"}, {Status: 429, Means: "failed"}}
				})
				service.AddClient("c2@example.com", "c2@example.com", "")
				for _, to := range []ledger.State{ledger.Sent, ledger.Uncertain} { // in an earlier run; a look-up did not find it then
					e := ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Environment: "e", Space: "email", Client: "c12@example.com"}, Step: "client"},
						Kind: ledger.KindClient, State: to, Run: "r0", At: time.Now(), NotFound: to == ledger.Uncertain}
					if to == ledger.Sent {
						e.Data = []byte(`{"values":[{"name":"email","value":"c12@example.com"}],"lookup":{"email":"c12@example.com","asked":["email c12@example.com"]}}`)
					} else {
						e.Reason = "no answer that says whether it was created; a look-up finds nobody yet"
					}
					must(t, known.Append(e))
				}
				sent := map[string]bool{}
				service.Play(func(c apitest.Call) apitest.Fault {
					sent[c.Step] = true
					of := regexp.MustCompile("c1[01]").FindString(c.Path + c.Query)
					switch {
					case c.Step == "client c8@example.com":
						return apitest.Answer(apitest.JSON(422, `{"message":"the surname is missing"}`))
					case c.Step == "client c9@example.com":
						return apitest.Answer(apitest.JSON(500, `{"message":"a hiccup"}`))
					case c.Step == "claim c5@example.com/Loan A":
						return apitest.CreateThen(apitest.JSON(500, `{"message":"a hiccup"}`))
					case c.Step == "link c6@example.com":
						return apitest.CreateThen(apitest.JSON(200, `{"message":"where is the url?"}`))
					case c.Kind == "lookup" && regexp.MustCompile(`\bc7(@|%40)`).MatchString(c.Path+c.Query):
						return apitest.Answer(apitest.JSON(400, `{"message":"not so"}`))
					case c.Step == "client c3@example.com":
						return apitest.CreateThen(apitest.JSON(201, `{"contactId":"`+c.Client+`"}`))
					case c.Step == "client c4@example.com": // the id of another client
						return apitest.CreateThen(apitest.JSON(201, `{"contactId":"c3@example.com"}`))
					case c.Step == "client c10@example.com":
						return apitest.Answer(apitest.JSON(409, `{"message":"there is one"}`))
					case c.Step == "client c11@example.com":
						return apitest.Answer(apitest.JSON(500, `{"message":"a hiccup"}`))
					case c.Kind == "lookup" && sent["client "+of+"@example.com"]: // the id of another client
						return apitest.Answer(apitest.JSON(200, `{"contactId":"c3@example.com"}`))
					case c.Step == "claim c13@example.com/Loan A": // as a rule reads it
						return apitest.Answer(apitest.JSON(401, `{"message":"not this one"}`))
					case c.Step == "claim c14@example.com/Loan A": // as a rule reads it
						return apitest.Answer(apitest.JSON(429, `{"message":"too many claims"}`))
					case c.Step == "claim c15@example.com/Loan A":
						return apitest.Answer(apitest.JSON(401, `{"message":"who are you?"}`))
					}
					return apitest.Fault{}
				})
				if workers {
					defer newTeam(t, job, known).worker.Leave()
				}
				if err := job.Do(t.Context(), busyPlans(binding, 17)); !errors.Is(err, importer.ErrStopped) {
					t.Errorf("the run ends with %v", err)
				}
				report := &importer.Job{Runs: job.Runs, Environment: "e", Binding: binding, Ledger: known, Drafts: newDrafts(t)}
				_, _, err := report.Project(t.Context(), busyPlans(binding, 17))
				must(t, err)
				for _, p := range job.FirstFailures() {
					if strings.Contains(p.Error(), "example.com") {
						t.Errorf("it names a client: %v", p)
					}
				}
				rows, again := rowsOf(t, job), rowsOf(t, report)
				if !strings.Contains(rows[3].Error, "c3@example.com") {
					t.Errorf("the workbook does not say whose the id is: %q", rows[3].Error)
				}
				for i, row := range again {
					byRule := i == 12 || i == 13
					if row.Status != rows[i].Status || row.ClientID != rows[i].ClientID ||
						byRule && (row.Status != result.Failed || row.Error != rows[i].Error || row.Advice != rows[i].Advice) {
						t.Errorf("the report has %+v, the run %+v", row, rows[i])
					}
				}
				return rows
			}
			sameIDs := cmp.Transformer("id", func(id string) string { return ids.ReplaceAllString(id, "id") })
			if diff := cmp.Diff(rows(false), rows(true), sameIDs); diff != "" {
				t.Errorf("(-alone +workers):\n%s", diff)
			}
		})
	}
}

// ids are the ids and urls that the service gives.
var ids = regexp.MustCompile(`[0-9a-f]{8}-0000-\S+|https://\S+`)

// unreadable is a ledger that does not give the steps of a client.
type unreadable struct{ *ledger.Ledger }

func (unreadable) Steps(context.Context, ledger.ClientKey, string) (map[string]ledger.Step, error) {
	return nil, errors.New("the ledger's server refuses a statement")
}

// TestWorkerCannotGoOn: an error of a worker that would end the next one too ends the run, which says why.
func TestWorkerCannotGoOn(t *testing.T) {
	t.Parallel()
	job, known, _ := newJob(t, apiclient.InProcess)
	defer newTeam(t, job, unreadable{known}).worker.Leave()
	const why = "the ledger's server refuses a statement"
	if err := job.Do(t.Context(), busyPlans(job.Binding, 3)); !errors.Is(err, importer.ErrStopped) || !strings.Contains(err.Error(), why) {
		t.Errorf("the run ends with %v", err)
	}
	if rows := rowsOf(t, job); len(rows) != 3 || rows[0].Status != result.Done || rows[2].Status != result.NotStarted || !strings.Contains(rows[2].Error, why) {
		t.Errorf("the rows are %+v", rows)
	}
}

// idleTeam is a Dispatcher whose workers begin nothing.
type idleTeam struct{ *team }

func (idleTeam) Add(context.Context, map[int64][]byte) error { return nil }

// stoppedLedger is a ledger that has stopped meanwhile.
type stoppedLedger struct{ *ledger.Ledger }

func (stoppedLedger) Stopped() error { return ledger.ErrStopped }

// TestLedgerStopsMeanwhile: a coordinator whose ledger stops while workers have its plans ends
// with that error, though no outcome comes in.
func TestLedgerStopsMeanwhile(t *testing.T) {
	t.Parallel()
	job, known, _ := newJob(t, apiclient.InProcess)
	job.Ledger, job.Dispatch = stoppedLedger{known}, idleTeam{&team{t: t}}
	if err := job.Do(t.Context(), busyPlans(job.Binding, 3)); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("the run ends with %v", err)
	}
}
