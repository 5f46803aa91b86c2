package cli

import (
	"io"
	"log/slog"
	"strings"
	"sync"

	"claimsheet/mapping/problem"
)

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
func (o *outlet) problems(list problem.List) {
	if o.log != nil {
		for _, p := range list[:min(len(list), mostProblems)] {
			o.log.Warn(p.Message, "code", p.Code, "where", p.Where.String(), "hint", p.Hint)
		}
		if more := len(list) - mostProblems; more > 0 {
			o.log.Warn("there are more problems", "more", more)
		}
	}
	var lines strings.Builder
	sayProblems(&lines, list)
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
