package sheet_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var must = testform.NoError

// saveLeads writes a workbook with rows of 20 texts, numbers and dates.
func saveLeads(t *testing.T, rows int) string {
	var xml strings.Builder
	for row := 2; row < rows+2; row++ {
		fmt.Fprintf(&xml, `<row r="%d">`, row)
		for column := range 10 {
			fmt.Fprintf(&xml, `<c t="str"><v>text %d of row %d</v></c><c s="%d"><v>%d</v></c>`, column, row, column%3, row+column)
		}
		xml.WriteString(`</row>`)
	}
	return sheettest.Save(t, "leads.xlsx", sheettest.Workbook(sheettest.Rows(xml.String())).Zip())
}

// What is kept in memory does not grow with the sheet.
func TestMemory(t *testing.T) {
	const rows, limit = 20_000, 8 << 20
	path := saveLeads(t, rows)
	inUse := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before, read := inUse(), 0
	r, err := sheet.Open(path, sheet.Options{})
	must(t, err)
	defer r.Close()
	for _, err := range r.Records() {
		must(t, err)
		if read++; read%(rows/4) == 0 {
			if now := inUse(); now > before+limit {
				t.Errorf("%d bytes are kept after %d rows", now-before, read)
			}
		}
	}
	if read != rows {
		t.Errorf("%d rows were read, want %d", read, rows)
	}
}
