package xlsx_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/mapping/cell"
)

// isoStyles is a styles part whose cell styles have these formats, from 1.
var isoStyles = []string{"dd/mm/yyyy", "dd/mm/yyyy hh:mm", "yyyy-mm-dd hh:mm:ss", "h:mm AM/PM", "[h]:mm:ss", "[mm]:ss", "0.00", "@"}

func withISOStyles(p sheettest.Parts) sheettest.Parts {
	formats, styles := "", "<xf/>"
	for i, code := range isoStyles {
		formats += fmt.Sprintf(`<numFmt numFmtId="%d" formatCode="%s"/>`, 200+i, code)
		styles += fmt.Sprintf(`<xf numFmtId="%d"/>`, 200+i)
	}
	return p.With("xl/styles.xml", `<styleSheet><numFmts>`+formats+`</numFmts><cellXfs>`+styles+`</cellXfs></styleSheet>`)
}

// Cells of type d, as Excel and other programs write them.
func TestISOCells(t *testing.T) {
	t.Parallel()
	tests := []struct {
		style       int
		value, want string
	}{
		{1, "1980-05-01", `date "29342" "1980-05-01" {dd/mm/yyyy}`},
		{1, "1980-05-01T00:00:00", `date "29342" "1980-05-01" {dd/mm/yyyy}`},
		{1, " 1980-05-01\n", `date "29342" "1980-05-01" {dd/mm/yyyy}`},
		{1, "1980-05-01T00:00:00.000Z", `date "29342" "1980-05-01" {dd/mm/yyyy}`},
		{2, "2014-01-16T15:59:59.99999979045242400", `date "41655.666666666664" "2014-01-16T16:00:00" {dd/mm/yyyy hh:mm}`},
		{3, "2009-05-07T11:01:02.00000024400651375", `date "39940.45905092593" "2009-05-07T11:01:02" {yyyy-mm-dd hh:mm:ss}`},
		{3, "2014-02-14T08:27:48.765Z", `date "41684.35264774306" "2014-02-14T08:27:49" {yyyy-mm-dd hh:mm:ss}`},
		{3, "2020-12-31T23:59:59.9999999999", `date "44197" "2021-01-01T00:00:00" {yyyy-mm-dd hh:mm:ss}`},
		{5, "1980-05-01", `number "29342" {[h]:mm:ss}`},
		{7, "1980-05-01T12:00:00", `number "29342.5" "29342.50" {0.00}`},

		// Without a format of its own it is shown by what it holds.
		{0, "1980-05-01", `date "29342" "1980-05-01" {yyyy-mm-dd}`},
		{0, "1980-05-01T14:30:00", `date "29342.604166666668" "1980-05-01T14:30:00" {yyyy-mm-dd hh:mm:ss}`},
		{8, "1980-05-01", `date "29342" "1980-05-01" {yyyy-mm-dd}`},
		{99, "1980-05-01", `date "29342" "1980-05-01" {yyyy-mm-dd}`},

		{1, "1900-03-01", `date "61" "1900-03-01" {dd/mm/yyyy}`},
		{1, "9999-12-31", `date "2958465" "9999-12-31" {dd/mm/yyyy}`},

		// What is no day count is the text that it is in the file.
		{1, "2014-02-14T08:27:48+01:00", `text "2014-02-14T08:27:48+01:00" {dd/mm/yyyy}`},
		{1, "1899-12-29", `text "1899-12-29" {dd/mm/yyyy}`},
		{1, "1900-02-28", `text "1900-02-28" {dd/mm/yyyy}`},
		{4, "12:00:00", `text "12:00:00" {h:mm AM/PM}`},
		{1, "2023-02-29", `text "2023-02-29" {dd/mm/yyyy}`},
		{1, "24:00:00", `text "24:00:00" {dd/mm/yyyy}`},
		{1, "yesterday", `text "yesterday" {dd/mm/yyyy}`},
		{1, "14/02/2014", `text "14/02/2014" {dd/mm/yyyy}`},
		{5, "PT26H30M0.000S", `text "PT26H30M0.000S" {[h]:mm:ss}`},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d %s", tt.style, tt.value), func(t *testing.T) {
			xml := fmt.Sprintf(`<row r="2"><c r="A2" s="%d" t="d"><v>%s</v></c></row>`, tt.style, tt.value)
			_, all, err := read(sheettest.Save(t, "leads.xlsx", withISOStyles(sheettest.Workbook(sheettest.Rows(xml))).Zip()), options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("2 | A "+tt.want+"\n", sheettest.Dump(all)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A moment in a cell of type d is what the same moment is as a day count, in any
// format and both date systems.
func TestISOCellsAreDayCounts(t *testing.T) {
	t.Parallel()
	path := sheettest.Save(t, "leads.xlsx", nil)
	rapid.Check(t, func(t *rapid.T) {
		date1904 := rapid.Bool().Draw(t, "1904")
		day := rapid.IntRange(61, 2_900_000).Draw(t, "day")
		nanoseconds := rapid.OneOf(rapid.Int64Range(0, 86_400e9-1), rapid.Just(int64(0)), rapid.Map(rapid.Int64Range(1, 3e9), func(n int64) int64 { return 86_400e9 - n })).Draw(t, "nanoseconds")
		epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
		if date1904 {
			epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		at := epoch.AddDate(0, 0, day).Add(time.Duration(nanoseconds))
		serial := strconv.FormatFloat(float64(day)+float64(nanoseconds)/86_400e9, 'f', -1, 64)
		style := rapid.IntRange(1, len(isoStyles)-1).Draw(t, "style")
		xml := fmt.Sprintf(`<row r="2"><c s="%d"><v>%s</v></c><c s="%d" t="d"><v>%s</v></c></row>`, style, serial, style, at.Format("2006-01-02T15:04:05.000000000"))
		book := withISOStyles(sheettest.Workbook(sheettest.Rows(xml)))
		if date1904 {
			book = book.With("xl/workbook.xml", `<workbook><workbookPr date1904="1"/><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`)
		}
		if err := os.WriteFile(path, book.Zip(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, all, err := read(path, options{})
		if err != nil {
			t.Fatal(err)
		}
		number, iso := all[0].Cell(0), all[0].Cell(1)
		a, _ := strconv.ParseFloat(number.Raw, 64)
		b, err := strconv.ParseFloat(iso.Raw, 64)
		if err != nil || math.Abs(a-b) > 1e-9 {
			t.Fatalf("%s is %s, want %s", at, iso.Raw, number.Raw)
		}
		iso.Raw = number.Raw
		if diff := cmp.Diff(number, iso); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A cell of type d in a workbook without styles is shown by what it holds.
func TestISOCellWithoutStyles(t *testing.T) {
	t.Parallel()
	p := sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2" s="1" t="d"><v>1980-05-01</v></c></row>`)).With("xl/styles.xml", "")
	_, all, err := read(sheettest.Save(t, "leads.xlsx", p.Zip()), options{})
	if err != nil || all[0].Cell(0) != (cell.Cell{Kind: cell.Date, Raw: "29342", Shown: "1980-05-01", Format: "yyyy-mm-dd"}) {
		t.Errorf("got %s, %v", sheettest.Dump(all), err)
	}
}
