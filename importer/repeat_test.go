package importer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// repeating is a service whose requests may all be sent again while they are
// uncertain.
type repeating struct{ importer.Service }

func (repeating) Repeatable(apiclient.Kind) bool { return true }

// doubtful is a service that creates what the first POST of some kind asks for,
// answers it with 500, and the next POSTs of that kind with other statuses, in
// order. Look-ups find nobody.
type doubtful struct {
	service, nobody http.Handler
	kind            string // what the path ends with
	next            []int

	mu    sync.Mutex
	posts int // of the kind
}

func (d *doubtful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case r.Method == http.MethodGet:
		d.nobody.ServeHTTP(w, r)
	case !strings.HasSuffix(r.URL.Path, d.kind):
		d.service.ServeHTTP(w, r)
	case d.posts == 0:
		d.posts++
		d.service.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusInternalServerError)
	default:
		status := d.next[min(d.posts, len(d.next))-1]
		d.posts++
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(status)
	}
}

// TestRefusedAfterDoubt: a step may be sent again while it is uncertain. Whatever
// the service says then, the first request may have worked: only a whole answer
// settles the step, and the address of a client stays that client's.
func TestRefusedAfterDoubt(t *testing.T) {
	t.Parallel()
	const mappingText = `
name: n
api: v2
client: {key: No, lookup: {email: E-mail}, fields: {email: E-mail}}
`
	for _, kind := range []string{"contacts", "magic-link"} {
		for _, next := range [][]int{{422}, {403}, {404}, {409}, {429, 422}, {421, 400}, {401}, {500, 422}} {
			if !*testform.Long && len(next) == 1 && next[0] != 422 {
				continue
			}
			t.Run(fmt.Sprint(kind, next), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var service *doubtful
					job, known, _ := newJob(t, func(all http.Handler) http.RoundTripper {
						service = &doubtful{service: all, nobody: apitest.New(), kind: kind, next: next}
						return apiclient.InProcess(service)
					})
					job.Binding = bind(t, mappingText, cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "No"}})
					job.Service, job.MaxFailures = repeating{job.Service}, importer.MaxFailures{Percent: 100}
					email := func(n int) string { return fmt.Sprintf("c%d@example.com", n) }
					if kind == "contacts" { // both clients have one address
						email = func(int) string { return "c@example.com" }
					}
					err := job.Do(t.Context(), func(yield func(mapping.Plan, error) bool) {
						for n := 1; n <= 2; n++ {
							lead := job.Binding.Convert(cell.Record{Row: n + 1, Cells: textCells(email(n), fmt.Sprintf("A-%d", n))})
							if !yield(job.Binding.Plan(n, []mapping.ConvertedRow{lead}), nil) {
								return
							}
						}
					})
					if stops := slices.Contains(next, 401); (err != nil) != stops {
						t.Fatal(err)
					}
					step := map[string]string{"contacts": "client", "magic-link": "link"}[kind]
					steps, err := known.Steps(t.Context(), ledger.ClientKey{Environment: "e", Space: "n", Client: "A-1"}, "n")
					if err != nil {
						t.Fatal(err)
					}
					if got := steps[step]; got.To != ledger.Uncertain {
						t.Errorf("the ledger has it as %q: %s", got.To, got.Reason)
					}
					summary, _, _ := job.Summary(false)
					if summary.Rows.Uncertain != 1 {
						t.Errorf("rows %+v, want one that is uncertain", summary.Rows)
					}
					other, err := known.Steps(t.Context(), ledger.ClientKey{Environment: "e", Space: "n", Client: "A-2"}, "n")
					if err != nil || kind == "contacts" && other["client"].Attempts > 0 {
						t.Errorf("a client was asked for with an address that is in doubt: %+v %v", other["client"], err)
					}
				})
			})
		}
	}
}

// failing is a ledger that fails in some way when the first intent of a claim is
// recorded.
type failing struct {
	importer.Ledger
	fail   func() error
	failed *atomic.Bool
}

func (f failing) Append(events ...ledger.Event) error {
	for _, e := range events {
		if e.Kind == ledger.KindClaim && e.To == ledger.Sent && !f.failed.Swap(true) {
			return f.fail()
		}
	}
	return f.Ledger.Append(events...)
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
				client := newClient(t, transport, 4, 100)
				job.Service, job.Ledger = client, failing{known, fail, new(atomic.Bool)}
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
				nobody := apitest.New()
				job, known, _ := newJob(t, func(service http.Handler) http.RoundTripper {
					return apiclient.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						isClient := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "contacts")
						switch {
						case isClient && posts.Add(1) == 1:
							w.WriteHeader(http.StatusInternalServerError)
						case isClient && posts.Load() == 2:
							w.Header().Set("Retry-After", "6")
							w.WriteHeader(http.StatusTooManyRequests)
						case r.Method == http.MethodGet && posts.Load() == 2 && !answered && strings.Contains(r.URL.Path, "by-"):
							w.WriteHeader(http.StatusInternalServerError)
						case r.Method == http.MethodGet:
							nobody.ServeHTTP(w, r)
						default:
							service.ServeHTTP(w, r)
						}
					}))
				})
				job.Concurrency, job.MaxFailures = 1, importer.MaxFailures{Percent: 100}
				for _, id := range []string{"in doubt", "not found", "sent again"} {
					again := laterJob(t, job, known, id)
					again.NewLedger = true
					if err := again.Do(t.Context(), busyPlans(job.Binding, 1)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(20 * time.Minute)
				}
				var owner ledger.ClientKey
				for plan := range busyPlans(job.Binding, 1) {
					owner = ledger.ClientKey{Environment: "e", Space: plan.Client.Space, Client: plan.Client.Key}
				}
				events, err := known.Events(t.Context(), ledger.StepID{ClientKey: owner, Step: "client"})
				if err != nil {
					t.Fatal(err)
				}
				sent, last := int64(0), events[len(events)-1]
				for _, e := range events {
					if e.Via == ledger.ViaRepeatable {
						t.Errorf("it was sent as what may be repeated: %+v", events)
					}
					if e.To == ledger.Sent {
						sent++
					}
				}
				want, posted := ledger.Done, int64(3)
				if !answered {
					want, posted = ledger.Uncertain, 2
				}
				if last.To != want || posts.Load() != posted || sent != posted {
					t.Errorf("%d requests, %d intents; the ledger has it as %s: %s", posts.Load(), sent, last.To, last.Reason)
				}
			})
		})
	}
}
