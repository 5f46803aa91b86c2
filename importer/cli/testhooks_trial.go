//go:build trial

package cli

import "claimsheet/importer/cli/trial"

func init() {
	hooks = new(trial.Trial)
	trial.Waits(&usualPace.LookAgain, &usualPace.AskAgain)
}
