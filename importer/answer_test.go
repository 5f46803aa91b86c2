package importer_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/stoprule"
)

// TestUncertainOnAnEmptyLedger: the ledger knew nothing when the run began. The
// creation of the first client ends in doubt, and the look-up behind it says that
// no other request will fare better: the row says what the ledger says.
func TestUncertainOnAnEmptyLedger(t *testing.T) {
	t.Parallel()
	var posted atomic.Bool
	job, known, _ := newJob(t, func(service http.Handler) http.RoundTripper {
		return apiclient.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost:
				service.ServeHTTP(httptest.NewRecorder(), r)
				posted.Store(true)
				w.WriteHeader(http.StatusInternalServerError)
			case posted.Load():
				w.WriteHeader(http.StatusUnauthorized)
			default:
				service.ServeHTTP(w, r)
			}
		}))
	})
	defer known.Close()
	job.LookAgain = []time.Duration{0}
	if err := job.Do(t.Context(), busyPlans(job.Binding, 1)); !errors.Is(err, importer.ErrStopped) {
		t.Errorf("the run ended with %v", err)
	}
	if summary, _, _ := job.Summary(false); summary.Rows.Uncertain != 1 {
		t.Errorf("rows %+v, want one that is uncertain", summary.Rows)
	}
}

// TestAnEarlierAnswerIsReadAgain: the service answers a request for a link with a url
// that wire.redirect_url does not find, and fails when the request is sent again. After
// the place is corrected, the url is taken from the first answer.
func TestAnEarlierAnswerIsReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var transport http.RoundTripper
		links := 0
		job, known, _ := newJob(t, func(service http.Handler) http.RoundTripper {
			transport = apiclient.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "magic-link") {
					if links++; links > 1 {
						w.WriteHeader(http.StatusInternalServerError)
						return
					}
				}
				service.ServeHTTP(w, r)
			}))
			return transport
		})
		defer known.Close()
		wire := apiclient.DefaultWire()
		wire.RedirectURL = "/elsewhere"
		at := func(wire apiclient.Wire) importer.Service {
			client, err := apiclient.New(apiclient.Config{BaseURL: "http://localhost", Version: apiclient.V2, Wire: wire,
				NotFound: apiclient.DefaultNotFound(), Transport: transport, Repeatable: []apiclient.Kind{apiclient.CreateLink}})
			if err != nil {
				t.Fatal(err)
			}
			return client
		}
		link := func() ledger.Step {
			steps, err := known.Steps(t.Context(), ledger.ClientKey{Environment: "e", Space: "email", Client: "c1@example.com"}, "n")
			if err != nil {
				t.Fatal(err)
			}
			return steps["link"]
		}
		job.Service = at(wire)
		if err := job.Do(t.Context(), busyPlans(job.Binding, 1)); err != nil {
			t.Fatal(err)
		}
		if got := link(); got.To != ledger.Uncertain || links < 2 || got.Status != http.StatusInternalServerError {
			t.Fatalf("after %d requests the link is %q with HTTP %d", links, got.To, got.Status)
		}
		sent := links
		for range 2 { // also when it has been taken
			again := &importer.Job{Runs: job.Runs, Environment: "e", Binding: job.Binding, Service: at(apiclient.DefaultWire()), Ledger: known,
				Drafts: newDrafts(t), MaxFailures: stoprule.Default}
			if err := again.Do(t.Context(), busyPlans(job.Binding, 1)); err != nil {
				t.Fatal(err)
			}
			if got := link(); got.To != ledger.Done || got.URL == "" || got.Status/100 != 2 || links != sent {
				t.Errorf("the link is %q with HTTP %d and the url %q, after %d more requests", got.To, got.Status, got.URL, links-sent)
			}
		}
	})
}
