package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	var out, diagnostics strings.Builder
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	if code := quickMain(t.Context(), append(words, "--generate-bash-completion"), stdio); code != 0 || diagnostics.Len() > 0 {
		t.Errorf("%q: exit code %d\n%s", words, code, diagnostics.String())
	}
	for line := range strings.Lines(out.String()) {
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

// TestCompletion: what can be typed at a place, by the commands and flags that there are.
// The last word is the one that is being typed, a dot for one that is no flag.
func TestCompletion(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	write(t, s.path("environments.yaml"), "environments:\n  uat: {base_url: '"+s.url+"'}\n  'the live one': {base_url: '"+s.url+"'}\n  \"two\\nlines\": {base_url: '"+s.url+"'}\n")
	write(t, s.path("wrong.yaml"), "environments: [")
	mapping, environments := s.path("mapping.yaml"), s.path("environments.yaml")
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"run .", []string{files}},
		{"run leads.xlsx .", []string{files}},
		{"run -m .", []string{files}},
		{"run --state .", []string{files}},
		{"run -m " + mapping + " -e .", []string{"the live one", "uat", "sandbox"}},
		{"doctor --environments " + environments + " --env .", []string{"the live one", "uat", "sandbox"}},
		{"doctor --environments " + environments + " --env=u", []string{"--env=the live one", "--env=uat", "--env=sandbox"}},
		{"doctor --environments " + s.path("wrong.yaml") + " -e .", []string{"sandbox"}},
		{"doctor --environments " + s.path("missing.yaml") + " -e .", []string{"sandbox"}},
		{"init --api .", []string{"v1", "v2"}},
		{"run --log-format .", []string{"text", "json"}},
		{"run --limit .", nil},
		{"run --only .", nil},
		{"link .", nil},
		{"copy-ledger .", nil},
		{"copy-ledger --to .", []string{files}},
		{"schema .", []string{"mapping", "environments"}},
		{"schema mapping .", nil},
		{"completion .", []string{"bash", "zsh", "fish", "powershell"}},
		{"-", []string{"--help", "--version"}},
		{"run leads.xlsx --d", nil},
		{"run -- .", nil},
		{"run -- leads.xlsx .", nil},
		{"run -m a --mapping b .", nil},
		{"nonsense .", nil},
		{"nonsense --", []string{}},
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
	for _, word := range append(commands, "exit-codes", "statuses", "environment") {
		if !slices.Contains(candidates(t, "help", "."), word) {
			t.Errorf("claimsheet help %s is not offered", word)
		}
	}
}

// TestCompletionDoesNothing: whatever stands before the cursor, nothing is sent and
// written, and nothing else is printed.
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

// TestChoicesAreTaken: the words that are offered for a flag are those that it takes, and
// its message for another word names all of them.
func TestChoicesAreTaken(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context()) // claimsheet sandbox would serve
	stop()
	try := func(command, flag, word string) string {
		args := []string{command, flag, word}
		switch command {
		case "sandbox":
			args = append(args, "--addr", "127.0.0.1:0")
		case "run", "rerun", "init", "check":
			args = append(args, filepath.Join(root, "samples", "first", "missing.xlsx"))
		}
		var out, diagnostics strings.Builder
		quickMain(stopped, args, cli.IO{Out: &out, Err: &diagnostics, Env: func(string) string { return "" }})
		return diagnostics.String()
	}
	choices := cli.Choices()
	if len(choices) == 0 {
		t.Error("no flag takes one of a few words")
	}
	for of, words := range choices {
		said := try(of[0], of[1], "nonsense")
		for _, word := range words {
			if !strings.Contains(said, of[1]+" ") || !strings.Contains(said, word) {
				t.Errorf("claimsheet %s %s nonsense does not name %s: %s", of[0], of[1], word, said)
			}
			if said := try(of[0], of[1], word); strings.Contains(said, of[1]+" ") {
				t.Errorf("claimsheet %s %s %s is refused: %s", of[0], of[1], word, said)
			}
		}
	}
}

// shellCase is what is typed in a shell, in quotes of the shell where it needs them.
type shellCase struct {
	before string // the words before the one that is being typed
	typed  string
	want   []string
	files  bool
}

// shells drive the completion of a shell and print a candidate a line, and <files> where
// the shell completes files.
var shells = map[string]func(shellCase) []string{
	"bash": func(c shellCase) []string {
		words := c.before + " '" + c.typed + "'"
		return []string{"-c", fmt.Sprintf(`eval "$(claimsheet completion bash)"; asked='<files>'; compopt() { asked=; }
COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _claimsheet
for reply in "${COMPREPLY[@]}"; do echo "$reply"; done; [[ -z $asked ]] || echo "$asked"`, words)}
	},
	// The functions of zsh's completion system work in its line editor only.
	"zsh": func(c shellCase) []string {
		return []string{"-f", "-c", fmt.Sprintf(`compdef() { :; }; _files() { echo '<files>'; }; _describe() { local each; for each in ${(P)2}; do each=${each//\\:/$'\t'}; each=${each%%%%:*}; [[ $each == ${words[CURRENT]}* ]] && print -r -- ${each//$'\t'/:}; done }
source <(claimsheet completion zsh)
words=(%s '%s'); CURRENT=$#words; _claimsheet; true`, c.before, c.typed)}
	},
	"fish": func(c shellCase) []string {
		line := strings.ReplaceAll(c.before+" "+c.typed, `"`, `\"`)
		return []string{"--no-config", "-c", fmt.Sprintf(`claimsheet completion fish | source; complete -C "%s" | string replace -r \t'.*' ''; true`, line)}
	},
	"pwsh": func(c shellCase) []string {
		return []string{"-NoProfile", "-Command", fmt.Sprintf(`claimsheet completion powershell | Out-String | Invoke-Expression; $line = @'
%s
'@
(TabExpansion2 $line $line.Length).CompletionMatches | ForEach-Object CompletionText`, c.before+" "+c.typed)}
	},
}

// TestCompletionInShells drives the scripts in the shells that are here.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	// No shell may compute the name of an environment.
	write(t, s.path("environments.yaml"), "environments:\n  uat: {base_url: '"+s.url+"'}\n  '$(touch planted)': {base_url: '"+s.url+"'}\n  us:er: {base_url: '"+s.url+"'}\n")
	must(t, os.Mkdir(s.path("a folder"), 0o700))
	must(t, os.Rename(s.path("environments.yaml"), filepath.Join(s.path("a folder"), "environments.yaml")))
	cases := []shellCase{
		{before: "claimsheet", typed: "ru", want: []string{"run"}},
		{before: "claimsheet run --dry-run", typed: "--env", want: []string{"--env", "--environments"}},
		{before: "claimsheet init --api", typed: "", want: []string{"v1", "v2"}},
		{before: `claimsheet run --environments 'a folder/environments.yaml' -e`, typed: "us", want: []string{"us:er"}},
		{before: `claimsheet run --environments "a folder/environments.yaml" -e`, typed: "sa", want: []string{"sandbox"}},
		{before: "claimsheet run --mapping", typed: "map", files: true, want: []string{"mapping.yaml"}},
		{before: "claimsheet run --dry-run", typed: "lea", files: true, want: []string{"leads.xlsx"}},
		{before: "claimsheet doctor", typed: "lea"},
		{before: "claimsheet run -- leads.xlsx", typed: ""},
	}
	for name, line := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not installed: its completion is not tried", name)
			}
			for _, c := range cases {
				switch want := c.want; {
				case name == "bash" || name == "zsh": // they say that they would complete files
					if c.files {
						want = []string{files}
					}
					fallthrough
				case !c.files || name != "pwsh":
					cmd := exec.CommandContext(t.Context(), name, line(c)...)
					cmd.Dir = s.dir
					cmd.Env = append(os.Environ(), "HOME="+s.dir, "GORACE=atexit_sleep_ms=0")
					out, err := cmd.CombinedOutput()
					got := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' || r == '\r' })
					if err != nil || len(got)+len(want) > 0 && !slices.Equal(got, want) {
						t.Errorf("%s %s[TAB] in %s: %q (%v), want %q", c.before, c.typed, name, got, err, want)
					}
				}
			}
			if slices.Contains(names(t, s.dir), "planted") {
				t.Error("the shell has computed the name of an environment")
			}
		})
	}
}
