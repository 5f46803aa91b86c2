package cli

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/mapping/problem"
)

// logFlags say what is told of a run while it goes on.
func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log-format", Usage: "the log's `FORMAT`: text or json; json on stderr takes the problems in too", DefaultText: "text"},
		textFlag("log-file", "", "append the log to `FILE`; default: stderr, when it is no terminal"),
		switchFlag("no-progress", "no progress bar, and no progress lines in the log"),
	}
}

// runLog is what is told of a run besides its results: log lines, problems and
// a progress bar. Nothing of it holds personal data, secrets or links.
//
//	stderr is a terminal             problems as plain lines, a bar, no log
//	stderr is a pipe or a file       problems as plain lines, log lines between them
//	--log-format json                everything as JSON lines on stderr
//	--log-file FILE                  everything in the file; problems on stderr too
type runLog struct {
	*slog.Logger // never nil; it has the run's id on every line

	bar      bool // stderr is a terminal with room for a bar
	progress bool // progress lines are wanted
	alone    bool // the log is the only place that tells how the command ended
	close    func() error
}

// openLog makes the log of a run, and the writer that takes the place of
// stderr: problems that are written to it go where the flags say.
func (p *program) openLog(c *cli.Context, run string) (*runLog, *outlet, error) {
	format, path := c.String("log-format"), c.String("log-file")
	l := &runLog{Logger: slog.New(slog.DiscardHandler), progress: !c.Bool("no-progress"), close: func() error { return nil }}
	out := &outlet{plain: p.Err, terminal: p.stderr}
	if format != "" && format != "text" && format != "json" {
		return l, out, problem.New("usage", "--log-format is text or json, not “%s”", format).Hinted("leave it out to have text")
	}
	stderr, isFile := p.stderr.(*os.File)
	terminal := isFile && isTerminal(stderr)
	level, to := slog.LevelInfo, io.Writer(nil)
	switch {
	case path != "":
		file, err := openLogFile(path)
		if err != nil {
			return l, out, err
		}
		to, l.close, l.alone = file, file.Close, true
	case format != "", isFile && !terminal:
		to, l.alone = p.Err, format == "json"
		if c.Bool("quiet") {
			level = slog.LevelWarn
		}
	}
	l.bar = terminal && to != p.Err && l.progress && !c.Bool("quiet") && p.Env("TERM") != "dumb"
	if to != nil {
		l.Logger = slog.New(newHandler(to, format, level)).With("run", run)
	}
	if l.alone {
		out.log = l.Logger
	}
	if to == p.Err && l.alone {
		out.plain = nil
	}
	return l, out, nil
}

func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

func newHandler(w io.Writer, format string, level slog.Level) slog.Handler {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: tame}
	if format == "json" {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// tame keeps a text from forging lines, and terminals from obeying it.
func tame(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(problem.OneLine(v))
	case []string:
		tamed := make([]string, len(v))
		for i, s := range v {
			tamed[i] = problem.OneLine(s)
		}
		a.Value = slog.AnyValue(tamed)
	}
	return a
}

// outlet takes the place of stderr in a run: what is written to it is printed
// plainly, or goes into the log, or both. It is safe for concurrent use.
type outlet struct {
	mu       sync.Mutex
	plain    io.Writer    // nil where the log has it all
	terminal io.Writer    // stderr itself, for the progress bar
	log      *slog.Logger // nil where problems are not logged
	wipe     func()       // clears the progress bar's line; nil while there is none
}

// Write takes whole lines.
func (o *outlet) Write(lines []byte) (int, error) {
	if o.log != nil {
		for line := range strings.Lines(string(lines)) {
			o.log.Warn(strings.TrimPrefix(strings.TrimSpace(line), "claimsheet: "))
		}
	}
	return o.print(lines)
}

func (o *outlet) print(lines []byte) (int, error) {
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

// problems logs problems with their parts as attributes of their own, as many
// as are printed.
func (o *outlet) PrintProblems(list problem.List) {
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

// draw draws the progress bar or takes it away. wipe is what clears its line
// before anything else is printed; nil when there is none any more.
func (o *outlet) draw(paint, wipe func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	paint()
	o.wipe = wipe
}
