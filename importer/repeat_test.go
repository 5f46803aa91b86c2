package importer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/cell"
)

// repeating is a service whose requests may all be sent again while they are
// uncertain.
type repeating struct{ importer.Service }

func (repeating) Repeatable(apiclient.Kind) bool { return true }

// TestRefusedAfterDoubt: a step may be sent again while it is uncertain. Whatever
// the service says then, the first request may have worked: only a whole answer
// settles the step.
func TestRefusedAfterDoubt(t *testing.T) {
	t.Parallel()
	const mappingText = `
name: n
api: v2
client: {key: No, lookup: {email: E-mail}, fields: {email: E-mail}}
`
	for _, next := range [][]int{{422}, {403}, {404}, {409}, {429, 422}, {421, 400}, {401}, {500, 422}} {
		t.Run(fmt.Sprint(next), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job, known, service := newJob(t, apiclient.InProcess)
				var requests atomic.Int64 // of the kind
				service.Play(func(c apitest.Call) (f apitest.Fault) {
					switch {
					case c.Kind == "lookup":
						return apitest.Answer(service.Nobody)
					case c.Kind != "link":
						return f
					}
					n := int(requests.Add(1))
					if n == 1 {
						return apitest.CreateThen(apitest.JSON(500, ""))
					}
					if status := next[min(n-1, len(next))-1]; status != 429 {
						return apitest.Answer(apitest.JSON(status, ""))
					}
					return apitest.Busy(429, 1)
				})
				job.Binding = bind(t, mappingText, cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "No"}})
				job.Service, job.MaxFailures = repeating{job.Service}, importer.MaxFailures{Percent: 100}
				err := job.Do(t.Context(), plansOf(job.Binding, "c1@example.com|A-1", "c2@example.com|A-2"))
				if stops := slices.Contains(next, 401); (err != nil) != stops {
					t.Fatal(err)
				}
				steps, err := known.Steps(t.Context(), ledger.ClientKey{Environment: "e", Space: "n", Client: "A-1"}, "n")
				must(t, err)
				if got := steps["link"]; got.State != ledger.Uncertain {
					t.Errorf("the ledger has it as %q: %s", got.State, got.Reason)
				}
				summary, _, _ := job.Summary()
				if summary.Rows.Uncertain != 1 {
					t.Errorf("rows %+v, want one that is uncertain", summary.Rows)
				}
			})
		})
	}
}

// TestSlotIsGivenBack: a client whose run breaks off between its place in the
// queue and its request leaves the queue, also when it panics.
func TestSlotIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("the disk cannot be read") },
		"panic": func() error { panic("planned") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var transport http.RoundTripper
				job, known, _ := newJob(t, func(service http.Handler) http.RoundTripper {
					transport = apiclient.InProcess(service)
					return transport
				})
				client := newClient(t, transport, 4, atRate(100))
				var failed atomic.Bool
				job.Service, job.Ledger = client, hooked{known, func(events []ledger.Event) error { // at the first intent of a claim
					claim := func(e ledger.Event) bool { return e.Kind == ledger.KindClaim && e.State == ledger.Sent }
					if slices.ContainsFunc(events, claim) && !failed.Swap(true) {
						return fail()
					}
					return nil
				}}
				if err := job.Do(t.Context(), busyPlans(job.Binding, 8)); err == nil {
					t.Error("the run ended well")
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				slot, err := client.Reserve(ctx)
				if err != nil {
					t.Fatalf("the queue still waits for a client that gave up: %v", err)
				}
				slot.Release()
			})
		})
	}
}

// TestClientInDoubtAfterAPause: a client whose creation is in doubt was looked up and not found, and the service asks to
// wait when it is to be sent again. It is looked up once more after the pause: where that has no answer, it is not sent;
// where it finds nobody, it is sent, and not as what the environment allows to be repeated.
func TestClientInDoubtAfterAPause(t *testing.T) {
	t.Parallel()
	for _, answered := range []bool{true, false} {
		t.Run(fmt.Sprint("answered ", answered), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var posts atomic.Int64
				job, known, service := newJob(t, apiclient.InProcess)
				service.Play(func(c apitest.Call) apitest.Fault {
					switch {
					case c.Kind == "client" && posts.Add(1) == 1, c.Kind == "lookup" && posts.Load() == 2 && !answered:
						return apitest.Answer(apitest.JSON(500, ""))
					case c.Kind == "client" && posts.Load() == 2:
						return apitest.Busy(429, 6)
					case c.Kind == "lookup":
						return apitest.Answer(service.Nobody)
					}
					return apitest.Fault{}
				})
				job.Concurrency, job.MaxFailures = 1, importer.MaxFailures{Percent: 100}
				for _, id := range []string{"in doubt", "not found", "sent again"} {
					again := laterJob(t, job, known, id)
					again.NewLedger = true
					must(t, again.Do(t.Context(), busyPlans(job.Binding, 1)))
					time.Sleep(20 * time.Minute)
				}
				owner := ledger.ClientKey{Environment: "e", Space: "email", Client: "c1@example.com"}
				events, err := known.Events(t.Context(), ledger.StepID{ClientKey: owner, Step: "client"})
				must(t, err)
				sent, last := int64(0), events[len(events)-1]
				for _, e := range events {
					if e.Via == ledger.ViaRepeatable {
						t.Errorf("it was sent as what may be repeated: %+v", events)
					}
					if e.State == ledger.Sent {
						sent++
					}
				}
				want, posted := ledger.Done, int64(3)
				if !answered {
					want, posted = ledger.Uncertain, 2
				}
				if last.State != want || posts.Load() != posted || sent != posted {
					t.Errorf("%d requests, %d intents; the ledger has it as %s: %s", posts.Load(), sent, last.State, last.Reason)
				}
			})
		})
	}
}

// TestUncertainOnAnEmptyLedger: the ledger knew nothing when the run began. The
// creation of the first client ends in doubt, and the look-up behind it says that
// no other request will fare better: the row says what the ledger says.
func TestUncertainOnAnEmptyLedger(t *testing.T) {
	t.Parallel()
	var posted atomic.Bool
	job, _, service := newJob(t, apiclient.InProcess)
	service.Play(func(c apitest.Call) (f apitest.Fault) {
		switch {
		case c.Method == http.MethodPost:
			posted.Store(true)
			return apitest.CreateThen(apitest.JSON(500, ""))
		case posted.Load():
			return apitest.Answer(apitest.JSON(401, ""))
		}
		return f
	})
	job.LookAgain = []time.Duration{0}
	if err := job.Do(t.Context(), busyPlans(job.Binding, 1)); !errors.Is(err, importer.ErrStopped) {
		t.Errorf("the run ended with %v", err)
	}
	if summary, _, _ := job.Summary(); summary.Rows.Uncertain != 1 {
		t.Errorf("rows %+v, want one that is uncertain", summary.Rows)
	}
}

// TestNotFoundIsRepeatedForWhatTheRequestNames: a 404 is asked for again only where the request has the id of something new. The request
// that creates a client has no id, so it is sent once, also when the client's contact is new.
func TestNotFoundIsRepeatedForWhatTheRequestNames(t *testing.T) {
	run := sheetRun{contactMapping, contactSheet, contactEvents("sent", "done, answer"), []string{"a@x.example|p@x.example|1|", "b@x.example|p@x.example|2|"},
		func(job *importer.Job, s *apitest.Server) *strings.Replacer {
			job.Concurrency, job.MaxFailures = 1, importer.MaxFailures{Percent: 100}
			s.Play(func(c apitest.Call) (f apitest.Fault) {
				if c.Kind == "client" && strings.Contains(c.Body, "b@x.example") {
					return apitest.Answer(apitest.JSON(404, "{}"))
				}
				return f
			})
			return nil
		}}
	_, _, service, _ := run.by(t, "run")
	if n := askedFor(service, "b@x.example"); n != 1 {
		t.Errorf("the client was asked for %d times", n)
	}
}
