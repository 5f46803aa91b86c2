package cli_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/cli"
)

// files is what a shell is asked to complete by itself.
const files = "<files>"

// candidates returns what a shell is offered for the words before the cursor.
func candidates(t *testing.T, words ...string) (offered []string) {
	t.Helper()
	p := claimsheet(t, append(words, "--generate-bash-completion")...)
	if p.code != 0 || p.err != "" {
		t.Errorf("%q: exit code %d\n%s", words, p.code, p.err)
	}
	for line := range strings.Lines(p.out) {
		word, does, found := strings.Cut(line, "\t")
		switch {
		case !found:
			t.Errorf("%q: a line without a tab: %q", words, line)
		case word == "" && does == "files\n":
			word = files
		}
		offered = append(offered, word)
	}
	return offered
}

// TestCompletion: what can be typed at a place, by the commands and flags that there are. The last word is the one that
// is being typed, a dot for one that is no flag.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"run .", []string{files}},
		{"run -m .", []string{files}},
		{"-", []string{"--help", "--version"}},
		{"run -- .", nil},
		{"run -- leads.xlsx .", nil},
		{"", nil},
	} {
		got := candidates(t, strings.Fields(c.typed)...)
		if len(got)+len(c.want) > 0 && !slices.Equal(got, c.want) {
			t.Errorf("claimsheet %s: (-want +got)\n%s", c.typed, cmp.Diff(c.want, got))
		}
	}
	commands := candidates(t, ".")
	for _, command := range cli.Commands() {
		if name, _, _ := strings.Cut(command, " "); !slices.Contains(commands, name) {
			t.Errorf("the command %s is not offered", name)
		}
	}
	if offered := candidates(t, "run", "--d"); !slices.Contains(offered, "--dry-run") {
		t.Errorf("claimsheet run --d: %q", offered)
	}
}

// TestCompletionDoesNothing: whatever stands before the cursor, nothing is sent and written, and nothing else is
// printed.
func TestCompletionDoesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	before := names(t, s.dir)
	for _, words := range [][]string{
		s.args(), s.args("--json"), s.args("--trace", s.path("trace")), append(s.args(), "."),
		{"run", "-m", s.path("mapping.yaml"), "--", s.path("leads.xlsx")}, {"run", "-m", s.path("mapping.yaml"), "--yes", "--"},
		{"templates", "-e", "uat", "--environments", s.path("environments.yaml")}, {"--version"}, {"run", "--help"},
	} {
		for _, offered := range candidates(t, words...) {
			if !strings.HasPrefix(offered, "--") && offered != files {
				t.Errorf("%q: %q is offered", words, offered)
			}
		}
	}
	if calls := s.service.Calls(); len(calls) > 0 {
		t.Errorf("requests were sent:\n%s", transcript(calls))
	}
	if diff := cmp.Diff(before, names(t, s.dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// names are the names of the files in a folder.
func names(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// shells are commands that complete the last of some words, $0 being the first, and print a candidate a line: <files>
// where bash and zsh would complete files.
var shells = map[string]struct{ flags, script string }{
	"bash": {"", `eval "$(claimsheet completion bash)"; asked='<files>'; compopt() { asked=; }
COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; _claimsheet
for reply in "${COMPREPLY[@]}"; do echo "$reply"; done; [[ -z $asked ]] || echo "$asked"`},
	// The functions of zsh's completion system work in its line editor only.
	"zsh": {"-f", `compdef() { :; }; _files() { echo '<files>'; }; _describe() { local each; for each in ${(P)2}; do each=${each//\\:/$'\t'}; each=${each%%%%:*}; [[ $each == ${words[CURRENT]}* ]] && print -r -- ${each//$'\t'/:}; done }
source <(claimsheet completion zsh)
words=("$0" "$@"); CURRENT=$#words; _claimsheet; true`},
}

// TestCompletionInShells drives the scripts in the shells that are here.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	for name, shell := range shells {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed: its completion is not tried", name)
			continue
		}
		for typed, want := range map[string][]string{
			"ru": {"run"}, "run --dry-run --env": {"--env", "--environments"}, "run --mapping map": {files}, "run --dry-run lea": {files},
			"run $(touch·planted) lea": {files}, "run -- leads.xlsx ": nil,
		} {
			words := []string{shell.flags, "-c", shell.script, "claimsheet"}[map[bool]int{true: 1}[shell.flags == ""]:]
			for _, word := range strings.Split(typed, " ") {
				words = append(words, strings.ReplaceAll(word, "·", " "))
			}
			cmd := exec.CommandContext(t.Context(), name, words...)
			cmd.Dir = s.dir
			cmd.Env = append(os.Environ(), "HOME="+s.dir, "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if got := strings.Fields(string(out)); err != nil || len(got)+len(want) > 0 && !slices.Equal(got, want) {
				t.Errorf("claimsheet %s[TAB] in %s: %q (%v), want %q", typed, name, got, err, want)
			}
		}
	}
	if slices.Contains(names(t, s.dir), "planted") {
		t.Error("a shell has computed a word")
	}
}
