package sheet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/sheet"
)

// FuzzOpen reads any bytes as a file.
func FuzzOpen(f *testing.F) {
	f.Add(workbook(rows(`<row r="2"><c r="A2"><v>1</v></c></row>`)).zip())
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := save(t, data)
		if _, _, err := read(path, sheet.Options{}); err != nil {
			code(t, err, path)
		}
	})
}

// FuzzSheet reads any XML as a sheet, in a sound zip file: the tokenizer and
// all that stands on it. Rows come in order, and two passes give the same.
func FuzzSheet(f *testing.F) {
	f.Add(rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	f.Add(rows(`<row><c t="str"><f>x</f><v>a&amp;<![CDATA[b]]><!-- c --></v></c></row>`))
	f.Add(`<?xml version="1.0"?><x:worksheet xmlns:x='y'><x:sheetData/></x:worksheet>`)
	f.Fuzz(func(t *testing.T, xml string) {
		path := filepath.Join(t.TempDir(), "fuzz.xlsx")
		if err := os.WriteFile(path, workbook(xml).zip(), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := sheet.Open(path, sheet.Options{})
		if err != nil {
			code(t, err, path)
			return
		}
		defer r.Close()
		first, err1 := collect(r)
		second, err2 := collect(r)
		if dump(first) != dump(second) || (err1 == nil) != (err2 == nil) {
			t.Errorf("two passes differ")
		}
		for i := range first {
			if before := r.Sheet().HeaderRow; first[i].Row <= before || i > 0 && first[i].Row <= first[i-1].Row {
				t.Errorf("row %d is out of order", first[i].Row)
			}
		}
	})
}

// FuzzFormat shows numbers in any format.
func FuzzFormat(f *testing.F) {
	f.Add("#,##0.00;[Red]-0", "1234.5")
	f.Add("dd/mm/yyyy hh:mm", "45000.5")
	f.Add("0.0E+0", "-0.00012")
	f.Fuzz(func(t *testing.T, code, value string) {
		got := sheet.Show(code, value)
		if value == "1" && got == "" {
			t.Errorf("nothing is shown in %q", code)
		}
	})
}
