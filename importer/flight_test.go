package importer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
	"claimsheet/mapping/cell"
)

// TestThePipeIsFull: while clients wait for their commits, others have as many
// requests in flight as the service may have, look-ups and retries included, and
// never more.
func TestThePipeIsFull(t *testing.T) {
	const clients, answer = 40, 100 * time.Millisecond
	for name, test := range map[string]struct {
		concurrency int
		busy        int64 // every so many requests get a 429; 0 for none
		most        float64
	}{
		"one":     {concurrency: 1},
		"four":    {concurrency: 4, most: 1.25},
		"refused": {concurrency: 4, busy: 11},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var inFlight, peak, all atomic.Int64
				job, known, service := newJob(t, func(service http.Handler) http.RoundTripper {
					return transport(func(req *http.Request) (*http.Response, error) {
						peak.Store(max(peak.Load(), inFlight.Add(1)))
						defer inFlight.Add(-1)
						all.Add(1)
						time.Sleep(answer)
						return apiclient.InProcess(service).RoundTrip(req)
					})
				})
				service.Play(func(apitest.Call) (f apitest.Fault) {
					if test.busy > 0 && all.Load()%test.busy == 0 {
						f = apitest.Busy(429, 1)
					}
					return f
				})
				slow := hooked{known, func([]ledger.Event) error { time.Sleep(answer / 4); return nil }} // a commit takes a while
				job.Concurrency, job.Ledger, job.NewLedger = test.concurrency, slow, true
				start := time.Now()
				must(t, job.Do(t.Context(), busyPlans(job.Binding, clients)))
				if n := len(service.Created()); n != 3*clients {
					t.Errorf("created %d things, want %d", n, 3*clients)
				}
				if peak.Load() != int64(test.concurrency) {
					t.Errorf("%d requests in flight, want %d", peak.Load(), test.concurrency)
				}
				full := time.Duration(all.Load()) * answer / time.Duration(test.concurrency)
				if took := time.Since(start); test.most > 0 && took > time.Duration(test.most*float64(full)) {
					t.Errorf("%d requests took %v, want %v: the pipe was not full", all.Load(), took, full)
				}
			})
		})
	}
}

// TestNothingMoreLeavesForAServiceThatDoesNotAnswer: what waits for its place when
// three answers in a row leave things open is not sent until the service answers
// again, though its intent is in the ledger; then it is.
func TestNothingMoreLeavesForAServiceThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var posts, lost atomic.Int64
		job, _, service := newJob(t, apiclient.InProcess)
		service.Play(func(c apitest.Call) (f apitest.Fault) {
			time.Sleep(time.Second)
			post := c.Method == http.MethodPost
			away := posts.Load() >= 10 && time.Since(start) < 10*time.Minute
			if post && posts.Add(1) > 10 && away {
				lost.Add(1)
			}
			if away && (post || c.Kind == "templates") {
				f = apitest.Answer(apitest.JSON(500, ""))
			}
			return f
		})
		job.NewLedger = true
		const inFlight, inARow = 4, 3
		job.Concurrency = 3 * inFlight // so that many wait
		must(t, job.Do(t.Context(), busyPlans(job.Binding, 20)))
		summary, _, _ := job.Summary()
		// Each answer frees a place for another, until the third has been judged.
		if n, most := int(lost.Load()), 2*inFlight+inARow-1; n < inARow || n > most || summary.Rows.Uncertain > n || summary.Rows.Done < 20-n {
			t.Errorf("%d requests left for a service that did not answer, want %d to %d; rows %+v", n, inARow, most, summary.Rows)
		}
	})
}

// TestLookUpIsRecent: however few requests may leave, however long look-ups take, and however many clients wait, the
// look-up of a client is made just before it is created, and once; also where it is by e-mail address and by phone, and the
// first answer is old when the second one comes.
func TestLookUpIsRecent(t *testing.T) {
	for _, c := range []struct {
		rate   float64
		most   time.Duration // between the look-up by e-mail address and the creation; 0 where phones are asked for too
		lookUp time.Duration
		long   bool
	}{
		{50, 5 * time.Second, 0, false}, {4, 5 * time.Second, 0, true}, {2, 5 * time.Second, 0, true}, {0.5, 5 * time.Second, 0, false}, {0.1, 21 * time.Second, 0, true},
		{0.4, 0, 0, false}, {0, 0, 8 * time.Second, false}, {1, 0, 8 * time.Second, false},
	} {
		if c.long && !*testform.Long {
			continue
		}
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const clients = 30
				var mu sync.Mutex
				looked, lookUps := map[string]time.Time{}, 0
				job, _, service := newJob(t, apiclient.InProcess)
				rows := busyRows(clients)
				if c.most == 0 {
					for i := range rows {
						rows[i] += fmt.Sprintf("|+4479111230%02d", i)
					}
					job.Binding = bind(t, strings.Replace(busyMapping, "lookup: {email: E-mail}", "lookup: {email: E-mail, phone: {column: Phone, format: raw}, mode: both}", 1),
						cell.Sheet{Name: "Leads", HeaderRow: 1, Header: append(busySheet.Header, "Phone")})
				}
				service.Play(func(call apitest.Call) apitest.Fault {
					if call.Kind == "lookup" {
						time.Sleep(c.lookUp)
					}
					mu.Lock()
					defer mu.Unlock()
					if _, address, ok := strings.Cut(call.Path, "/by-email/"); ok && !strings.HasPrefix(address, "nobody") {
						lookUps++
						looked[strings.Replace(address, "%40", "@", 1)] = time.Now()
					}
					if address, ok := strings.CutPrefix(call.Step, "client "); ok && c.most > 0 && time.Since(looked[address]) > c.most {
						t.Errorf("%s was looked up %v before it was created", address, time.Since(looked[address]))
					}
					return apitest.Fault{}
				})
				job.Service, job.Concurrency, job.NewLedger = newClient(t, apiclient.InProcess(service), 8, atRate(c.rate)), 8, true
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				must(t, job.Do(ctx, plansOf(job.Binding, rows...)))
				if n := len(service.Created()); n != 3*clients || c.most > 0 && lookUps != clients {
					t.Errorf("created %d things, want %d, after %d look-ups, want %d", n, 3*clients, lookUps, clients)
				}
			})
		})
	}
}
