package cli

import "os"

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
