package importer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/spool"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var (
	must = testform.NoError
	bind = importer.Bind
)

const busyMapping = `
name: n
api: v2
client: {key: E-mail, lookup: {email: E-mail}, fields: {email: E-mail}}
claims: [{key: Claim, name: "Loan {Claim}"}]
`

var busySheet = cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "Claim"}}

// busyRun carries out the plans of some clients by the bubble's clock. busy says
// whether the service asks a request that arrives at that time to come back in
// a second.
func busyRun(t *testing.T, clients int, busy func(kind string, at time.Duration) bool) (service *apitest.Server, summary result.Summary, took time.Duration) {
	t.Helper()
	start := time.Now()
	var mu sync.Mutex
	job, _, service := newJob(t, apiclient.InProcess)
	service.Play(func(c apitest.Call) (f apitest.Fault) {
		mu.Lock()
		defer mu.Unlock()
		if busy(c.Method, time.Since(start)) {
			f = apitest.Busy(429, 1)
		}
		return f
	})
	summary = summaryOf(t, job, clients)
	return service, summary, time.Since(start)
}

// summaryOf carries out the plans of some clients.
func summaryOf(t *testing.T, job *importer.Job, clients int) result.Summary {
	t.Helper()
	if err := job.Do(t.Context(), busyPlans(job.Binding, clients)); err != nil {
		t.Errorf("the run stopped: %v", err)
	}
	summary, _, _ := job.Summary()
	return summary
}

// transport is a function that is an http.RoundTripper.
type transport func(req *http.Request) (*http.Response, error)

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) { return t(req) }

// hooked is a ledger in which something happens before events are recorded. An error is what Append returns.
type hooked struct {
	importer.Ledger
	before func(events []ledger.Event) error
}

func (h hooked) Append(events ...ledger.Event) error {
	if err := h.before(events); err != nil {
		return err
	}
	return h.Ledger.Append(events...)
}

// newJob is a run with a ledger of its own, and four requests in flight at a service that is reached by a
// transport.
func newJob(t *testing.T, transport func(service http.Handler) http.RoundTripper) (*importer.Job, *ledger.Ledger, *apitest.Server) {
	t.Helper()
	known, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	must(t, err)
	t.Cleanup(func() { _ = known.Close() })
	service := apitest.New()
	job := &importer.Job{Environment: "e", Binding: bind(t, busyMapping, busySheet), Service: newClient(t, transport(service), 4), Ledger: known,
		Concurrency: 4, MaxFailures: importer.DefaultMaxFailures}
	return laterJob(t, job, known, "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"), known, service
}

// laterJob is another run with the settings of a job, with drafts of its own.
func laterJob(t *testing.T, job *importer.Job, known *ledger.Ledger, run string) *importer.Job {
	t.Helper()
	must(t, known.StartRun(ledger.Run{ID: run, Environment: job.Environment, Mapping: "n", Started: time.Now()}))
	return &importer.Job{Runs: []string{run}, Environment: job.Environment, Binding: job.Binding, Service: job.Service, Ledger: known,
		Drafts: newDrafts(t), Concurrency: job.Concurrency, MaxFailures: job.MaxFailures}
}

// newClient makes a client of a service that has so many requests in flight; changes are those of its configuration.
func newClient(t *testing.T, transport http.RoundTripper, concurrency int, changes ...func(*apiclient.Config)) *apiclient.Client {
	t.Helper()
	config := apiclient.Config{BaseURL: "http://localhost", Version: apiclient.V2, Wire: apiclient.DefaultWire(),
		NotFound: apiclient.DefaultNotFound(), Transport: transport, Concurrency: concurrency}
	for _, change := range changes {
		change(&config)
	}
	client, err := apiclient.New(config)
	must(t, err)
	return client
}

// atRate has a client send so many requests a second at most, unless that is 0.
func atRate(perSecond float64) func(*apiclient.Config) {
	return func(c *apiclient.Config) { c.RequestsPerSecond = perSecond }
}

// madeOnce expects that the service has created nothing twice.
func madeOnce(t *testing.T, service *apitest.Server) {
	t.Helper()
	for step, made := range service.Created() {
		if len(made) != 1 {
			t.Errorf("%s was created %d times", step, len(made))
		}
	}
}

// rowsOf are the rows that a job has written, in the order of the sheet.
func rowsOf(t *testing.T, job *importer.Job) (rows []result.Row) {
	t.Helper()
	for row, err := range job.Drafts[0].Rows() {
		must(t, err)
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b result.Row) int { return a.Row - b.Row })
	return rows
}

// newDrafts returns the drafts of a run of one sheet.
func newDrafts(t *testing.T) []*spool.Results {
	t.Helper()
	drafts, err := spool.NewResults(t.TempDir())
	must(t, err)
	t.Cleanup(func() { _ = drafts.Close() })
	return []*spool.Results{drafts}
}

// busyPlans are those of so many clients of the sheet busySheet.
func busyPlans(b *mapping.Binding, clients int) iter.Seq2[mapping.Plan, error] {
	return plansOf(b, busyRows(clients)...)
}

func busyRows(clients int) (rows []string) {
	for n := range clients {
		rows = append(rows, fmt.Sprintf("c%d@example.com|A", n+1))
	}
	return rows
}

// plansOf are those of clients with a row each.
func plansOf(b *mapping.Binding, rows ...string) iter.Seq2[mapping.Plan, error] {
	return func(yield func(mapping.Plan, error) bool) {
		for i, r := range recordsOf(rows...) {
			if !yield(b.Plan(i+1, []mapping.ConvertedRow{b.Convert(r)}), nil) {
				return
			}
		}
	}
}

// recordsOf are rows of texts with | between the cells; the header is in row 1.
func recordsOf(rows ...string) (records []cell.Record) {
	for i, row := range rows {
		cells := strings.Split(row, "|")
		for k := range cells {
			cells[k] = strings.TrimSpace(cells[k])
		}
		records = append(records, cell.Record{Row: i + 2, Cells: textCells(cells...)})
	}
	return records
}

// A service that takes one request a second gets its clients all the same: the
// look-up takes one place, and the creation waits for its own. Waits are random, so the
// middle one of several runs is held to the bound.
func TestAQuotaOfOneRequestASecond(t *testing.T) {
	for _, quota := range []time.Duration{time.Second, 5 * time.Second} {
		var requests []int
		var times []time.Duration
		for range 3 {
			synctest.Test(t, func(t *testing.T) {
				var taken time.Duration
				asked := 0
				service, summary, took := busyRun(t, 6, func(_ string, at time.Duration) bool {
					if asked++; asked > 1 && at < taken+quota {
						return true
					}
					taken = at
					return false
				})
				if summary.Rows.Done != 6 || len(service.Created()) != 18 {
					t.Errorf("rows %+v, created %d things", summary.Rows, len(service.Created()))
				}
				requests, times = append(requests, asked), append(times, took)
			})
		}
		slices.Sort(requests)
		slices.Sort(times)
		t.Logf("quota of one in %v: %v requests for 25 that were needed, in %v", quota, requests, times)
		if requests[1] > 75 || times[1] > 75*quota {
			t.Errorf("%v requests, in %v", requests, times)
		}
	}
}

// A service that only asks for time, for minutes, makes no row fail: waiting is
// no attempt, and only what is really waited for counts.
func TestMinutesOfBeingAskedToWait(t *testing.T) {
	for name, kind := range map[string]string{"everything": "", "what creates": http.MethodPost, "look-ups": http.MethodGet} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, summary, took := busyRun(t, 6, func(method string, at time.Duration) bool {
					return at < 10*time.Minute && (kind == "" || kind == method)
				})
				if summary.Rows.Done != 6 || len(service.Created()) != 18 {
					t.Errorf("rows %+v, created %d things", summary.Rows, len(service.Created()))
				}
				if took > 13*time.Minute {
					t.Errorf("the run took %v", took)
				}
			})
		})
	}
}

// Only a request that reached the service shows whether mapping and environment
// are right for all: where the first client's never left this machine, the next
// client goes first, alone.
func TestAClientWhoWasNotReachedProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away, posts := 5, []string(nil) // how many POSTs are left for which there is no connection; the paths of the others
		var mu sync.Mutex
		job, _, _ := newJob(t, func(service http.Handler) http.RoundTripper {
			return transport(func(req *http.Request) (*http.Response, error) {
				if req.Method == http.MethodPost {
					mu.Lock()
					if away--; away >= 0 {
						mu.Unlock()
						return nil, &apiclient.Failure{NotSent: true, Retry: apiclient.Now, Reason: "no connection"}
					}
					posts = append(posts, req.URL.Path)
					mu.Unlock()
					time.Sleep(time.Second)
				}
				return apiclient.InProcess(service).RoundTrip(req)
			})
		})
		summary := summaryOf(t, job, 8)
		if summary.Rows.Done != 7 || summary.Rows.Failed != 1 {
			t.Errorf("rows %+v", summary.Rows)
		}
		if len(posts) < 4 || !strings.HasSuffix(posts[1], "/claims") || !strings.HasSuffix(posts[2], "/magic-link") {
			t.Errorf("the first client that was reached was not alone: %q", posts[:min(len(posts), 6)])
		}
	})
}

// failingLimiter keeps the pace of several processes. It fails once, when another process was told to wait.
type failingLimiter struct {
	mu    sync.Mutex
	state []byte
	fails bool
}

func (l *failingLimiter) Change(_ context.Context, change func([]byte, time.Time) []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails {
		l.fails = false
		l.state, _ = json.Marshal(map[string]any{"PausedUntil": time.Now().Add(2 * time.Minute), "PauseReason": "busy"})
		return errors.New("the connection was reset")
	}
	if s := change(l.state, time.Now()); s != nil {
		l.state = s
	}
	return nil
}

// TestLimiterFailsBehindALookUp: a request whose slot could not be had does not leave after a pause, on the look-up from before it.
func TestLimiterFailsBehindALookUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job, _, service := newJob(t, apiclient.InProcess)
		limiter := &failingLimiter{}
		job.Service = newClient(t, apiclient.InProcess(service), 4, func(c *apiclient.Config) { c.Limiter = limiter })
		job.NewLedger, job.Binding = true, bind(t, contactMapping, contactSheet)
		lookUps := 0
		service.Play(func(c apitest.Call) (f apitest.Fault) {
			if c.Kind == "lookup" {
				lookUps++
				time.Sleep(300 * time.Millisecond) // the state is old when the look-up is answered
				limiter.mu.Lock()
				limiter.fails = lookUps == 2
				limiter.mu.Unlock()
			}
			return f
		})
		_ = job.Do(t.Context(), plansOf(job.Binding, "a@x.example||1|"))
		if status := rowsOf(t, job)[0].Status; len(service.Created()) > 0 || status != result.NotStarted {
			t.Errorf("created %v, the row is %s", service.Created(), status)
		}
	})
}
