package explain

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/problem/yamltree/yamltest"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/problems.md again")

// TestReference compares docs/problems.md with the explanations.
func TestReference(t *testing.T) {
	t.Parallel()
	yamltest.Reference(t, "../../../docs/problems.md", *updateDocs, "\n"+Markdown())
	if n := len(strings.Fields(Markdown())); n > 4200 {
		t.Errorf("the explanations have %d words: explain only what a message and its hint cannot hold", n)
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	names := Names()
	slices.Sort(names)
	if len(slices.Compact(names)) != len(Codes()) {
		t.Error("codes.txt has a code twice")
	}
	explained := 0
	for _, c := range Codes() {
		if c.Cause == "" {
			continue
		}
		explained++
		if strings.HasSuffix(c.Title, ".") || !strings.HasSuffix(c.Cause, ".") || !strings.HasSuffix(c.Fix, ".") {
			t.Errorf("%s: the title ends without a full stop, cause and fix with one", c.Name)
		}
	}
	if explained > 60 {
		t.Errorf("%d codes are explained, want at most 60", explained)
	}
}
