// Package observe has the side outputs of a run: its log and progress bar, and the trace of any command that speaks with the service.
// Nothing here changes a result, and nothing it writes has personal data, secrets or links.
package observe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"claimsheet/importer/result"
)

// Options say which side outputs a run has. The texts are those of the flags, ""
// when a flag is not given.
type Options struct {
	Stderr   io.Writer // where problems are printed
	Terminal io.Writer // stderr itself: only a terminal has a progress bar
	Dumb     bool      // the terminal cannot draw a bar

	LogFormat  string // text or json
	LogFile    string
	NoProgress bool
	Quiet      bool

	DryRun bool
}

// Observer receives what happens in a run. Its methods are called by one
// goroutine; Stderr is safe for concurrent use.
type Observer struct {
	run         string
	options     Options
	log         *runLog
	stderr      *stderrWriter
	started     time.Time
	environment string // its name, once known
	mapping     string // its name, once known
	begun       bool   // the run came to its first pass
}

// New checks the options and opens the log. It returns every problem of them;
// the Observer can be used in any case, to report these.
func New(run string, o Options) (*Observer, error) {
	observer := &Observer{run: run, options: o, started: time.Now()}
	return observer, observer.openLog()
}

// Stderr is the writer for problems and messages: they are printed, logged, or
// both.
func (o *Observer) Stderr() io.Writer { return o.stderr }

// Named sets the names of the mapping and the environment. The first name that is
// not empty counts.
func (o *Observer) Named(mapping, environment string) {
	o.mapping, o.environment = cmp.Or(o.mapping, mapping), cmp.Or(o.environment, environment)
}

// Started says that everything is loaded and the first pass over the sheets begins.
func (o *Observer) Started(version, mappingFile string, sheets []string) {
	o.begun = true
	o.log.Info("run started", "version", version, "environment", o.environment, "mapping", o.mapping, "mappingFile", mappingFile,
		"sheets", sheets, "dryRun", o.options.DryRun)
}

// Surveyed says what the first pass has counted. A dry run counts invalid rows
// later.
func (o *Observer) Surveyed(rows, clients, invalid int) {
	counts := []any{"rows", rows, "clients", clients}
	if !o.options.DryRun {
		counts = append(counts, "invalidRows", invalid)
	}
	o.log.Info("first pass", counts...)
}

// Ended writes the last line of the log, with the exit code, what was printed about an error and the summary, if there is
// one, and closes it. level is that of the line. On stderr, what kept a run from starting was printed already.
func (o *Observer) Ended(code int, level slog.Level, printed string, s *result.Summary) {
	if o.begun || o.log.alone {
		attrs := []any{"exitCode", code, "seconds", time.Since(o.started).Round(time.Millisecond).Seconds(), "environment", o.environment, "mapping", o.mapping}
		if why, _, _ := strings.Cut(printed, "\n"); why != "" { // the rest was logged before
			attrs = append(attrs, "why", strings.TrimPrefix(why, "claimsheet: "))
		}
		if s != nil {
			attrs = append(attrs, slog.Group("rows", countAttrs(s.Rows)...), slog.Group("clients", countAttrs(s.Clients)...), "results", workbooksOf(*s))
		}
		if s != nil && !s.DryRun {
			attrs = append(attrs, "uncertainSteps", s.UncertainSteps)
		}
		o.log.Log(context.Background(), level, "run ended", attrs...)
	}
	if err := o.log.close(); err != nil {
		fmt.Fprintln(o.options.Stderr, "claimsheet: the log could not be written to its end")
	}
}

// countAttrs returns the total and the counts that are not 0.
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
	if s.Sheets == nil {
		return []string{s.Results}
	}
	var paths []string
	for _, sheet := range s.Sheets {
		paths = append(paths, sheet.Results)
	}
	return paths
}
