package cli_test

import (
	"context"
	"testing"

	"claimsheet/apiclient/apitest"
)

// TestSignal ends a run by its context: what is in flight is finished and
// recorded, and the next run goes on from there.
func TestSignal(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(12))
	ctx, cancel := context.WithCancel(t.Context())
	s.service.Play(apitest.Once(onStep("claim c5@example.com/Loan A-5"), apitest.Fault{Then: cancel}))
	if p := s.runContext(ctx, "--concurrency", "4", "--json"); p.code != 130 || p.summary.Rows.Uncertain > 0 || p.summary.Rows.NotStarted == 0 {
		t.Errorf("exit code %d, rows %+v", p.code, p.summary.Rows)
	}
	s.checkPromise()
	if p := s.mustRun(0); p.summary.Rows.Done+p.summary.Rows.Unchanged != 12 {
		t.Errorf("rows %+v", p.summary.Rows)
	}
	s.checkPromise()
}
