package studio_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claimsheet/importer/cli/studio"
)

// autumn is a change to save.
func (b *tab) autumn() (text string) {
	b.post("/api/patch", 200, "version", 1, "label", "x", "operations", []any{op("replace", "/name", "autumn")})
	return strings.Replace(mappingText, "name: spring", "name: autumn", 1)
}

// left expects nothing in the mapping's folder besides the sheet and the mapping.
func (b *tab) left() {
	b.Helper()
	if entries, err := os.ReadDir(filepath.Dir(b.file)); err != nil || len(entries) != 2 {
		b.Errorf("in the folder is left %v (%v)", entries, err)
	}
}

func (b *tab) holds(path, want string) {
	b.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		b.Errorf("%s is\n%s (%v)", path, data, err)
	}
}

// A link stays a link, and the file that it leads to is written.
func TestSaveThroughALink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a right of their own there")
	}
	elsewhere := filepath.Join(t.TempDir(), "shared.yaml")
	write(t, elsewhere, mappingText)
	b := begin(t, "", sheetText, func(o *studio.Options) {
		must(t, os.Symlink(elsewhere, o.Mapping))
	})
	text := b.autumn()
	b.post("/api/save", 200, "version", 2)
	b.holds(elsewhere, text)
	if info, err := os.Lstat(b.file); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v (%v)", info, err)
	}
	b.left()

	other := filepath.Join(t.TempDir(), "other.yaml")
	write(t, other, mappingText)
	must(t, errors.Join(os.Remove(b.file), os.Symlink(other, b.file)))
	b.post("/api/save", 409, "version", 2)
	b.holds(other, mappingText)
}

// What cannot be written stays as it is, and the message says why.
func TestSaveRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil       func(file string) error
		plain, over string // the codes of saving, and of saving over what is there
	}{
		"a file that is read-only": {func(file string) error { return os.Chmod(file, 0o444) }, "output-no-access", "output-no-access"},
		"a folder in its place":    {func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, "changed-on-disk", "not-a-file"},
		"a folder that is gone":    {func(file string) error { return os.RemoveAll(filepath.Dir(file)) }, "changed-on-disk", "output-no-access"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, mappingText, sheetText, nil)
			b.autumn()
			must(t, c.spoil(b.file))
			for i, code := range []string{c.plain, c.over} {
				status := map[bool]int{false: 422, true: 409}[code == "changed-on-disk"]
				expect(t, "the code", b.post("/api/save", status, "version", 2, "overwrite", i == 1).at("error.code"), code)
			}
			b.get("/api/state").has(t, "mapping.dirty", true)
			if c.plain == c.over {
				b.holds(b.file, mappingText)
				b.left()
			}
		})
	}
	b := begin(t, "", sheetText, func(o *studio.Options) { o.Proposed = []byte(mappingText) })
	write(t, b.file, "name: other\n")
	b.post("/api/save", 409, "version", 1).has(t, "error.message", "another program has written the file meanwhile")
	b.holds(b.file, "name: other\n")
	b.left()
}
