package xlsx_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet/sheettest"
)

// Workbooks that are not as the standard has them, or as few programs write them, and that
// Excel reads without a question.
func TestVariants(t *testing.T) {
	t.Parallel()
	one := `<row r="2"><c r="A2"><v>1</v></c></row>`
	good := sheettest.Workbook(sheettest.Rows(one))
	const oneRow = "2 | A number \"1\"\n"
	module := `<sheet name="Module1" sheetId="9" state="veryHidden" r:id=""/>`
	leads := `<sheet name="Leads" sheetId="1" r:id="r1"/>`
	book := func(sheets string) sheettest.Parts {
		return good.With("xl/workbook.xml", `<workbook xmlns:r="x"><sheets>`+sheets+`</sheets></workbook>`)
	}
	styled := func(xml, styles string) sheettest.Parts {
		return sheettest.Workbook(sheettest.Rows(xml)).With("xl/styles.xml", `<styleSheet>`+styles+`</styleSheet>`)
	}
	for _, tt := range []struct {
		name string
		book sheettest.Parts
		ask  string // the sheet's name; "" for the first visible one
		want string
	}{
		{"module sheet before the first", book(module + leads), "", oneRow},
		{"module sheet after the first", book(leads + module), "", oneRow},
		{"sheet by its name behind a module sheet", book(`<sheet name="Old" sheetId="2" state="hidden" r:id="r1"/>` + module + leads), "leads", oneRow},
		{"hidden sheet that points nowhere", book(`<sheet name="Code" state="veryHidden" r:id="r9"/>` + leads), "", oneRow},
		{"rows with formats and no values", sheettest.Workbook(sheettest.Rows(strings.Repeat(`<row s="1"/>`, 50_000) + `<row r="1048576"><c r="A1048576"><v>7</v></c></row>`)), "",
			"1048576 | A number \"7\"\n"},
		{"prefixes, and a byte order mark", sheettest.Workbook("\xEF\xBB\xBF<?xml version='1.0' encoding='utf-8' standalone='yes'?>\n" +
			strings.NewReplacer("</", "</x:", "<", "<x:").Replace(sheettest.Rows(one)) + "\n"), "", oneRow},
		{"a format that newer versions understand, twice", styled(`<row r="2"><c r="A2" s="0"><v>29342</v></c></row>`, `<numFmts><mc:AlternateContent>`+
			`<mc:Choice Requires="x16r2"><numFmt numFmtId="200" formatCode="d\-mmm\-yyyy" x16r2:formatCode16="x"/></mc:Choice>`+
			`<mc:Fallback><numFmt numFmtId="200" formatCode="d\-mmm\-yyyy"/></mc:Fallback></mc:AlternateContent></numFmts><cellXfs><xf numFmtId="200"/></cellXfs>`), "",
			`2 | A date "29342" "1980-05-01" {d\-mmm\-yyyy}` + "\n"},
		{"days from 1904", sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2" s="1"><v>0</v></c><c r="B2" s="1"><v>27880</v></c></row>`)).With("xl/workbook.xml", date1904("1")), "",
			`2 | A date "0" "1904-01-01" {mm-dd-yy} | B date "27880" "1980-05-01" {mm-dd-yy}` + "\n"},
		{"no styles part, and no cell with a style", good.With("xl/styles.xml", ""), "", oneRow},
		{"no strings part, and no cell that points to one", good.With("xl/sharedStrings.xml", ""), "", oneRow},
	} {
		_, all, err := read(tt.book.Zip(), options{Name: tt.ask})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, sheettest.Dump(all)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
