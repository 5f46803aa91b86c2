package cli_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"claimsheet/importer/cli"
)

// TestDocumentedCommands holds every command line that the documentation shows
// to the commands and flags that there are.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	must(t, err)
	checked := 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		if filepath.Base(page) == "problems.md" {
			continue // some of its commands are wrong on purpose; TestExplainExamples types them
		}
		for _, words := range commandLines(readText(t, page)) {
			checkCommand(t, page, words)
			checked++
		}
	}
	if checked < 15 {
		t.Errorf("only %d command lines found in the documentation: the test looks in the wrong places", checked)
	}
}

// typed finds command lines: in code, on lines of their own, and after a
// program's path.
var typed = regexp.MustCompile("(?:^|[ `/=])claimsheet ((?:[a-z]+(?:-[a-z]+)*)(?: [^`#;|&\n]*)?)")

func commandLines(page string) [][]string {
	var found [][]string
	for i, part := range strings.Split(page, "\n```") {
		for line := range strings.Lines(part) {
			isCode := i%2 == 1 || strings.HasPrefix(line, "    ") || strings.Contains(line, "`claimsheet ")
			if !isCode {
				continue
			}
			for _, m := range typed.FindAllStringSubmatch(line, -1) {
				found = append(found, strings.Fields(m[1]))
			}
		}
	}
	return found
}

// checkCommand looks a command's flags up in its own help. What stands after
// the first argument is for the program to refuse.
func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	command := words[:1]
	flags, ok := flagsOf(strings.Join(command, " "))
	if !ok {
		t.Errorf("%s: there is no command claimsheet %s", page, strings.Join(command, " "))
		return
	}
	for _, word := range words[len(command):] {
		if name, _, _ := strings.Cut(word, "="); strings.HasPrefix(name, "-") && !slices.Contains(flags, name) {
			t.Errorf("%s: claimsheet %s has no flag %s: %s", page, strings.Join(command, " "), name, strings.Join(words, " "))
		}
	}
}

var (
	flagName  = regexp.MustCompile(`(?:^|[ ,])(--?[a-z][a-z-]*)`)
	helpCache sync.Map // the flags of a command
)

// flagsOf are the flags in the help of a command; ok is false when there is no
// such command.
func flagsOf(command string) (flags []string, ok bool) {
	if flags, ok := helpCache.Load(command); ok {
		return flags.([]string), true
	}
	p := runAt(context.Background(), cli.QuickPace(), "", append(strings.Fields(command), "--help")...)
	_, options, found := strings.Cut(p.out, "OPTIONS:\n")
	if p.code != 0 || !found || !strings.Contains(p.out, "claimsheet "+command) {
		return nil, false
	}
	for line := range strings.Lines(options) {
		if !strings.HasPrefix(line, "   -") {
			continue // the rest of an explanation
		}
		names, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, m := range flagName.FindAllStringSubmatch(names, -1) {
			flags = append(flags, m[1])
		}
	}
	helpCache.Store(command, flags)
	return flags, true
}

// TestUnits: the commands in the units for systemd and in the manifests for Kubernetes are the program's.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"operations.md", "scale.md"} {
		commands := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/claimsheet (.*)$|^ *args: \[((?:[^\]])*)\]`).FindAllStringSubmatch(readText(t, filepath.Join(root, "docs", page)), -1)
		if len(commands) < 2 {
			t.Errorf("docs/%s has a unit and a manifest, and these commands were found: %q", page, commands)
		}
		for _, c := range commands {
			checkCommand(t, page, strings.Fields(strings.ReplaceAll(c[1]+c[2], ",", " ")))
		}
	}
}
