package explain

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/problem/yamltree/yamltest"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/problems.md again")

// TestReference compares docs/problems.md with the entries.
func TestReference(t *testing.T) {
	t.Parallel()
	yamltest.Reference(t, "../../../docs/problems.md", *updateDocs, "\n"+Markdown())
}

// TestEntries: an entry can be found by its code, each code has one, and its texts are sentences.
func TestEntries(t *testing.T) {
	t.Parallel()
	codes := Codes()
	slices.Sort(codes)
	for i, code := range codes {
		if i > 0 && codes[i-1] == code {
			t.Errorf("%s has two entries", code)
		}
		e, ok := Lookup(code)
		if !ok {
			t.Fatalf("%s is not found", code)
		}
		if strings.HasSuffix(e.Title, ".") || !strings.HasSuffix(e.Meaning, ".") || !strings.HasSuffix(e.Mend, ".") {
			t.Errorf("%s: the title ends without a full stop, the meaning and the mend with one", code)
		}
	}
}

func TestParseEntry(t *testing.T) {
	t.Parallel()
	e, err := parseEntry(`a-code: A title
It means
this.
Mend: Do
that.
Also: another-code
Bad: It is so.
-- a.yaml --
b:

$ claimsheet check
Then:
-- a.csv (whole file) --
c`)
	if err != nil {
		t.Fatal(err)
	}
	if e.Code != "a-code" || e.Title != "A title" || e.Meaning != "It means this." || e.Mend != "Do that." || !e.Then || !slices.Equal(e.Also, []string{"another-code"}) {
		t.Errorf("read %+v", e)
	}
	if got, want := e.Bad.String()+e.Good.String(), "It is so.\n-- a.yaml --\nb:\n$ claimsheet check\n-- a.csv (whole file) --\nc\n"; got != want {
		t.Errorf("the examples are\n%swant\n%s", got, want)
	}
	for _, wrong := range []string{"a-code", "a-code: A title\nIt means this.\nBad: x\nGood: y", "a-code: A title\nIt means this.\nMend: Do that.\nBad: x"} {
		if _, err := parseEntry(wrong); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}
