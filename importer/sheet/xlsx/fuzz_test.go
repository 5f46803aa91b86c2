package xlsx_test

import (
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
)

// FuzzSheet reads any XML as a sheet in a sound zip file. Rows come in order, and two
// passes give the same.
func FuzzSheet(f *testing.F) {
	f.Add(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	f.Add(sheettest.Rows(`<row><c t="str"><f>x</f><v>a&amp;<![CDATA[b]]><!-- c --></v></c></row>`))
	f.Add(`<?xml version="1.0"?><x:worksheet xmlns:x='y'><x:sheetData/></x:worksheet>`)
	f.Fuzz(func(t *testing.T, xml string) {
		path := filepath.Join(t.TempDir(), "fuzz.xlsx")
		if err := os.WriteFile(path, sheettest.Workbook(xml).Zip(), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := open(path, options{})
		if err != nil {
			code(t, err)
			return
		}
		defer r.Close()
		first, err1 := sheettest.Collect(r.Records())
		second, err2 := sheettest.Collect(r.Records())
		if sheettest.Dump(first) != sheettest.Dump(second) || (err1 == nil) != (err2 == nil) {
			t.Errorf("two passes differ")
		}
		for i := range first {
			if before := r.headerRow; first[i].Row <= before || i > 0 && first[i].Row <= first[i-1].Row {
				t.Errorf("row %d is out of order", first[i].Row)
			}
		}
	})
}

// FuzzCompound reads any bytes as an encrypted workbook.
func FuzzCompound(f *testing.F) {
	testform.OnlyLong(f) // TestEncrypted reads the same files
	f.Add(readOther(f, "encrypted-agile.xlsx"), "password")
	f.Add(readOther(f, "encrypted-libreoffice.xlsx"), "pässword 1")
	f.Add(readOther(f, "old.xls"), "x")
	f.Fuzz(func(t *testing.T, data []byte, password string) {
		path := sheettest.Save(t, "leads.xlsx", append([]byte("\xD0\xCF\x11\xE0"), data[min(4, len(data)):]...))
		if _, _, err := read(path, options{Password: password}); err != nil {
			code(t, err)
		}
	})
}
