package cli

import (
	"strings"
	"time"
)

// pace is how long a run waits before it asks the service again, and from which age it
// relies on an answer. Tests pass shorter times.
type pace struct {
	LookAgain  []time.Duration  // before each look-up of a client whose creation is uncertain, in the same run
	AskAgain   time.Duration    // before a GET that failed is sent again for the first time; 0 for the engine's
	Believable time.Duration    // age of an uncertain creation from which a look-up that finds nobody is believed; 0 for the engine's
	Now        func() time.Time // clock that gives look-ups their age; nil for the wall clock
}

// lookAgain and askAgain are the usual waits. A build can shorten them (-ldflags -X).
var lookAgain, askAgain = "0s 5s 30s", "250ms"

func usualPace() pace {
	p := pace{AskAgain: duration(askAgain)}
	for _, word := range strings.Fields(lookAgain) {
		p.LookAgain = append(p.LookAgain, duration(word))
	}
	return p
}

// duration parses text; 0 when it is not a duration.
func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}
