package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/cli/explain"
)

// codeInSource matches what gives a problem its code.
var codeInSource = regexp.MustCompile(`(?:problem\.New|refuse)\("([a-z0-9-]+)"|(?:\bAt|[Ww]rong|WrongAt|wrongAt|warnAt|refuseStateFolder)\([^"\n]*?, "([a-z0-9-]+)"|\bCode:\s+"([a-z0-9-]+)"|[cC]ode += "([a-z0-9-]+)"|wrongConfig += "([a-z0-9-]+)"`)

// notOurs are folders whose codes are no problem codes: those of answers of test services,
// of number formats and of studio's page.
var notOurs = []string{"apiclient/sandbox", "apiclient/apitest", "importer/sheet/numfmt", "importer/cli/studio"}

// TestExplainCodes: the list has every code that the program can show, and no other.
func TestExplainCodes(t *testing.T) {
	t.Parallel()
	names, shown := explain.Names(), map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && (slices.Contains(notOurs, filepath.ToSlash(name)) || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, `"`) {
				continue // which most lines are, and the expression is slow
			}
			for _, m := range codeInSource.FindAllStringSubmatch(line, -1) {
				code := strings.Join(m[1:], "")
				shown[code] = true
				if !slices.Contains(names, code) {
					t.Errorf("%s: [%s] is not in importer/cli/explain/codes.txt", name, code)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !shown[name] {
			t.Errorf("codes.txt has %s, which the program does not have", name)
		}
	}
}
