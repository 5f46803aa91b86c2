package reports_test

import (
	"os"
	"path/filepath"
	"testing"

	"claimsheet/reports"
)

func TestWriteList(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.xlsx")
	rows := [][]string{{"Your details", "", "=1+1"}, {"", "Date of birth", "Date"}}
	noError(t, reports.WriteList(path, "Templates", []string{"Template", "Attribute", "Type"}, rows))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600 (%v)", info.Mode(), err)
	}
	f := open(t, path)
	got := must(f.GetRows("Templates"))(t)
	want := [][]string{{"Template", "Attribute", "Type"}, {"Your details", "", "=1+1"}, {"", "Date of birth", "Date"}}
	same(t, "rows", want, got)
	if formula, _ := f.GetCellFormula("Templates", "C2"); formula != "" {
		t.Errorf("a text has become the formula %q", formula)
	}
	if reports.WriteList(filepath.Join(path, "x.xlsx"), "T", []string{"A"}, nil) == nil {
		t.Error("a workbook was written below a file")
	}
}
