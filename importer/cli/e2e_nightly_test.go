package cli_test

import (
	"context"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// TestMetricsOfASignal holds that metrics are written when a signal ends a run.
func TestMetricsOfASignal(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(5))
	ctx, cancel := context.WithCancel(t.Context())
	s.service.Play(func(call apitest.Call) apitest.Fault {
		if call.Kind == "claim" {
			cancel()
		}
		return apitest.Fault{}
	})
	p := s.runContext(ctx, "--metrics", s.path("m.prom"))
	if p.code != 130 {
		t.Fatalf("exit code %d\n%s", p.code, p.err)
	}
	if m := readText(t, s.path("m.prom")); !strings.Contains(m, "exit_code{environment=\"uat\",mapping=\"step-three\"} 130\n") {
		t.Errorf("the metrics are\n%s", m)
	}
}
