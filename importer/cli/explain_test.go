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

// TestExplainCommand: a list of all codes, codes with and without an explanation, and what it does not know.
func TestExplainCommand(t *testing.T) {
	t.Parallel()
	p := claimsheet(t, "explain", "[new-ledger]", "unknown-key")
	if expect(t, p.out, "new-ledger - ", "\nunknown-key: A key that does not exist. The message and its hint say the rest.\n"); p.code != 0 || p.err != "" {
		t.Errorf("exit code %d: %s", p.code, p.err)
	}
	p = claimsheet(t, "explain", "unknwon-key")
	if expect(t, p.err, "did you mean “unknown-key”?"); p.code != 2 || p.out != "" {
		t.Errorf("exit code %d: %s", p.code, p.out)
	}
	if p := claimsheet(t, "explain"); p.code != 0 || strings.Count(p.out, "\n") != len(explain.Codes()) {
		t.Errorf("exit code %d, and the list is\n%s", p.code, p.out)
	}
}

// codeInSource matches what gives a problem its code.
var codeInSource = regexp.MustCompile(`(?:problem\.New|refuse|matching)\("([a-z0-9-]+)"|(?:\bAt|[Ww]rong|WrongAt|wrongAt|warnAt|refuseStateFolder)\([^"\n]*?, "([a-z0-9-]+)"|\bCode:\s+"([a-z0-9-]+)"|[cC]ode += "([a-z0-9-]+)"|wrongConfig += "([a-z0-9-]+)"`)

// notOurs are folders whose codes are no problem codes: those of answers of test services, of number formats and of
// studio's page.
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
	must(t, err)
	for _, name := range names {
		if !shown[name] {
			t.Errorf("codes.txt has %s, which the program does not have", name)
		}
	}
}
