package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// The exit codes. When several apply, exitCode says which counts.
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

// exitCode returns the exit code of a command. ctx is the context that a signal ends; rows are those of a run, or
// what another command found.
func exitCode(ctx context.Context, err error, rows result.Counts) int {
	switch {
	case ctx.Err() != nil && terminated(ctx):
		return exitTerminated
	case ctx.Err() != nil:
		return exitInterrupted
	case problem.ClassOf(err) == problem.Locked:
		return exitLocked
	case problem.ClassOf(err) != problem.Input, errors.Is(err, ledger.ErrStopped), errors.Is(err, importer.ErrStopped):
		return exitStopped
	case err != nil && new(problem.List).Collect(err) == nil: // it wraps problems
		return exitUsage
	case err != nil:
		return exitStopped
	case rows.Uncertain > 0:
		return exitUncertain
	case rows.Failed+rows.Invalid+rows.NotStarted > 0:
		return exitRows
	}
	return exitDone
}

// terminated reports whether SIGTERM or SIGHUP ended ctx, not SIGINT. signal.NotifyContext has the signal only in the cause's text.
func terminated(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return cause != nil && (strings.HasPrefix(cause.Error(), syscall.SIGTERM.String()) || strings.HasPrefix(cause.Error(), syscall.SIGHUP.String()))
}

// endProblems returns what ended a command as problems, without personal data; nil for no error.
func endProblems(err error) problem.List {
	var list problem.List
	if err = list.Collect(err); err == nil {
		return list
	}
	p := problem.New("", "%s", err.Error())
	if errors.Is(err, context.Canceled) {
		p.Message = "stopped by a signal"
	}
	if _, ok := errors.AsType[*apiclient.Failure](err); ok {
		p = problem.New("no-service", "%s", err.Error())
	}
	if hint := hintOf(err); !strings.Contains(p.Message, hint) {
		p.Hint = hint
	}
	return problem.List{p}
}

// errorText returns what the command printed when it failed, "" when it did not.
func errorText(err error) string {
	var b strings.Builder
	if err != nil {
		console.PrintProblems(&b, endProblems(err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// hintOf returns what to do about a failed request or a full disk; "" for other errors.
func hintOf(err error) string {
	if f, ok := errors.AsType[*apiclient.Failure](err); ok {
		if f.Hint == "" {
			return "claimsheet doctor, with the same -m and -e, tries the connection step by step"
		}
		return f.Hint
	}
	switch {
	case errors.Is(err, ledger.ErrServer):
		return "see that the ledger's server runs and can be reached from here; then run again: it continues from what is recorded"
	case errors.Is(err, ledger.ErrStopped):
		return "make sure that the state folder's disk has room, that this user may write there, and that nobody moves its files; then run again: it continues from what is recorded"
	case errors.Is(err, syscall.ENOSPC):
		return "make room on that disk, then run again: it continues from what is recorded"
	}
	return ""
}

// agree asks for confirmation, unless it was given by a flag.
func (p *program) agree(ctx context.Context, given bool, question, refused, hint string) error {
	if given || console.Confirm(ctx, p.In, p.Err, question) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return problem.New("not-confirmed", "%s", refused).Of(problem.Stopped).Hinted("%s", hint)
}

// jsonFlag is the flag of every command that can end with an object on stdout; such a command sets program.object.
func jsonFlag() cli.Flag {
	return switchFlag(nil, "json", "end with one JSON object on stdout (docs/json.md)")
}

// problemJSON is a problem as an object shows it.
type problemJSON struct {
	Code    string `json:"code"`    // a short word that stays the same between versions; empty for an error of the system
	Where   string `json:"where"`   // file:line:column, or Sheet!C7; empty when it is about the command
	Message string `json:"message"` // what is wrong, one line
	Hint    string `json:"hint"`    // how to fix it; may be empty
}

// ending is the end of every object.
func ending(code int, err error) any {
	problems := []problemJSON{}
	for _, e := range endProblems(err) {
		problems = append(problems, problemJSON{e.Code, e.Where.String(), problem.OneLine(e.Message), problem.OneLine(e.Hint)})
	}
	return struct {
		ExitCode int           `json:"exitCode"` // the exit code of the command
		Errors   []problemJSON `json:"errors"`   // what ended the command; empty when nothing did
	}{code, problems}
}

// printObject ends a command that was asked for JSON.
func (p *program) printObject(code int, err error) error {
	end := ending(code, err)
	if p.object == nil {
		return reports.WriteObject(p.stdout, end)
	}
	first, err := json.Marshal(p.object)
	rest, _ := json.Marshal(end) // texts alone
	if err != nil {
		return err
	}
	// One object with the fields of both.
	return reports.WriteObject(p.stdout, json.RawMessage(slices.Concat(first[:len(first)-1], []byte(","), rest[1:])))
}
