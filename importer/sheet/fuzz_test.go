package sheet_test

import (
	"strings"
	"testing"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
)

// FuzzOpen reads any bytes as a file.
func FuzzOpen(f *testing.F) {
	f.Add(sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`)).Zip())
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := sheettest.Save(t, "leads.xlsx", data)
		if _, _, err := read(path, sheet.Options{}); err != nil {
			code(t, err, path)
		}
	})
}
