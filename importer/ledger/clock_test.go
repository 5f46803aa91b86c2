package ledger_test

import (
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// TestAge: a clock that was set back never makes a step look old.
func TestAge(t *testing.T) {
	t.Parallel()
	s := ledger.Step{Event: ledger.Event{At: noon}}
	for now, want := range map[time.Time]time.Duration{
		noon:                       0,
		noon.Add(11 * time.Minute): 11 * time.Minute,
		noon.Add(-time.Hour):       0,
		noon.Add(-24 * time.Hour):  0,
		time.Unix(0, 0):            0,
	} {
		if got := s.Age(now); got != want {
			t.Errorf("at %s the step is %s old, want %s", now, got, want)
		}
	}
}
