package environment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplitWords(t *testing.T) {
	for command, want := range map[string][]string{
		"":                               nil,
		"  ":                             nil,
		"pass show  api":                 {"pass", "show", "api"},
		`op read "op://a b/c"`:           {"op", "read", "op://a b/c"},
		`a 'b "c' "d 'e"`:                {"a", `b "c`, "d 'e"},
		`a '' ""`:                        {"a", "", ""},
		`a\ b c\\d`:                      {"a b", `c\d`},
		`'a\b' "a\"b"`:                   {`a\b`, `a"b`},
		`pre'mid dle'post`:               {"premid dlepost"},
		"$HOME *.txt | wc > out; ls `a`": {"$HOME", "*.txt", "|", "wc", ">", "out;", "ls", "`a`"},
	} {
		got, err := splitWords(command)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", command, err, diff)
		}
	}
	for _, command := range []string{`a "b`, `a 'b`, `a \`, `"\"`} {
		if got, err := splitWords(command); err == nil {
			t.Errorf("%s gave %q, want an error", command, got)
		}
	}
}

// Any words at all can be written: in single quotes, with those inside escaped.
func TestSplitWordsTakesWhatQuotingGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.String(), 1, 6).Draw(t, "words")
		quoted := make([]string, len(want))
		for i, w := range want {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		got, err := splitWords(strings.Join(quoted, " "))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
