package importer_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer"
)

// TestUncertainOnAnEmptyLedger: the ledger knew nothing when the run began. The
// creation of the first client ends in doubt, and the look-up behind it says that
// no other request will fare better: the row says what the ledger says.
func TestUncertainOnAnEmptyLedger(t *testing.T) {
	t.Parallel()
	var posted atomic.Bool
	job, _, _ := newJob(t, func(service http.Handler) http.RoundTripper {
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
	job.LookAgain = []time.Duration{0}
	if err := job.Do(t.Context(), busyPlans(job.Binding, 1)); !errors.Is(err, importer.ErrStopped) {
		t.Errorf("the run ended with %v", err)
	}
	if summary, _, _ := job.Summary(false); summary.Rows.Uncertain != 1 {
		t.Errorf("rows %+v, want one that is uncertain", summary.Rows)
	}
}
