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

// Files that LibreOffice wrote are read: workbooks, and what it makes of one when it exports
// it, cells as they are shown, a hidden row like the others.
func TestGolden(t *testing.T) {
	for name, encoding := range map[string]string{"csv.xlsx": "", "typed.xlsx": "", "utf8.csv": "", "utf16.csv": "", "semicolon.csv": "windows-1252"} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/libreoffice-" + name
			r, err := sheet.Open(path, sheet.Options{Encoding: encoding})
			must(t, err)
			defer r.Close()
			all, err := sheettest.Collect(r.Records())
			must(t, err)
			got := fmt.Sprintf("%s %q %q\n%s", r.Sheet().Name, r.Sheet().Header, r.Properties, sheettest.Dump(all))
			golden := strings.TrimSuffix(path, filepath.Ext(path)) + ".golden"
			if *update {
				must(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}
