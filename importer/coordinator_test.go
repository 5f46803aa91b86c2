package importer_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
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
	outcomes map[int64][][]byte
}

func (d *team) Change(change func(*importer.StopRules)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.rules)
	return nil
}

func (d *team) Add(_ context.Context, plans map[int64][]byte) error {
	for number, plan := range plans {
		times := 1
		if d.again {
			times = 2
		}
		for range times {
			outcome, err := d.worker.Work(plan)
			if err != nil {
				d.t.Errorf("plan %d: %v", number, err)
			}
			d.mu.Lock()
			d.outcomes[number] = append(d.outcomes[number], outcome)
			d.mu.Unlock()
		}
		d.mu.Lock()
		d.added++
		d.mu.Unlock()
	}
	return nil
}

func (d *team) Collect(_ context.Context, _ bool, do func(number int64, plans, outcome []byte) error) error {
	d.mu.Lock()
	come := d.outcomes
	d.outcomes = map[int64][][]byte{}
	d.mu.Unlock()
	for number, list := range come {
		for _, outcome := range list {
			if err := do(number, nil, outcome); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *team) Check(context.Context, int) (workers int, err error) { return 1, nil }

// TestHandOver: the coordinator carries the first client out itself and hands the others
// over. An outcome that comes twice counts once. A second run, which begins with a new client,
// hands nothing over: the others are done.
func TestHandOver(t *testing.T) {
	const clients = 8
	for name, again := range map[string]bool{"each plan once": false, "each plan twice": true} {
		t.Run(name, func(t *testing.T) {
			job, known, service := newJob(t, func(service http.Handler) http.RoundTripper { return apiclient.InProcess(service) })
			defer known.Close()
			for _, run := range []struct {
				id              string
				plans           iter.Seq2[mapping.Plan, error]
				added           int
				done, unchanged int
			}{
				{job.Runs[0], busyPlans(job.Binding, clients), clients - 1, clients, 0},
				{"7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12", lastFirst(busyPlans(job.Binding, clients+1)), 0, 1, clients},
			} {
				if run.id != job.Runs[0] {
					if err := known.StartRun(ledger.Run{ID: run.id, Environment: "e", Mapping: "n", Started: time.Now()}); err != nil {
						t.Fatal(err)
					}
				}
				of := func() *importer.Job {
					return &importer.Job{Runs: []string{run.id}, Environment: "e", Binding: job.Binding, Service: job.Service, Ledger: known,
						Drafts: newDrafts(t), Concurrency: 4, MaxFailures: importer.DefaultMaxFailures}
				}
				d := &team{t: t, worker: of(), again: again, outcomes: map[int64][][]byte{}}
				d.worker.Rules = d
				if err := d.worker.Join(t.Context()); err != nil {
					t.Fatal(err)
				}
				coordinator := of()
				coordinator.Dispatch = d
				if err := coordinator.Do(t.Context(), run.plans); err != nil {
					t.Fatal(err)
				}
				d.worker.Leave()
				if d.added != run.added {
					t.Errorf("%d clients were handed over, want %d", d.added, run.added)
				}
				summary, _, _ := coordinator.Summary(false)
				if c := summary.Clients; c.Done != run.done || c.Unchanged != run.unchanged {
					t.Errorf("%+v; want %d done and %d unchanged", c, run.done, run.unchanged)
				}
			}
			if n := len(service.Created()); n != 3*(clients+1) {
				t.Errorf("%d things were created, want %d", n, 3*(clients+1))
			}
			for step, made := range service.Created() {
				if len(made) != 1 {
					t.Errorf("%s was created %d times", step, len(made))
				}
			}
		})
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
	job, known, _ := newJob(t, func(service http.Handler) http.RoundTripper { return apiclient.InProcess(service) })
	defer known.Close()
	job.Ledger, job.Dispatch = stoppedLedger{known}, idleTeam{&team{t: t}}
	if err := job.Do(t.Context(), busyPlans(job.Binding, 3)); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("the run ends with %v", err)
	}
}

// lastFirst yields the last plan before the others.
func lastFirst(plans iter.Seq2[mapping.Plan, error]) iter.Seq2[mapping.Plan, error] {
	return func(yield func(mapping.Plan, error) bool) {
		var all []mapping.Plan
		for plan := range plans {
			all = append(all, plan)
		}
		last := len(all) - 1
		for _, plan := range append(all[last:], all[:last]...) {
			if !yield(plan, nil) {
				return
			}
		}
	}
}
