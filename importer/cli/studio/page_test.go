package studio

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// The page's libraries are the files that vendor/README.md names, byte for byte, and what
// is in the program stays small.
func TestVendored(t *testing.T) {
	t.Parallel()
	readme, err := page.ReadFile("page/vendor/README.md")
	must(t, err)
	sums := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^([0-9a-f]{64})  (\S+)$`).FindAllStringSubmatch(string(readme), -1) {
		sums["page/vendor/"+found[2]] = found[1]
	}
	forbidden := regexp.MustCompile(`(?i)https?://|<script>|\sstyle="|\son[a-z]+="|\beval\(|innerHTML`)
	size := 0
	err = fs.WalkDir(page, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := page.ReadFile(name)
		size += len(data)
		switch {
		case name == "page/vendor/README.md":
		case strings.HasPrefix(name, "page/vendor/"):
			if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != sums[name] {
				t.Errorf("%s has the SHA-256 %s, and README.md lists %q", name, sum, sums[name])
			}
			delete(sums, name)
		case forbidden.Match(data):
			t.Errorf("%s loads something from elsewhere, or holds what the policy forbids", name)
		}
		return err
	})
	if err != nil || len(sums) > 0 || !strings.Contains(string(readme), "Apache-2.0") {
		t.Errorf("README.md lists %v, which is not there, or does not name the licences (error %v)", sums, err)
	}
	if size > 300_000 {
		t.Errorf("the page takes %d bytes", size)
	}
}

// A message for those who edit the file names the fields of the page.
func TestPageWords(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"translate the text in the mapping: values: {TEXT: Miss}":                "translate the text in the mapping: “What the texts mean”: TEXT: Miss",
		"is row 3 the one that names the columns? sheet.header_row says which":   "is row 3 the one that names the columns? “The row of the headers, in the view The sheet” says which",
		"add sheet: {timezone: Europe/London}, or wherever":                      "add “Time zone”: Europe/London, or wherever",
		"name the column; or write existing: create to create every client":      "name the column; or write “What to do with known clients”: create to create every client",
		"declare how the sheet writes numbers under sheet.numbers":               "declare how the sheet writes numbers under “How numbers are written”",
		"say how the column writes dates, for example format: dd/mm/yyyy":        "say how the column writes dates, for example “Dates look like”: dd/mm/yyyy",
		"use the name and type of a column; its values are empty, see the sheet": "use the name and type of a column; its values are empty, see the sheet",
		"“Note: this” is not listed; expected name: and no more":                 "“Note: this” is not listed; expected name: and no more",
	} {
		if got := inPageWords(file); got != want {
			t.Errorf("%q is said as %q, want %q", file, got, want)
		}
	}
}
