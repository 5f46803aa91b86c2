package importer_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
)

// unreadable is a ledger with earlier steps that takes events, and cannot say whose
// the id of a claim is.
type unreadable struct{ *ledger.Ledger }

var errUnreadable = errors.New("the disk cannot be read")

func (u unreadable) StepWithID(ctx context.Context, e ledger.Event) (ledger.Taken, bool, error) {
	if e.Kind == ledger.KindClaim {
		return ledger.Taken{}, false, errUnreadable
	}
	return u.Ledger.StepWithID(ctx, e)
}

func (u unreadable) Knows(context.Context, string) (bool, error) { return true, nil }

// TestAnswerIsKeptWhenTheLedgerCannotBeRead: the service has created a claim, and
// the ledger cannot be asked whether another step has its id. The run ends, and
// the answer is in the ledger all the same.
func TestAnswerIsKeptWhenTheLedgerCannotBeRead(t *testing.T) {
	t.Parallel()
	job, known, service := newJob(t, func(service http.Handler) http.RoundTripper { return apiclient.InProcess(service) })
	defer known.Close()
	job.Ledger = unreadable{known}
	if err := job.Do(t.Context(), busyPlans(job.Binding, 1)); !errors.Is(err, errUnreadable) {
		t.Errorf("the run ended with %v", err)
	}
	var claim string
	for name, made := range service.Created() {
		if strings.HasPrefix(name, "claim ") {
			claim = made[0].ID
		}
	}
	steps, err := known.Steps(t.Context(), ledger.ClientKey{Environment: "e", Space: "email", Client: "c1@example.com"}, "n")
	if err != nil || claim == "" {
		t.Fatal(err, service.Created())
	}
	for name, step := range steps {
		if step.Kind != ledger.KindClaim {
			continue
		}
		if step.To != ledger.Uncertain || !strings.Contains(string(step.Answer), claim) {
			t.Errorf("the ledger has %s as %s, with the answer %q; the service made %s", name, step.To, step.Answer, claim)
		}
		return
	}
	t.Errorf("the ledger has no claim: %v", steps)
}

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
