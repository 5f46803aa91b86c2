package cli

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"claimsheet/importer"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

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
		a.warn(problem.At(problem.Where{File: a.metrics}, "metrics-file", "the metrics could not be written: %v", innermost(err)))
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
	sayError(&b, err)
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
func countAttrs(c importer.Counts) []any {
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

func workbooksOf(s importer.Summary) []string {
	paths := []string{s.Results}
	if s.Sheets != nil {
		paths = nil
	}
	for _, sheet := range s.Sheets {
		paths = append(paths, sheet.Results)
	}
	return paths
}

// innermost is a cause without the paths that wrappers repeat.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
