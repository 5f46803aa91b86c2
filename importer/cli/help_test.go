package cli_test

import (
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
	p := claimsheet(t, args...)
	if p.code != 0 || p.err != "" {
		t.Fatalf("claimsheet %s: exit code %d\n%s", strings.Join(args, " "), p.code, p.err)
	}
	return p.out
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

// TestStatusPage: docs/operations.md explains every status and every state.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	page := readText(t, filepath.Join(root, "docs", "operations.md"))
	for _, name := range []string{string(result.Invalid), string(result.Uncertain), string(result.Failed), string(result.NotStarted), string(result.Changed), string(result.Done),
		string(result.Planned), string(result.Unchanged), string(result.Skipped), string(ledger.Sent), string(ledger.Refused), string(ledger.Closed), result.StepSkipped} {
		if !strings.Contains(page, "\n| "+name+" | ") {
			t.Errorf("%q is not explained", name)
		}
	}
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
