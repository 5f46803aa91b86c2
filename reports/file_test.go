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

// names are the entries of a folder, hidden ones too.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries := must(os.ReadDir(folder))(t)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Whatever goes wrong, the old file stays as it was and nothing else appears.
func TestNothingIsWrittenAfterAnError(t *testing.T) {
	t.Parallel()
	torn := errors.New("the source is torn")
	cases := map[string]func(*reports.Workbook){
		"records fail":        func(b *reports.Workbook) { b.Records = broken(torn, cell.Record{Row: 4}) },
		"rows fail":           func(b *reports.Workbook) { b.Rows = broken(torn, result.Row{Row: 4}) },
		"steps fail":          func(b *reports.Workbook) { b.Steps = broken(torn, result.Step{Number: 1}) },
		"rows fail after all": func(b *reports.Workbook) { b.Records, b.Rows = each[cell.Record](), broken[result.Row](torn) },
		"a row too few":       func(b *reports.Workbook) { b.Rows = each(result.Row{Row: 4}) },
		"a row too many":      func(b *reports.Workbook) { b.Records = each(cell.Record{Row: 4}) },
		"another row": func(b *reports.Workbook) {
			b.Records, b.Rows = each(cell.Record{Row: 4}), each(result.Row{Row: 5})
		},
	}
	for name, spoil := range cases {
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
			if got, _ := os.ReadFile(path); string(got) != "the old file" {
				t.Error("the old file was changed")
			}
			same(t, "folder", []string{"leads.results.xlsx"}, names(t, dir))
		})
	}
}

func TestFileIsPrivateAndDigested(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "leads.results.xlsx")
	noError(t, os.WriteFile(path, []byte("the old file"), 0o644))
	w := must(writeWorkbook(path, loans()))(t)
	data := must(os.ReadFile(path))(t)
	sum := sha256.Sum256(data)
	same(t, "written", reports.Written{Path: path, Digest: hex.EncodeToString(sum[:])}, w)
	info := must(os.Stat(path))(t)
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
		t.Errorf("the file's mode is %o", mode)
	}
	same(t, "folder", []string{"leads.results.xlsx"}, names(t, dir))
}

// A folder stands for a file that cannot be replaced.
func TestWorkbookIsNotLostWhenItsNameIsHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "leads.results.xlsx")
	for _, held := range []string{path, filepath.Join(dir, "leads.results.2.xlsx")} {
		noError(t, os.Mkdir(held, 0o700))
	}
	w := must(writeWorkbook(path, loans()))(t)
	if want := filepath.Join(dir, "leads.results.3.xlsx"); w.Path != want {
		t.Errorf("written to %s, want %s", w.Path, want)
	}
	if _, ok, err := reports.IsOurs(w.Path); !ok || err != nil {
		t.Errorf("IsOurs: %v, %v", ok, err)
	}
}
