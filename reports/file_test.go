package reports_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/reports"
)

// inFolder are the files of a folder by name, hidden ones too; a folder is "".
func inFolder(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, e := range must(os.ReadDir(folder))(t) {
		data, _ := os.ReadFile(filepath.Join(folder, e.Name()))
		files[e.Name()] = string(data)
	}
	return files
}

// Whatever goes wrong, the old file stays as it was and nothing else appears.
func TestNothingIsWrittenAfterAnError(t *testing.T) {
	t.Parallel()
	torn := errors.New("the source is torn")
	for name, spoil := range map[string]func(*reports.Workbook){
		"records fail":        func(b *reports.Workbook) { b.Records = broken(torn, cell.Record{Row: 4}) },
		"rows fail":           func(b *reports.Workbook) { b.Rows = broken(torn, result.Row{Row: 4}) },
		"steps fail":          func(b *reports.Workbook) { b.Steps = broken(torn, result.Step{Number: 1}) },
		"rows fail after all": func(b *reports.Workbook) { b.Records, b.Rows = each[cell.Record](), broken[result.Row](torn) },
		"a row too few":       func(b *reports.Workbook) { b.Rows = each(result.Row{Row: 4}) },
		"a row too many":      func(b *reports.Workbook) { b.Records = each(cell.Record{Row: 4}) },
		"another row":         func(b *reports.Workbook) { b.Records, b.Rows = each(cell.Record{Row: 4}), each(result.Row{Row: 5}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "leads.results.xlsx")
			noError(t, os.WriteFile(path, []byte("the old file"), 0o600))
			b := loans()
			spoil(&b)
			place := reports.Placement{Path: path, Aside: filepath.Join(dir, "edited.xlsx")}
			if w, err := place.Write(noted(b)); err == nil {
				t.Fatalf("no error, and %v", w)
			}
			same(t, "folder", map[string]string{"leads.results.xlsx": "the old file"}, inFolder(t, dir))
		})
	}
}

// A finished workbook is private, and never thrown away: where its place is held, it goes
// beside it. A folder stands for a file that cannot be replaced, or have a second name.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files, folders []string // what is there
		aside          string   // where the file at the place shall be kept
		want, kept     string   // where the new file is, and where the file at the place
	}{
		"replaced":                        {files: []string{"a.xlsx"}, want: "a.xlsx"},
		"held, and another name too":      {folders: []string{"a.xlsx", "a.2.xlsx"}, want: "a.3.xlsx"},
		"kept under another name":         {files: []string{"a.xlsx"}, aside: "b.xlsx", want: "a.xlsx", kept: "b.xlsx"},
		"kept on a file system, no links": {folders: []string{"a.xlsx"}, aside: "b.xlsx", want: "a.xlsx", kept: "b.xlsx"},
		"cannot be kept":                  {files: []string{"a.xlsx"}, aside: "nowhere/b.xlsx", want: "a.2.xlsx"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string {
				if name == "" {
					return ""
				}
				return filepath.Join(dir, name)
			}
			want := map[string]string{}
			for _, name := range c.files {
				want[name] = "the old " + name
				noError(t, os.WriteFile(in(name), []byte(want[name]), 0o644))
			}
			for _, name := range c.folders {
				want[name] = ""
				noError(t, os.Mkdir(in(name), 0o700))
			}
			w := must(reports.Placement{Path: in("a.xlsx"), Aside: in(c.aside)}.Write(noted(loans())))(t)
			data := must(os.ReadFile(w.Path))(t)
			sum := sha256.Sum256(data)
			same(t, "written", reports.Placement{Path: in(c.want), Aside: in(c.kept), Digest: hex.EncodeToString(sum[:])}, w)
			if mode := must(os.Stat(w.Path))(t).Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
				t.Errorf("the file's mode is %o", mode)
			}
			if c.kept != "" {
				want[c.kept] = want["a.xlsx"]
			}
			want[c.want] = string(data)
			same(t, "folder", want, inFolder(t, dir))
		})
	}
}
