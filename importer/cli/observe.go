package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/observe"
)

// observeFlags are the flags for unattended runs.
func observeFlags() []cli.Flag {
	return []cli.Flag{
		textFlag("log-format", "", "the log's `FORMAT`: text or json"),
		textFlag("log-file", "", "append the log to `FILE` (default: stderr)"),
		switchFlag("no-progress", "no progress bar and no progress lines"),
	}
}

// observe makes the observer of a run, before anything else, so that a run that
// cannot start is reported too.
func (p *program) observe(c *cli.Context) (err error) {
	p.run = uuid.NewString()
	p.observer, err = observe.New(p.run, observe.Options{
		Stderr: p.Err, Terminal: p.stderr, Dumb: p.Env("TERM") == "dumb",
		LogFormat: c.String("log-format"), LogFile: c.String("log-file"), NoProgress: c.Bool("no-progress"), Quiet: c.Bool("quiet"),
		DryRun: c.Bool("dry-run"),
	})
	p.Err = p.observer.Stderr()
	return err
}

// ended reports the end of a command to its observer.
func (p *program) ended(ctx context.Context, code int, err error) {
	if p.observer == nil {
		return
	}
	p.observer.Ended(observe.End{
		Code: code, Complete: code == exitDone || code == exitRows || code == exitUncertain,
		Error: errorText(err), Summary: p.summary,
	})
}

// errorText returns what the command printed when it failed, "" when it did not.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("stopped by a signal")
	}
	var b strings.Builder
	printError(&b, err)
	return strings.TrimSuffix(b.String(), "\n")
}

// observeReport reports to the observer what a run has done, while its ledger is
// still open.
func (r *importRun) observeReport(ctx context.Context) error {
	if r.options.dryRun {
		r.observer.Reported(nil)
		return nil
	}
	r.observer.Reported(&r.summary.UncertainSteps)
	if r.options.isRerun() {
		return nil
	}
	return r.compareInputs(ctx)
}

// compareInputs finds sheets that have the same bytes as in an earlier run. Runs
// that left clients out, this one or an earlier one that left out more, are not
// compared.
func (r *importRun) compareInputs(ctx context.Context) error {
	if r.options.limit > 0 || r.options.only != "" {
		return nil
	}
	summary, _, _ := r.job.Summary(false)
	for _, s := range r.sheets {
		earlier, found, err := r.ledger.ledger.SameInput(ctx, s.record)
		if err != nil {
			return err
		}
		then, err := readSummary(earlier.Summary)
		if err != nil {
			return err
		}
		if found && then.Rows.Skipped <= r.job.OfSheet(summary, s.table).Rows.Skipped {
			r.observer.SameInput(s.source.Input.Given, earlier.ID, earlier.Started)
		}
	}
	return nil
}
