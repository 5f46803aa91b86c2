// Package trial puts itself between the engine of a run and its ledger, its
// service and its network, so that tests can kill the program at a place
// and pause it. It is in the tests' programs and in builds with the tag trial
// (go build -tags trial), for trials from outside; the program that users have contains
// nothing of it.
//
// Environment variables choose what it does; without them the program does what it
// always does:
//
//	TRIAL_KILL=PLACE STEP   kill the process at a place of a step, such as
//	                        "after-intent c1@example.com:client"; with one worker
//	TRIAL_PAUSE=PLACE STEP  stop there until SIGCONT comes; with one worker
//	TRIAL_BELIEVE=DURATION  the age from which a look-up that finds nobody is believed
//	TRIAL_LOOK_AGAIN=LIST   the waits before each look-up after a doubt, such as "0s 20ms"
//	TRIAL_ASK_AGAIN=DURATION  the wait before a GET that failed is sent again
//	TRIAL_LEASE=DURATION    how long a session may be silent that holds what others wait for
package trial

import (
	"os"
	"strings"
	"sync"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/cli/load"
)

// Trial wraps the parts of the runs of a process, one after the other. The zero Trial is ready for use.
type Trial struct {
	wire wire

	mu     sync.Mutex
	intent string // the step whose intent was written last
}

// Job returns the job with a wrapped ledger and service, and with the settle window of the trial.
func (t *Trial) Job(j *importer.Job) *importer.Job {
	j.Ledger = &wrappedLedger{j.Ledger, t}
	j.Service = &service{Service: j.Service, trial: t}
	if believe, err := time.ParseDuration(os.Getenv("TRIAL_BELIEVE")); err == nil {
		j.Believable = believe
	}
	return j
}

// Connection returns how the service is reached, with the wire of the trial.
func (t *Trial) Connection(c load.Connection) load.Connection {
	c.Wrap = t.wrap
	return c
}

// Waits changes the usual waits to those of the environment.
func Waits(lookAgain *[]time.Duration, askAgain *time.Duration) {
	if words := strings.Fields(os.Getenv("TRIAL_LOOK_AGAIN")); len(words) > 0 {
		*lookAgain = nil
		for _, word := range words {
			*lookAgain = append(*lookAgain, duration(word))
		}
	}
	if word := os.Getenv("TRIAL_ASK_AGAIN"); word != "" {
		*askAgain = duration(word)
	}
}

// duration parses a duration, which must be one.
func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

// Silence returns how long a session of a shared ledger may be silent, 0 for the usual time.
func (*Trial) Silence() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("TRIAL_LEASE"))
	return d
}

// reach kills the process if TRIAL_KILL names this place of this step, and stops it if
// TRIAL_PAUSE does.
func reach(place, step string) {
	here := place + " " + step
	if step == "" {
		return
	}
	if os.Getenv("TRIAL_PAUSE") == here {
		pause()
	}
	if os.Getenv("TRIAL_KILL") == here {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {}
	}
}
