package sheet_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden reads files that LibreOffice wrote.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xlsx")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { checkGolden(t, path, sheet.Options{}) })
	}
}

// TestGoldenCSV reads what LibreOffice makes of a workbook when it exports it:
// cells as they are shown, a hidden row like the others.
func TestGoldenCSV(t *testing.T) {
	for name, o := range map[string]sheet.Options{
		"libreoffice-semicolon.csv": {Encoding: "windows-1252"}, "libreoffice-utf16.csv": {}, "libreoffice-utf8.csv": {},
	} {
		t.Run(name, func(t *testing.T) { checkGolden(t, filepath.Join("testdata", name), o) })
	}
}

func checkGolden(t *testing.T, path string, o sheet.Options) {
	t.Helper()
	r, err := sheet.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := sheettest.Collect(r.Records())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %q %q\n%s", r.Sheet().Name, r.Sheet().Header, r.Properties, sheettest.Dump(all))
	golden := strings.TrimSuffix(path, filepath.Ext(path)) + ".golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
