package reports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claimsheet/reports"
)

// The same workbook is the same bytes, whenever it is written: it can be had again.
func TestSameBookSameBytes(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() reports.Workbook{
		"results": loans,
		"plan": func() reports.Workbook {
			b := loans()
			b.Summary.DryRun, b.Steps = true, each(planned()...)
			return b
		},
		"many marks": func() reports.Workbook { return invalidWorkbook(1100) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.xlsx")
			var first []byte
			for range 3 {
				b := make()
				b.Made = moment
				if _, err := writeWorkbook(path, b); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = data
				}
				if !bytes.Equal(first, data) {
					t.Fatal("two writings differ")
				}
				time.Sleep(400 * time.Millisecond) // files have times in seconds
			}
		})
	}
}
