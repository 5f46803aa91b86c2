package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	namedTests   = regexp.MustCompile("((?:`(?:Test|Fuzz)\\w+`(?:, )?)+) \\(([a-z/.]+)\\)")
	anyTest      = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	itemsTest    = regexp.MustCompile(`^Test[XPNC]\d_`)
)

// TestSecurityPage holds docs/security.md and the tests together: every test
// that the page names is there, in the package that it says, and every test
// that is named after an item is on the page.
func TestSecurityPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	tests := testsByPackage(t)
	placed := map[string]bool{}
	for _, m := range namedTests.FindAllStringSubmatch(page, -1) {
		for _, name := range anyTest.FindAllStringSubmatch(m[1], -1) {
			placed[name[1]] = true
			if !tests[m[2]][name[1]] {
				t.Errorf("%s has no test %s", m[2], name[1])
			}
		}
	}
	for _, name := range anyTest.FindAllStringSubmatch(page, -1) {
		if !placed[name[1]] {
			t.Errorf("the page does not say which package %s is in", name[1])
		}
	}
	for pkg, names := range tests {
		for name := range names {
			if itemsTest.MatchString(name) && !placed[name] {
				t.Errorf("%s in %s is not on the page", name, pkg)
			}
		}
	}
	for item, most := range map[string]int{"X": 7, "P": 9, "N": 8, "C": 5} {
		for n := 1; n <= most; n++ {
			id := item + "-" + string(rune('0'+n))
			if !strings.Contains(page, "| "+id+" |") {
				t.Errorf("the page lacks the item %s", id)
			}
		}
	}
}

// testsByPackage are the names of all tests, by their package's folder.
func testsByPackage(t *testing.T) map[string]map[string]bool {
	t.Helper()
	tests := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if tests[pkg] == nil {
			tests[pkg] = map[string]bool{}
		}
		for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
			tests[pkg][m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
