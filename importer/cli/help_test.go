package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/cli"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// printedBy returns what a command that succeeds prints on stdout.
func printedBy(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := quickMain(context.Background(), args, cli.IO{Out: &out, Err: &errs, Env: func(string) string { return "" }}); code != 0 || errs.Len() > 0 {
		t.Fatalf("claimsheet %s: exit code %d\n%s", strings.Join(args, " "), code, &errs)
	}
	return out.String()
}

// TestHelpOfEveryCommand: it fits 80 columns, has examples that can be typed, and is
// what help prints too.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"": printedBy(t, "--help")}
	for _, command := range cli.Commands() {
		pages[command] = printedBy(t, append(strings.Fields(command), "--help")...)
		if diff := cmp.Diff(pages[command], printedBy(t, append([]string{"help"}, strings.Fields(command)...)...)); diff != "" {
			t.Errorf("claimsheet help %s (-the flag +the command):\n%s", command, diff)
		}
	}
	for command, page := range pages {
		for line := range strings.Lines(page) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("claimsheet %s --help: a line has %d columns: %s", command, n, line)
			}
		}
		_, examples, _ := strings.Cut(page, "\nEXAMPLES:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		typed := 0
		for line := range strings.Lines(examples) {
			words := strings.Fields(line)
			if end := slices.Index(words, ">"); end > 0 {
				words = words[:end]
			}
			checkCommand(t, "claimsheet "+command+" --help", words[1:])
			typed++
		}
		if typed == 0 {
			t.Errorf("claimsheet %s --help has no example", command)
		}
	}
}

// TestStatusPage writes docs/statuses.md from the tables of claimsheet help statuses,
// which have every status and every state.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	rows, steps := cli.StatusTables()
	names := func(table [][3]string) (names []string) {
		for _, line := range table {
			names = append(names, line[0])
		}
		return names
	}
	for _, s := range []result.Status{result.Invalid, result.Uncertain, result.Failed, result.NotStarted, result.Changed, result.Done, result.Planned, result.Unchanged, result.Skipped} {
		if !slices.Contains(names(rows), string(s)) {
			t.Errorf("the status %q is not explained", s)
		}
	}
	for _, s := range []string{string(result.Planned), string(ledger.Sent), string(ledger.Done), string(ledger.Refused), string(ledger.Uncertain),
		string(ledger.Closed), result.StepSkipped} {
		if !slices.Contains(names(steps), s) {
			t.Errorf("the state %q is not explained", s)
		}
	}
	var b strings.Builder
	b.WriteString("# Statuses\n\n`claimsheet help statuses` prints the same.\n")
	for _, part := range []struct {
		title, text, first string
		table              [][3]string
	}{
		{"Rows", "The column Import status of the results workbook, the worst first. The status of a row is the worst of its steps.", "Import status", rows},
		{"Steps", "The column State of the sheet Steps.", "State", steps},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| %s | What it means | What to do |\n|---|---|---|\n", part.title, part.text, part.first)
		for _, line := range part.table {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", line[0], line[1], line[2])
		}
	}
	goldenPage(t, "statuses.md", b.String())
}

// goldenPage compares a page of the documentation that is made by a test, or writes it
// with -update.
func goldenPage(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(root, "docs", name)
	if *update {
		must(t, os.WriteFile(path, []byte(want), 0o644))
	}
	if diff := cmp.Diff(want, readText(t, path)); diff != "" {
		t.Errorf("%s is not as the program says; go test ./importer/cli -run %s -update writes it (-want +page):\n%s", path, t.Name(), diff)
	}
}
