package xlsx_test

import (
	"testing"

	"claimsheet/importer/sheet/sheettest"
)

// FuzzSheet reads any XML as a sheet in a sound zip file. Rows come in order, and two
// passes give the same.
func FuzzSheet(f *testing.F) {
	f.Add(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	f.Add(sheettest.Rows(`<row><c t="str"><f>x</f><v>a&amp;<![CDATA[b]]><!-- c --></v></c></row>`))
	f.Add(`<?xml version="1.0"?><x:worksheet xmlns:x='y'><x:sheetData/></x:worksheet>`)
	f.Fuzz(func(t *testing.T, xml string) {
		s, err := open(sheettest.Workbook(xml).Zip(), options{})
		if err != nil {
			code(t, err)
			return
		}
		first, err1 := sheettest.Collect(s.Records())
		second, err2 := sheettest.Collect(s.Records())
		if sheettest.Dump(first) != sheettest.Dump(second) || (err1 == nil) != (err2 == nil) {
			t.Errorf("two passes differ")
		}
		last := 1 // the header's
		for _, r := range first {
			if r.Row <= last {
				t.Errorf("row %d is out of order", r.Row)
			}
			last = r.Row
		}
	})
}
