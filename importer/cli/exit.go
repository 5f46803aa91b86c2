package cli

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
)

// The exit codes, in the order in which the first that applies is taken.
const (
	exitInterrupted = 130 // SIGINT
	exitTerminated  = 143 // SIGTERM, or SIGHUP: the terminal is gone
	exitUsage       = 2   // usage, mapping, configuration or unreadable input
	exitLocked      = 5   // another run holds the ledger
	exitStopped     = 3   // could not run, or had to stop
	exitUncertain   = 4   // some step is uncertain
	exitRows        = 1   // some rows failed or are invalid
	exitDone        = 0   // every row done, unchanged, changed or skipped
)

// exitCode decides how the process ends. ctx is the one that a signal ends.
func exitCode(ctx context.Context, err error, s *result.Summary) int {
	var p problem.Problem
	var list problem.List
	switch {
	case ctx.Err() != nil && terminated(ctx):
		return exitTerminated
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(*incomplete)):
		return exitStopped
	case errors.Is(err, ledger.ErrLocked):
		return exitLocked
	case errors.Is(err, ledger.ErrDamaged), errors.Is(err, ledger.ErrStopped), errors.Is(err, importer.ErrStopped), errors.Is(err, importer.ErrLostLedger):
		return exitStopped
	case errors.As(err, &p), errors.As(err, &list):
		return exitUsage
	case err != nil:
		return exitStopped
	case s == nil:
		return exitDone
	case s.Rows.Uncertain > 0:
		return exitUncertain
	case s.Rows.Failed+s.Rows.Invalid+s.Rows.NotStarted > 0:
		return exitRows
	}
	return exitDone
}

// terminated tells that ctx was ended by SIGTERM or SIGHUP and not by SIGINT.
// The cause that signal.NotifyContext gives says so only in words.
func terminated(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return cause != nil && (strings.HasPrefix(cause.Error(), syscall.SIGTERM.String()) || strings.HasPrefix(cause.Error(), syscall.SIGHUP.String()))
}
