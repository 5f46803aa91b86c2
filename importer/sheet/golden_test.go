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
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden reads files that LibreOffice wrote.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xlsx")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := sheet.Open(path, sheet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			all, err := collect(r)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%s %q %q\n%s", r.Sheet().Name, r.Sheet().Header, r.Properties(), dump(all))
			golden := strings.TrimSuffix(path, ".xlsx") + ".golden"
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
		})
	}
}
