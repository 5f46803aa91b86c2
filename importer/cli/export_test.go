package cli

import (
	"context"
	"runtime/debug"
	"time"
)

// Pace is how long a run waits before it asks again.
type Pace = pace

// QuickPace is the pace of tests.
func QuickPace() Pace {
	return Pace{LookAgain: []time.Duration{0, 10 * time.Millisecond, 10 * time.Millisecond}, AskAgain: 20 * time.Millisecond}
}

// MainAt is Main at another pace.
func MainAt(ctx context.Context, args []string, stdio IO, pace Pace) int {
	return start(ctx, args, stdio, pace)
}

// VersionOf is what claimsheet version prints for a program that was built so.
func VersionOf(info *debug.BuildInfo) string { return buildOf(info).String() }
