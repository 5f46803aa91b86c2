package studio

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every message that the page says in its own words is one that the program has, so that
// none is forgotten when that changes; and what is said then has no key of the file.
func TestPageWords(t *testing.T) {
	t.Parallel()
	texts := literals(t, "../../../mapping", "../../../importer/sheet")
	for _, words := range pageWords {
		parts := regexp.MustCompile(`\\d\+|\(\\w\+\)|\(\\d\+\)|\(\.\*\??\)|\.\*|\\w\+|\(contact\|activity\)|\(a sheet\|one of its sheets\)|\|.*$`).Split(words.file.String(), -1)
		for _, part := range parts {
			part = strings.NewReplacer(`\.`, `.`, `\{`, `{`, `\}`, `}`, `\(`, `(`, `\)`, `)`).Replace(part)
			if !strings.Contains(texts, part) {
				t.Errorf("%s: no message has %q", words.file, part)
			}
		}
		if regexp.MustCompile(`\w: \{|sheet\.\w|header_row|in the mapping`).MatchString(words.page) {
			t.Errorf("the page says %q", words.page)
		}
	}
	for file, want := range map[string]string{
		`did you mean “Miss”? write an option in the cell, or translate the text in the mapping: values: {TEXT: Miss}`: `did you mean “Miss”? write an option in the cell, or say what the text means, such as Miss`,
		`say what it is: Remarks: {column: Notes, type: Text}, or in place of Text the type of a date`:                 `choose its type, such as Text, or in place of Text the type of a date`,
		`is row 3 the one that names the columns? sheet.header_row says which`:                                         `is row 3 the one that names the columns? choose it in the view “The sheet”`,
	} {
		if got := inPageWords(file); got != want {
			t.Errorf("%q is said as %q, want %q", file, got, want)
		}
	}
}

// literals returns the texts of the sources below some folders, one a line.
func literals(t *testing.T, folders ...string) string {
	var b strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					value, _ := strconv.Unquote(text.Value)
					b.WriteString(value + "\n")
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
