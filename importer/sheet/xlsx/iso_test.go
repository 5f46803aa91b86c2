package xlsx_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet/sheettest"
)

// Cells of type d, as Excel and other programs write them.
func TestISOCells(t *testing.T) {
	t.Parallel()
	formats, styles := "", "<xf/>" // the cell styles have these formats, from 1
	for i, code := range []string{"dd/mm/yyyy", "dd/mm/yyyy hh:mm", "yyyy-mm-dd hh:mm:ss", "h:mm AM/PM", "[h]:mm:ss", "[mm]:ss", "0.00", "@"} {
		formats += fmt.Sprintf(`<numFmt numFmtId="%d" formatCode="%s"/>`, 200+i, code)
		styles += fmt.Sprintf(`<xf numFmtId="%d"/>`, 200+i)
	}
	parts := `<styleSheet><numFmts>` + formats + `</numFmts><cellXfs>` + styles + `</cellXfs></styleSheet>`
	tests := []struct {
		style       int
		value, want string
	}{
		{1, "1980-05-01", `date "29342" "1980-05-01" {dd/mm/yyyy}`},
		{1, "1980-05-01T00:00:00", `date "29342" "1980-05-01" {dd/mm/yyyy}`},
		{1, " 1980-05-01\n", `date "29342" "1980-05-01" {dd/mm/yyyy}`},
		{2, "2014-01-16T15:59:59.99999979045242400", `date "41655.666666666664" "2014-01-16T16:00:00" {dd/mm/yyyy hh:mm}`},
		{3, "2014-02-14T08:27:48.765Z", `date "41684.35264774306" "2014-02-14T08:27:49" {yyyy-mm-dd hh:mm:ss}`},
		{3, "2020-12-31T23:59:59.9999999999", `date "44197" "2021-01-01T00:00:00" {yyyy-mm-dd hh:mm:ss}`},
		{5, "1980-05-01", `number "29342" {[h]:mm:ss}`},
		{7, "1980-05-01T12:00:00", `number "29342.5" "29342.50" {0.00}`},

		// Without a format of its own it is shown by what it holds.
		{0, "1980-05-01", `date "29342" "1980-05-01" {yyyy-mm-dd}`},
		{3, "2021-01-01T10:10Z", `date "44197.42361111111" "2021-01-01T10:10:00" {yyyy-mm-dd hh:mm:ss}`},
		{0, "1980-05-01T14:30:00", `date "29342.604166666668" "1980-05-01T14:30:00" {yyyy-mm-dd hh:mm:ss}`},
		{8, "1980-05-01", `date "29342" "1980-05-01" {yyyy-mm-dd}`},

		{1, "1900-03-01", `date "61" "1900-03-01" {dd/mm/yyyy}`},

		// What is no day count is the text that it is in the file.
		{1, "2014-02-14T08:27:48+01:00", `text "2014-02-14T08:27:48+01:00" {dd/mm/yyyy}`},
		{1, "1900-02-28", `text "1900-02-28" {dd/mm/yyyy}`},
		{4, "12:00:00", `text "12:00:00" {h:mm AM/PM}`},
		{1, "2023-02-29", `text "2023-02-29" {dd/mm/yyyy}`},
		{5, "PT26H30M0.000S", `text "PT26H30M0.000S" {[h]:mm:ss}`},
	}
	for _, tt := range tests {
		xml := fmt.Sprintf(`<row r="2"><c r="A2" s="%d" t="d"><v>%s</v></c></row>`, tt.style, tt.value)
		_, all, err := read(sheettest.Workbook(sheettest.Rows(xml)).With("xl/styles.xml", parts).Zip(), options{})
		if diff := cmp.Diff("2 | A "+tt.want+"\n", sheettest.Dump(all)); diff != "" || err != nil {
			t.Errorf("%d %s: %v %s", tt.style, tt.value, err, diff)
		}
	}
}
