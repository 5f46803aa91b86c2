package cli

import (
	"os"
	"time"
)

func init() {
	lookAgain, askAgain = "0s 10ms 10ms", "20ms"
	believeAfter = os.Getenv("TRIAL_BELIEVE")
}

// BelieveAfter sets how old an ambiguous attempt at a client must be before a
// look-up that finds nobody is believed, for all runs inside this process, and
// returns what sets it back.
func BelieveAfter(age string) (back func()) {
	before := believeAfter
	believeAfter = age
	return func() { believeAfter = before }
}

// LookupClock sets the clock by which the age of look-ups is told, for all runs
// inside this process, and returns what sets it back.
func LookupClock(now func() time.Time) (back func()) {
	before := lookupClock
	lookupClock = now
	return func() { lookupClock = before }
}
