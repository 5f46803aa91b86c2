// Package console is the way to the terminal: it cleans what is printed on stdout and stderr, prints problems, and asks for
// confirmation. It also has the side outputs: the log and the progress bar of a run, and the trace of any command that speaks with the
// service. Nothing of them changes a result, and nothing that they write has personal data, secrets or links.
package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/mattn/go-isatty"

	"claimsheet/mapping/problem"
)

// MaxProblems is how many problems PrintProblems prints one by one; the results workbook has them all.
const MaxProblems = 40

// PrintProblems prints each problem and its hint on lines. Cells of a column that have the same problem share one. An Observer logs them
// too.
func PrintProblems(w io.Writer, list problem.List) {
	if observer, ok := w.(*Observer); ok {
		observer.printProblems(list)
		return
	}
	PrintExcerpts(w, list, func(problem.Problem) string { return "" })
}

// PrintExcerpts is PrintProblems with an excerpt of the file between a problem and its hint: whole lines, or "" for none.
func PrintExcerpts(w io.Writer, list problem.List, excerpt func(problem.Problem) string) {
	list = list.Grouped()
	for i, p := range list {
		if i == MaxProblems {
			fmt.Fprintf(w, "… and %d more\n", len(list)-i)
			break
		}
		prefix := ""
		if p.Where.String() == "" {
			prefix = "claimsheet: "
		}
		fmt.Fprintln(w, prefix+problem.OneLine(p.Error()))
		fmt.Fprint(w, excerpt(p))
		if p.Hint != "" {
			fmt.Fprintln(w, "  hint: "+problem.OneLine(p.Hint))
		}
	}
}

// PrintWarnings prints every warning, however many there are: each names something that is not shown anywhere else.
func PrintWarnings(w io.Writer, list problem.List) {
	for _, p := range list {
		PrintProblems(w, problem.List{p})
	}
}

// Confirm prints a question on out and reports whether the answer on in is the word yes. A nil or empty in is a no, and so is the end of
// ctx, after which in must not be read any more.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s\nType yes: ", question)
	answer := make(chan string, 1)
	go func() {
		line := ""
		if in != nil {
			line, _ = bufio.NewReader(in).ReadString('\n') // an unreadable answer is a no
		}
		answer <- line
	}()
	line := ""
	select {
	case line = <-answer:
	case <-ctx.Done():
	}
	fmt.Fprintln(out)
	return strings.EqualFold(strings.TrimSpace(line), "yes")
}

// IsTerminal reports whether a stream of the process is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Clean returns a writer to w, safe for concurrent use, that replaces control characters but line feeds and tabs by spaces: texts come from
// elsewhere, and a terminal obeys control sequences. Each Write must hold whole characters.
func Clean(w io.Writer) io.Writer { return &cleanWriter{to: w} }

type cleanWriter struct {
	to io.Writer
	mu sync.Mutex
}

// Write writes the cleaned text.
func (c *cleanWriter) Write(text []byte) (int, error) {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && problem.IsControl(r) {
			return ' '
		}
		return r // invalid UTF-8 becomes U+FFFD
	}, string(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := io.WriteString(c.to, clean); err != nil {
		return 0, err
	}
	return len(text), nil
}
