package sheet_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// FuzzCSV reads any bytes as a CSV file. Rows come in order, and two passes give the
// same.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x\ny\"\n\n2,\n"), uint8(0))
	f.Add([]byte("a;b\r\n1;2\r\n"), uint8(1))
	f.Add([]byte("\xFF\xFEa\x00\t\x00b\x00\n\x001\x00"), uint8(2))
	f.Add([]byte("N\xE4me\r1\r"), uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, how uint8) {
		o := sheet.Options{As: "a.csv", Delimiter: []string{"", ",", ";", "\t"}[how%4]}
		if how/4%2 == 1 {
			o.Encoding = "windows-1252"
		}
		r, err := sheet.Open(sheettest.Save(t, "data", data), o)
		if err != nil {
			if p, ok := errors.AsType[problem.Problem](err); !ok || p.Code == "" || strings.Contains(p.Error(), "\n") {
				t.Errorf("%T %q is no problem, has no code, or is more than a line", err, err)
			}
			return
		}
		defer r.Close()
		first, err1 := sheettest.Collect(r.Records())
		second, err2 := sheettest.Collect(r.Records())
		if err1 != nil || err2 != nil {
			t.Fatalf("a file that was found sound gives %v, %v", err1, err2)
		}
		if sheettest.Dump(first) != sheettest.Dump(second) {
			t.Error("two passes differ")
		}
		if !slices.IsSortedFunc(first, func(a, b cell.Record) int { return cmp.Compare(a.Row, b.Row) }) {
			t.Error("rows are out of order")
		}
	})
}
