package cli_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestManyWorkers runs 200 clients on 32 workers: each client's calls come in
// order, one after the other, and the first client is finished before anything
// is created for another.
func TestManyWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(200))
	p := s.mustRun(0, "--concurrency", "32")
	last, want := map[string]apitest.Call{}, []string{"client", "activity", "claim", "activity", "activity", "link"}
	kinds := map[string][]string{}
	first := ""
	for _, c := range p.calls {
		if c.Method == "GET" {
			continue
		}
		if first == "" {
			first = c.Client
		}
		if c.Client != first && (len(kinds[first]) < len(want) || c.Arrived < last[first].Ended) {
			t.Fatalf("%s of %s came before the first client was finished", c.Kind, c.Client)
		}
		if c.Arrived < last[c.Client].Ended {
			t.Errorf("%s of %s came before the %s was answered", c.Kind, c.Client, last[c.Client].Kind)
		}
		last[c.Client] = c
		kinds[c.Client] = append(kinds[c.Client], c.Kind)
	}
	if len(kinds) != 200 {
		t.Errorf("%d clients were created, want 200", len(kinds))
	}
	for who, got := range kinds {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", who, diff)
		}
	}
	s.checkPromise()
}
