package observe

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// runLog is the log of a run:
//
//	stderr is a terminal             problems as plain lines, a bar, no log
//	stderr is a pipe or a file       problems as plain lines, log lines between them
//	--log-format json                everything as JSON lines on stderr
//	--log-file FILE                  everything in the file; problems on stderr too
type runLog struct {
	*slog.Logger // never nil; it has the run's id on every line

	bar      bool // stderr is a terminal with room for a bar
	progress bool // progress lines are wanted
	alone    bool // only the log says how the command ended
	close    func() error
}

// openLog sets the log and the writer that takes the place of stderr.
func (o *Observer) openLog() error {
	format, path, plain := o.options.LogFormat, o.options.LogFile, o.options.Stderr
	l := &runLog{Logger: slog.New(slog.DiscardHandler), progress: !o.options.NoProgress, close: func() error { return nil }}
	out := &stderrWriter{plain: plain, terminal: o.options.Terminal}
	o.log, o.stderr = l, out
	if format != "" && format != "text" && format != "json" {
		return problem.New("usage", "--log-format is text or json, not “%s”", format).Hinted("leave it out to have text")
	}
	_, isFile := o.options.Terminal.(*os.File)
	terminal := console.IsTerminal(o.options.Terminal)
	level, to := slog.LevelInfo, io.Writer(nil)
	switch {
	case path != "":
		file, err := openLogFile(path)
		if err != nil {
			return err
		}
		to, l.close, l.alone = file, file.Close, true
	case format != "", isFile && !terminal:
		to, l.alone = plain, format == "json"
		if o.options.Quiet {
			level = slog.LevelWarn
		}
	}
	l.bar = terminal && to != plain && l.progress && !o.options.Quiet && !o.options.Dumb
	if to != nil {
		l.Logger = slog.New(newHandler(to, format, level)).With("run", o.run)
	}
	if l.alone {
		out.log = l.Logger
	}
	if to == plain && l.alone {
		out.plain = nil
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

// sanitize removes line feeds and control characters, so that a text cannot forge
// log lines or control a terminal.
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

// stderrWriter takes the place of stderr in a run: what is written to it is
// printed, logged, or both. It is safe for concurrent use.
type stderrWriter struct {
	mu       sync.Mutex
	plain    io.Writer    // nil when the log has everything
	terminal io.Writer    // stderr itself, for the progress bar
	log      *slog.Logger // nil when problems are not logged
	wipe     func()       // clears the line of the progress bar; nil while there is none
}

// Write writes whole lines.
func (o *stderrWriter) Write(lines []byte) (int, error) {
	if o.log != nil {
		for line := range strings.Lines(string(lines)) {
			o.log.Warn(strings.TrimPrefix(strings.TrimSpace(line), "claimsheet: "))
		}
	}
	return o.print(lines)
}

func (o *stderrWriter) print(lines []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.plain == nil {
		return len(lines), nil
	}
	if o.wipe != nil {
		o.wipe()
	}
	return o.plain.Write(lines)
}

// PrintProblems prints problems and logs them with their parts as attributes, as many
// as are printed.
func (o *stderrWriter) PrintProblems(list problem.List) {
	if o.log != nil {
		for _, p := range list[:min(len(list), console.MaxProblems)] {
			o.log.Warn(p.Message, "code", p.Code, "where", p.Where.String(), "hint", p.Hint)
		}
		if more := len(list) - console.MaxProblems; more > 0 {
			o.log.Warn("there are more problems", "more", more)
		}
	}
	var lines strings.Builder
	console.PrintProblems(&lines, list)
	_, _ = o.print([]byte(lines.String()))
}

// draw draws or removes the progress bar. wipe clears its line before anything else
// is printed; nil when the bar is gone.
func (o *stderrWriter) draw(paint, wipe func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	paint()
	o.wipe = wipe
}

// logDevices may be named as log files.
var logDevices = []string{"/dev/null", "/dev/stdout", "/dev/stderr"}

// openLogFile opens a file to append a log to: a new or empty file, one that begins
// like a log of Claimsheet, or one of logDevices. Anything else may be a user's
// data. Only its owner can read a new file.
func openLogFile(path string) (*os.File, error) {
	path = filepath.Clean(path)
	if slices.Contains(logDevices, path) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return nil, problem.At(problem.Where{File: path}, "log-file", "the log cannot be written there: %v", problem.Cause(err))
		}
		return f, nil
	}
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
	if !begins(file, "time=", `{"time":"`) {
		_ = file.Close()
		return nil, problem.At(problem.Where{File: path}, "log-file", "the file is not a log that Claimsheet wrote, and a log is added to no other file").
			Hinted("name a new file")
	}
	return file, nil
}

// begins reports whether a file is empty or begins with one of the texts.
func begins(file io.ReaderAt, texts ...string) bool {
	head := make([]byte, 64)
	n, err := file.ReadAt(head, 0)
	if n == 0 {
		return errors.Is(err, io.EOF)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(string(head[:n]), text) })
}

// refuseStateFolder refuses a file in a state folder.
func refuseStateFolder(path, code, what string) error {
	if load.IsInStateFolder(path) {
		return problem.At(problem.Where{File: path}, code, "%s cannot be written into a state folder: the ledger is kept there", what).
			Hinted("name a file in another folder")
	}
	return nil
}
