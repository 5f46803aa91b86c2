package environment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitWords(t *testing.T) {
	for command, want := range map[string][]string{
		"":                               nil,
		"  ":                             nil,
		"pass show  api":                 {"pass", "show", "api"},
		`op read "op://a b/c"`:           {"op", "read", "op://a b/c"},
		`a 'b "c' "d 'e"`:                {"a", `b "c`, "d 'e"},
		`a '' ""`:                        {"a", "", ""},
		`C:\a\b.exe 'a\b' "\"`:           {`C:\a\b.exe`, `a\b`, `\`},
		`pre'mid dle'post`:               {"premid dlepost"},
		"$HOME *.txt | wc > out; ls `a`": {"$HOME", "*.txt", "|", "wc", ">", "out;", "ls", "`a`"},
	} {
		got, err := splitWords(command)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", command, err, diff)
		}
	}
	for _, command := range []string{`a "b`, `a 'b`, `a\'b`} {
		if got, err := splitWords(command); err == nil {
			t.Errorf("%s gave %q, want an error", command, got)
		}
	}
}
