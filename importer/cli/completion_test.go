package cli_test

import (
	"fmt"
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

// shellCase is what is typed in a shell, in quotes of the shell where it needs them.
type shellCase struct {
	before string // the words before the one that is being typed
	typed  string
	want   []string
	files  bool
}

// shells drive the completion of a shell and print a candidate a line, and <files> where the shell completes files.
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
	cases := []shellCase{
		{before: "claimsheet", typed: "ru", want: []string{"run"}},
		{before: "claimsheet run --dry-run", typed: "--env", want: []string{"--env", "--environments"}},
		{before: "claimsheet run --mapping", typed: "map", files: true, want: []string{"mapping.yaml"}},
		{before: "claimsheet run --dry-run", typed: "lea", files: true, want: []string{"leads.xlsx"}},
		{before: "claimsheet run '$(touch planted)'", typed: "lea", files: true, want: []string{"leads.xlsx"}},
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
				t.Error("the shell has computed a word")
			}
		})
	}
}
