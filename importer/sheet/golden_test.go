package sheet_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
)

var update = flag.Bool("update", false, "write the golden files")

var updateLibreOffice = flag.Bool("update-libreoffice", false, "write testdata/libreoffice-*.csv again, with the LibreOffice that is here")

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
	tests := []struct {
		name, export string // the filter's options: delimiter, quote, encoding, first line
		options      sheet.Options
	}{
		{"libreoffice-semicolon.csv", "59,34,1,1", sheet.Options{Encoding: "windows-1252"}},
		{"libreoffice-utf16.csv", "9,34,65535,1", sheet.Options{}},
		{"libreoffice-utf8.csv", "44,34,76,1", sheet.Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join("testdata", tt.name)
			if *updateLibreOffice {
				export(t, path, tt.export)
			}
			checkGolden(t, path, tt.options)
		})
	}
}

// export has LibreOffice write the first sheet of testdata/libreoffice-typed.xlsx.
func export(t *testing.T, path, options string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "soffice", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless",
		"--convert-to", "csv:Text - txt - csv (StarCalc):"+options, "--outdir", dir, "testdata/libreoffice-typed.xlsx")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("LibreOffice: %v\n%s", err, said)
	}
	made, err := os.ReadFile(filepath.Join(dir, "libreoffice-typed.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, made, 0o644); err != nil {
		t.Fatal(err)
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
	got := fmt.Sprintf("%s %q %q\n%s", r.Sheet().Name, r.Sheet().Header, r.Properties(), sheettest.Dump(all))
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
