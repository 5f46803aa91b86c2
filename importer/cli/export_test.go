package cli

import (
	"context"
	"os"
	"time"

	"claimsheet/importer/cli/probe"
	"claimsheet/importer/result"
)

// Pace is how long a run waits before it asks again.
type Pace = pace

// QuickPace is the pace of tests.
func QuickPace() Pace {
	return Pace{LookAgain: []time.Duration{0, 10 * time.Millisecond, 10 * time.Millisecond}, AskAgain: 20 * time.Millisecond}
}

// QuickProcess is Process at the pace of tests; TRIAL_BELIEVE sets the age of a creation from which a look-up is
// believed.
func QuickProcess() int {
	usualPace = QuickPace()
	usualPace.Believable, _ = time.ParseDuration(os.Getenv("TRIAL_BELIEVE"))
	return Process()
}

// MainAt is Main at another pace.
func MainAt(ctx context.Context, args []string, stdio IO, pace Pace) int {
	return start(ctx, args, stdio, pace)
}

// Commands returns the names of the commands.
func Commands() []string {
	var all []string
	for _, c := range new(program).app().Commands {
		all = append(all, c.Name)
	}
	return all
}

// Objects has what --json prints: the part of each command, and the ending that all but check have.
func Objects() (commands map[string]any, end any) {
	return map[string]any{
		"run, rerun": result.Summary{}, "doctor": diagnosis{}.found, "doctor --probe": probe.Report{}, "settle": settleJSON{}, "history": historyJSON{},
		"templates": templatesJSON{}, "check": check{}.report,
	}, ending(0, nil)
}

// ProblemCodes returns all codes, their titles and their explanations.
var ProblemCodes = problemCodes
