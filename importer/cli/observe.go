package cli

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// attendFlags are for runs that nobody watches.
func attendFlags() []cli.Flag {
	return append(logFlags(),
		textFlag("metrics", "", "write metrics for Prometheus to `FILE` at the end, a textfile for node_exporter"),
		textFlag("notify", "", "post the summary as JSON to `URL` at the end; env:NAME keeps the url secret"),
		&cli.StringFlag{Name: "notify-on", Usage: "post `WHEN`: always, or problems (an exit code other than 0)", DefaultText: "always"})
}

// attended is what a run has about it that nobody need watch: its log, and what
// is done when it is over. It is made before anything else, so that a run that
// cannot start is told of too.
type attended struct {
	run      string // the run's id
	log      *runLog
	out      *outlet // in place of stderr
	where    load.Where
	started  time.Time
	metrics  string             // a file; "" for none
	notify   environment.Secret // the url; empty for none
	problems bool               // notify only where the exit code is not 0
	archive  string             // a folder; "" for none

	begun       bool   // the run came to its first pass
	environment string // its name, once known
	mapping     string // its name, once known
	inputs      []*load.Input
	retries     map[string]int
	uncertain   *int // steps that wait for an operator; nil when not known
	same        bool // a sheet is that of an earlier run
	warnings    []string
}

// attend takes the flags of attendFlags and --archive. Problems are found
// together, and what can be had is there all the same, to tell of them.
func (p *program) attend(c *cli.Context) error {
	a := &attended{run: uuid.NewString(), where: p.where(c), started: time.Now(), metrics: c.String("metrics")}
	p.attended = a
	var found problem.List
	var err error
	a.log, a.out, err = p.openLog(c, a.run)
	if err := found.Collect(err); err != nil {
		return err
	}
	p.Err = a.out
	if err := found.Collect(a.takeNotify(c)); err != nil {
		return err
	}
	if err := found.Collect(a.takeMetrics(c)); err != nil {
		return err
	}
	if err := found.Collect(a.takeArchive(c)); err != nil {
		return err
	}
	return found.Err()
}

func (a *attended) takeNotify(c *cli.Context) error {
	var found problem.List
	url, on := c.String("notify"), c.String("notify-on")
	a.problems = on == "problems"
	if on != "" && on != "always" && on != "problems" {
		found = append(found, problem.New("usage", "--notify-on is always or problems, not “%s”", on).Hinted("leave it out to have always"))
	}
	switch {
	case url != "":
		var err error
		a.notify, err = environment.Webhook(c.Context, url)
		if err := found.Collect(err); err != nil {
			return err
		}
	case on != "":
		found = append(found, problem.New("usage", "--notify-on says when to post, and no url is given").Hinted("add --notify env:NAME"))
	}
	return found.Err()
}

func (a *attended) takeMetrics(c *cli.Context) error {
	if a.metrics == "" {
		return nil
	}
	err := checkMetricsFile(a.metrics)
	switch {
	case c.Bool("dry-run"):
		err = problem.New("usage", "--metrics tells of runs, and a dry run is none").Hinted("leave it out")
	case c.String("log-file") != "" && load.Absolute(c.String("log-file")) == load.Absolute(a.metrics):
		err = problem.At(problem.Where{File: a.metrics}, "usage", "--log-file and --metrics name the same file").Hinted("give each a file of its own")
	}
	if err != nil {
		a.metrics = ""
	}
	return err
}

// knows notes what the run is about, for whatever tells of it.
func (a *attended) knows(s *load.Session) {
	if s.Env != nil {
		a.environment = s.Env.Name
	}
	if s.Mapping != nil {
		a.mapping = s.Mapping.Name.Text
	}
}

// guess finds the names of mapping and environment for a run that did not come
// so far: its metrics belong beside those of the nights before.
func (a *attended) guess() {
	mapping, environment := a.where.Names()
	a.mapping, a.environment = cmp.Or(a.mapping, mapping), cmp.Or(a.environment, environment)
}

// starts tells the log that a run begins.
func (a *attended) starts(s *load.Session, o runOptions) {
	a.begun = true
	a.log.Info("run started", "version", Version, "environment", s.Env.Name, "mapping", s.Mapping.Name.Text, "mappingFile", s.Mapping.File,
		"sheets", o.sheets, "dryRun", o.dryRun)
}

// warn says what a person should know although it changes no exit code.
func (a *attended) warn(p problem.Problem) {
	a.warnings = append(a.warnings, p.Error())
	console.PrintProblems(a.out, problem.List{p})
}

// ended is done when the command is over, whatever became of it.
func (p *program) ended(ctx context.Context, code int, err error) {
	a := p.attended
	if a == nil {
		return
	}
	signalled := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	a.guess()
	if p.summary != nil && (code == exitDone || code == exitRows || code == exitUncertain) {
		a.putAway()
	}
	p.writeMetrics(code)
	p.post(ctx, code, err, signalled)
	p.logEnd(code, err)
	if err := a.log.close(); err != nil {
		a.log.close = nil
		printError(a.out.plain, errors.New("the log could not be written to its end"))
	}
}

// completes takes what is to be told of a run whose workbooks are written,
// while its ledger is still open.
func (a *attended) completes(ctx context.Context, r *importRun) error {
	ctx = context.WithoutCancel(ctx)
	a.retries = r.job.Retries()
	if r.options.dryRun {
		return nil
	}
	waiting, err := r.ledger.ledger.CountUnsettled(ctx, r.scope, r.session.Mapping.Name.Text)
	if err != nil {
		return err
	}
	a.uncertain = &waiting
	if !r.options.isRerun() {
		for _, s := range r.sheets {
			a.inputs = append(a.inputs, s.source.Input)
		}
		return a.compare(ctx, r)
	}
	return nil
}

// compare warns of sheets that are, to the byte, those of an earlier run: an
// export that was not made anew. An earlier run that left more of the sheet
// aside than this one, with --limit perhaps, is none to compare with, nor is
// this one when it does. It is for the log and what is sent: a person who gives
// a command again knows that.
func (a *attended) compare(ctx context.Context, r *importRun) error {
	if r.options.limit > 0 || r.options.only != "" {
		return nil
	}
	summary, _, _ := r.job.Summary(false)
	for _, s := range r.sheets {
		earlier, found, err := r.ledger.ledger.SameInput(ctx, s.record, string(result.Skipped))
		if err != nil {
			return err
		}
		if !found || earlier.Rows > r.job.OfSheet(summary, s.table).Rows.Skipped {
			continue
		}
		a.same = true
		warning := problem.At(problem.Where{File: s.source.Input.Given}, "same-input",
			"this is the same file as in the run of %s: there was no new export since", earlier.Started.Format(time.RFC3339))
		a.warnings = append(a.warnings, warning.Error())
		a.log.Warn(warning.Message, "code", warning.Code, "where", warning.Where.String(), "earlierRun", earlier.ID)
	}
	return nil
}

// signalledNotice is how long a notice may take when a signal ended the run:
// whoever stops a program does not wait for long.
const signalledNotice = 5 * time.Second

// writeMetrics writes the textfile. That it cannot be is a warning: the run's
// work is done.
func (p *program) writeMetrics(code int) {
	a := p.attended
	if a.metrics == "" {
		return
	}
	m := reports.Metrics{Environment: a.environment, Mapping: a.mapping, Ended: time.Now(), ExitCode: code,
		Seconds: time.Since(a.started).Seconds(), SameInput: a.same, Uncertain: a.uncertain, Summary: p.summary}
	err := checkMetricsFile(a.metrics) // again: much may have happened since the run began
	if err == nil {
		err = m.WriteFile(a.metrics)
	}
	if err != nil {
		a.warn(problem.At(problem.Where{File: a.metrics}, "metrics-file", "the metrics could not be written: %v", problem.Cause(err)))
	}
}

// post sends the notice. That it cannot be sent changes no exit code.
func (p *program) post(ctx context.Context, code int, err error, signalled bool) {
	a := p.attended
	url := a.notify.Reveal()
	if url == "" || a.problems && code == exitDone {
		return
	}
	if signalled {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, signalledNotice)
		defer cancel()
	}
	n := reports.Notice{Run: a.run, Environment: a.environment, Mapping: a.mapping, ExitCode: code,
		Error: errorText(err), Warnings: a.warnings, UncertainSteps: a.uncertain, Summary: p.summary}
	if err := n.Post(ctx, url); err != nil {
		a.warn(problem.New("notice", "the notice could not be posted: %v", err).
			Hinted("the run is not affected; see to the url of --notify and to its receiver"))
	}
}

// errorText is what the command said when it failed, "" when it did not.
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

// logEnd is the last line of a run's log. On stderr, what kept a run from
// beginning has been said in plain lines already.
func (p *program) logEnd(code int, err error) {
	a := p.attended
	if !a.begun && !a.log.alone {
		return
	}
	level := slog.LevelInfo
	switch code {
	case exitDone:
	case exitRows, exitUncertain:
		level = slog.LevelWarn
	default:
		level = slog.LevelError
	}
	attrs := []any{"exitCode", code, "seconds", time.Since(a.started).Round(time.Millisecond).Seconds(), "environment", a.environment, "mapping", a.mapping}
	if why, _, _ := strings.Cut(errorText(err), "\n"); why != "" { // the rest was said before
		attrs = append(attrs, "why", strings.TrimPrefix(why, "claimsheet: "))
	}
	if s := p.summary; s != nil {
		attrs = append(attrs, slog.Group("rows", countAttrs(s.Rows)...), slog.Group("clients", countAttrs(s.Clients)...), "results", workbooksOf(*s))
	}
	if a.uncertain != nil {
		attrs = append(attrs, "uncertainSteps", *a.uncertain)
	}
	if len(a.retries) > 0 {
		var retries []any
		for _, why := range slices.Sorted(maps.Keys(a.retries)) {
			retries = append(retries, slog.Int(why, a.retries[why]))
		}
		attrs = append(attrs, slog.Group("sentAgain", retries...))
	}
	a.log.Log(context.Background(), level, "run ended", attrs...)
}

// countAttrs are the counts that are not 0, and the total.
func countAttrs(c result.Counts) []any {
	attrs := []any{slog.Int("total", c.Total)}
	for _, s := range []struct {
		name  string
		count int
	}{
		{"done", c.Done}, {"unchanged", c.Unchanged}, {"changed", c.Changed}, {"skipped", c.Skipped}, {"planned", c.Planned},
		{"notStarted", c.NotStarted}, {"failed", c.Failed}, {"uncertain", c.Uncertain}, {"invalid", c.Invalid},
	} {
		if s.count > 0 {
			attrs = append(attrs, slog.Int(s.name, s.count))
		}
	}
	return attrs
}

func workbooksOf(s result.Summary) []string {
	paths := []string{s.Results}
	if s.Sheets != nil {
		paths = nil
	}
	for _, sheet := range s.Sheets {
		paths = append(paths, sheet.Results)
	}
	return paths
}
