package importer_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
)

// unreadable is a ledger that takes events, and cannot say whose the id of a claim
// is.
type unreadable struct{ *ledger.Ledger }

var errUnreadable = errors.New("the disk cannot be read")

func (u unreadable) StepWithID(ctx context.Context, e ledger.Event) (ledger.Taken, bool, error) {
	if e.Kind == ledger.KindClaim {
		return ledger.Taken{}, false, errUnreadable
	}
	return u.Ledger.StepWithID(ctx, e)
}

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
