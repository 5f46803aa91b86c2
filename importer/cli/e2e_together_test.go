package cli_test

import (
	"fmt"
	"sync"
	"testing"
)

// TestFirstRunsTogether: of two runs that begin with nothing at the same time,
// one of which gives up and removes what it made, the other one goes on or finds
// the ledger held; the folders are no reason to refuse it.
func TestFirstRunsTogether(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	for i := range 60 {
		state := s.path(fmt.Sprintf("above%d/state", i))
		var both sync.WaitGroup
		codes, said := [2]int{}, [2]string{}
		for n, flags := range [][]string{{"--min-rows", "99"}, {"--min-rows", "98"}} {
			both.Go(func() {
				args := append([]string{"run", "-m", s.path("mapping.yaml"), "--state", state, "-o", s.path(fmt.Sprintf("%d-%d.xlsx", i, n))}, flags...)
				_, said[n], codes[n] = printed(t, append(args, s.path("leads.xlsx"))...)
			})
		}
		both.Wait()
		for n, code := range codes {
			if code != 3 && code != 5 {
				t.Fatalf("pair %d: exit code %d\n%s", i, code, said[n])
			}
		}
	}
}
