package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/result"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Observer receives what happens in a run, and takes the place of stderr: what is written to it is
// printed, logged, or both. Write and the printing of problems are safe for concurrent use; the other methods are
// called by one goroutine. The exported fields are set before Open, but for the names. Where the log is:
//
//	stderr is a terminal             problems as plain lines, a bar, no log
//	stderr is a pipe or a file       problems as plain lines, log lines between them
//	--log-format json                everything as JSON lines on stderr
//	--log-file FILE                  everything in the file; problems on stderr too
type Observer struct {
	Stderr   io.Writer // where problems are printed
	Terminal io.Writer // stderr itself: only a terminal has a progress bar
	Dumb     bool      // the terminal cannot draw a bar
	DryRun   bool

	Mapping, Environment string // their names; set when they are known

	// The flags; a text is "" when its flag is not given.
	LogFormat  string // text or json
	LogFile    string
	NoProgress bool
	Quiet      bool

	log     *slog.Logger // never nil once it is open; it has the run's id on every line
	file    *os.File     // of --log-file; else nil
	logsAll bool         // problems and what is printed are logged too
	prints  bool         // problems are plain lines on stderr
	hasBar  bool         // stderr is a terminal with room for a bar
	started time.Time
	begun   bool // the run came to its first pass

	// Of Watch, whose goroutine alone uses them once it runs:
	clients  int
	bar      *pb.ProgressBar // nil for none
	watched  time.Time       // when it began
	lastLine time.Time       // when the last progress line was written

	printing sync.Mutex
	wipe     func() // clears the line of the progress bar; nil without a bar
}

// Open checks the flags and opens the log of a run. Nothing else may be called before it; after an error the Observer reports that.
func (o *Observer) Open(run string) error {
	o.log, o.prints, o.started = slog.New(slog.DiscardHandler), true, time.Now()
	format := o.LogFormat
	if format != "" && format != "text" && format != "json" {
		return problem.New("usage", "--log-format is text or json, not “%s”", format).Hinted("leave it out to have text")
	}
	_, isFile := o.Terminal.(*os.File)
	isTerminal := IsTerminal(o.Terminal)
	level, to := slog.LevelInfo, io.Writer(nil)
	switch {
	case o.LogFile != "":
		file, err := openLogFile(o.LogFile)
		if err != nil {
			return err
		}
		o.file, to, o.logsAll = file, file, true
	case format != "", isFile && !isTerminal:
		to, o.logsAll, o.prints = o.Stderr, format == "json", format != "json"
		if o.Quiet {
			level = slog.LevelWarn
		}
	}
	o.hasBar = isTerminal && to != o.Stderr && !o.NoProgress && !o.Quiet && !o.Dumb
	if to != nil {
		o.log = slog.New(newHandler(to, format, level)).With("run", run)
	}
	return nil
}

func newHandler(w io.Writer, format string, level slog.Level) slog.Handler {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: sanitize}
	if format == "json" {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// sanitize removes line feeds and control characters, so that a text cannot forge log lines or control a terminal.
func sanitize(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(problem.OneLine(v))
	case []string:
		clean := make([]string, len(v))
		for i, s := range v {
			clean[i] = problem.OneLine(s)
		}
		a.Value = slog.AnyValue(clean)
	}
	return a
}

// Write writes whole lines.
func (o *Observer) Write(lines []byte) (int, error) {
	if o.logsAll {
		for line := range strings.Lines(string(lines)) {
			o.log.Warn(strings.TrimPrefix(strings.TrimSpace(line), "claimsheet: "))
		}
	}
	return o.print(lines)
}

func (o *Observer) print(lines []byte) (int, error) {
	o.printing.Lock()
	defer o.printing.Unlock()
	if !o.prints {
		return len(lines), nil
	}
	if o.wipe != nil {
		o.wipe()
	}
	return o.Stderr.Write(lines)
}

// printProblems prints problems and logs them with their parts as attributes, as many as are printed.
func (o *Observer) printProblems(list problem.List) {
	if o.logsAll {
		for _, p := range list[:min(len(list), MaxProblems)] {
			o.log.Warn(p.Message, "code", p.Code, "where", p.Where.String(), "hint", p.Hint)
		}
		if more := len(list) - MaxProblems; more > 0 {
			o.log.Warn("there are more problems", "more", more)
		}
	}
	var lines strings.Builder
	PrintProblems(&lines, list)
	_, _ = o.print([]byte(lines.String()))
}

// openLogFile opens a file to append a log to: a new or empty one, or a log of Claimsheet; anything else may be a user's data.
func openLogFile(path string) (*os.File, error) {
	if err := refuseStateFolder(path, "log-file", "the log"); err != nil {
		return nil, err
	}
	file, err := safefile.OpenAppend(path)
	if p, ok := errors.AsType[problem.Problem](err); ok {
		p.Code = "log-file"
		return nil, p.Hinted("name a file in a folder that exists and that this user may write to")
	}
	if err != nil {
		return nil, err
	}
	head := make([]byte, 64)
	n, err := file.ReadAt(head, 0)
	text := string(head[:n])
	if isNew := n == 0 && errors.Is(err, io.EOF); isNew || strings.HasPrefix(text, "time=") || strings.HasPrefix(text, `{"time":"`) {
		return file, nil
	}
	_ = file.Close()
	return nil, problem.At(problem.Where{File: path}, "log-file", "the file is not a log that Claimsheet wrote, and a log is added to no other file").
		Hinted("name a new file")
}

// refuseStateFolder refuses a file in a state folder.
func refuseStateFolder(path, code, what string) error {
	if load.IsInStateFolder(path) {
		return problem.At(problem.Where{File: path}, code, "%s cannot be written into a state folder: the ledger is kept there", what).
			Hinted("name a file in another folder")
	}
	return nil
}

// Started says that everything is loaded and the first pass over the sheets begins.
func (o *Observer) Started(version, mappingFile string, sheets []string) {
	o.begun = true
	o.log.Info("run started", "version", version, "environment", o.Environment, "mapping", o.Mapping, "mappingFile", mappingFile,
		"sheets", sheets, "dryRun", o.DryRun)
}

// Surveyed says what the first pass has counted. A dry run counts invalid rows later.
func (o *Observer) Surveyed(rows, clients, invalid int) {
	counts := []any{"rows", rows, "clients", clients}
	if !o.DryRun {
		counts = append(counts, "invalidRows", invalid)
	}
	o.log.Info("first pass", counts...)
}

// Ended writes the last line of the log at a level, with the exit code, what was printed about an error and the summary, and closes the
// log. On stderr, what kept a run from starting was printed already.
func (o *Observer) Ended(code int, level slog.Level, printed string, s *result.Summary) {
	if o.begun || o.logsAll {
		attrs := []any{"exitCode", code, "seconds", time.Since(o.started).Round(time.Millisecond).Seconds(), "environment", o.Environment,
			"mapping", o.Mapping}
		if why, _, _ := strings.Cut(printed, "\n"); why != "" { // the rest was logged before
			attrs = append(attrs, "why", strings.TrimPrefix(why, "claimsheet: "))
		}
		if s != nil {
			attrs = append(attrs, slog.Group("rows", countAttrs(s.Rows)...), slog.Group("clients", countAttrs(s.Clients)...), "results", s.Workbooks(),
				"uncertainSteps", s.UncertainSteps)
		}
		o.log.Log(context.Background(), level, "run ended", attrs...)
	}
	if o.file == nil {
		return
	}
	if err := o.file.Close(); err != nil {
		fmt.Fprintln(o.Stderr, "claimsheet: the log could not be written to its end")
	}
}

// countAttrs returns the total and the counts that are not 0.
func countAttrs(c result.Counts) []any {
	attrs := []any{slog.Int("total", c.Total)}
	for _, status := range result.Statuses {
		if n := c.Of(status); n > 0 {
			attrs = append(attrs, slog.Int(strings.ReplaceAll(string(status), "not started", "notStarted"), n)) // as --json calls it
		}
	}
	return attrs
}
