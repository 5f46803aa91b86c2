package reports_test

import (
	"path/filepath"
	"testing"

	"claimsheet/reports"
)

func BenchmarkSmall(b *testing.B) {
	path := filepath.Join(b.TempDir(), "small.xlsx")
	b.ReportAllocs()
	for b.Loop() {
		book := loans()
		book.Binding = map[string]string{}
		for _, k := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
			book.Binding["claimsheet."+k] = "value of " + k
		}
		if _, err := reports.WriteWorkbook(path, book); err != nil {
			b.Fatal(err)
		}
	}
}
