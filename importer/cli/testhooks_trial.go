//go:build trial

package cli

import (
	"os"
	"strings"
	"time"
)

// A build with the tag trial, for trials from outside, takes its waits from the environment. Without these
// variables it does what the program does:
//
//	TRIAL_BELIEVE=DURATION    the age from which a look-up that finds no client is believed
//	TRIAL_LOOK_AGAIN=LIST     the waits before each look-up after a doubt, such as "0s 20ms"
//	TRIAL_ASK_AGAIN=DURATION  the wait before a GET that failed is sent again
//	TRIAL_LEASE=DURATION      how long a session may be silent that holds what others wait for
func init() {
	if words := strings.Fields(os.Getenv("TRIAL_LOOK_AGAIN")); len(words) > 0 {
		usualPace.LookAgain = nil
		for _, word := range words {
			usualPace.LookAgain = append(usualPace.LookAgain, parseWait(word))
		}
	}
	for name, wait := range map[string]*time.Duration{"TRIAL_BELIEVE": &usualPace.Believable, "TRIAL_ASK_AGAIN": &usualPace.AskAgain,
		"TRIAL_LEASE": &hooks.silence} {
		if word := os.Getenv(name); word != "" {
			*wait = parseWait(word)
		}
	}
}

// parseWait parses a duration, which must be one.
func parseWait(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}
