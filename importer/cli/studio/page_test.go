package studio

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The page's libraries are the files that vendor/README.md names, byte for byte, and what
// is in the program stays small.
func TestVendored(t *testing.T) {
	t.Parallel()
	readme, err := page.ReadFile("page/vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{"README.md": ""}
	for _, found := range regexp.MustCompile(`(?m)^([0-9a-f]{64})  (\S+)$`).FindAllStringSubmatch(string(readme), -1) {
		sums[found[2]] = found[1]
	}
	size := 0
	err = fs.WalkDir(page, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := page.ReadFile(name)
		if err != nil {
			return err
		}
		size += len(data)
		isVendored := path.Dir(name) == "page/vendor"
		if text := string(data); !isVendored && regexp.MustCompile(`(?i)https?://|<script>|\sstyle="|\son[a-z]+="|\beval\(|innerHTML`).MatchString(text) {
			t.Errorf("%s loads something from elsewhere, or holds what the policy forbids", name)
		}
		if want, listed := sums[path.Base(name)]; isVendored && path.Base(name) != "README.md" {
			if sum := sha256.Sum256(data); !listed || hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s has the SHA-256 %x, and README.md lists %q", name, sum, want)
			}
			delete(sums, path.Base(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if delete(sums, "README.md"); len(sums) > 0 {
		t.Errorf("README.md lists %v, which is not there", sums)
	}
	if size > 300_000 {
		t.Errorf("the page takes %d bytes", size)
	}
	if !strings.Contains(string(readme), "Apache-2.0") {
		t.Error("README.md does not name the licences")
	}
}
