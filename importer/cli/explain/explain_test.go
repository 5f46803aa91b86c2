package explain

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/problem/yamltree/yamltest"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/problems.md again")

// TestReference compares docs/problems.md with the explanations.
func TestReference(t *testing.T) {
	t.Parallel()
	yamltest.Reference(t, "../../../docs/problems.md", *updateDocs, "\n"+markdown(t))
}

// markdown returns the explanations, and the files that their examples change, for docs/problems.md.
func markdown(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, c := range Codes() {
		if c.Cause != "" {
			fmt.Fprintf(&b, "## %s\n\n**%s.** %s\n\nTo fix it: %s\n\nBad:\n\n```text\n%s\n```\n\nGood:\n\n```text\n%s\n```\n\n", c.Name, c.Title, c.Cause, c.Fix, c.Bad, c.Good)
		}
	}
	b.WriteString("## The files of the examples\n")
	for _, name := range []string{"mapping.yaml", "environments.yaml", "leads.csv"} {
		file, err := os.ReadFile("base/" + name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n`%s`:\n\n```text\n%s```\n", name, file)
	}
	return b.String()
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
