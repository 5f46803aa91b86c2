package importer_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
)

// meanwhile is a ledger with which another process works as soon as a mapping's
// definition was looked for.
type meanwhile struct {
	*ledger.Ledger
	work func()
}

func (m meanwhile) Definitions(ctx context.Context, environment string) (map[string]string, error) {
	definitions, err := m.Ledger.Definitions(ctx, environment)
	m.work()
	return definitions, err
}

// TestFirstRunBesideAnother: a mapping that another process runs for the first time in the
// same moment is not taken for one that was renamed.
func TestFirstRunBesideAnother(t *testing.T) {
	job, known, _ := newJob(t, apiclient.InProcess)
	name := job.Binding.Mapping().Name.Text
	work := sync.OnceFunc(func() {
		must(t, known.ChangeDefinition("e", name, job.Binding.Definition))
		must(t, job.Do(t.Context(), busyPlans(job.Binding, 1)))
	})
	beside := &importer.Job{Runs: job.Runs, Environment: "e", Binding: job.Binding, Ledger: meanwhile{known, work}}
	if err := beside.CheckIdentity(t.Context(), busyPlans(job.Binding, 1)); err != nil {
		t.Errorf("refused: %v", err)
	}
}

// trustedMeanwhile is a ledger that another process has seen to be new as soon as this one
// has asked.
type trustedMeanwhile struct{ *ledger.Ledger }

func (m trustedMeanwhile) Trusted(ctx context.Context, environment string) (bool, error) {
	trusted, err := m.Ledger.Trusted(ctx, environment)
	return trusted, errors.Join(err, m.Trust(environment))
}

// TestNewLedgerBesideAnother: a ledger with which another process creates clients in the
// same moment is not taken for one that was lost.
func TestNewLedgerBesideAnother(t *testing.T) {
	for beside, lost := range map[bool]bool{false: true, true: false} {
		job, known, service := newJob(t, apiclient.InProcess)
		for n := range 10 {
			email := fmt.Sprintf("c%d@example.com", n+1)
			service.AddClient(email, email, "")
		}
		if beside {
			job.Ledger = trustedMeanwhile{known}
		}
		if err := job.Do(t.Context(), busyPlans(job.Binding, 10)); errors.Is(err, importer.ErrLostLedger) != lost {
			t.Errorf("beside another process %v: %v", beside, err)
		}
	}
}
