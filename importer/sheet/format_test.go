package sheet_test

import (
	"testing"

	"claimsheet/importer/sheet"
)

// Excel writes a format that only newer versions understand twice.
func TestFormatInAlternatives(t *testing.T) {
	styles := `<styleSheet xmlns:mc="x"><numFmts><mc:AlternateContent><mc:Choice Requires="x16r2"><numFmt numFmtId="200" formatCode="[$-409]d\-mmm\-yyyy" x16r2:formatCode16="x"/></mc:Choice>` +
		`<mc:Fallback><numFmt numFmtId="200" formatCode="[$-409]d\-mmm\-yyyy"/></mc:Fallback></mc:AlternateContent></numFmts><cellXfs><xf numFmtId="200"/></cellXfs></styleSheet>`
	p := workbook(rows(`<row r="2"><c r="A2" s="0"><v>29342</v></c></row>`)).with("xl/styles.xml", styles)
	_, all, err := read(save(t, p.zip()), sheet.Options{})
	if err != nil || all[0].Cell(0).Shown != "1980-05-01" {
		t.Error(dump(all), err)
	}
}

func TestDate1904(t *testing.T) {
	p := workbook(rows(`<row r="2"><c r="A2" s="1"><v>0</v></c><c r="B2" s="1"><v>27880</v></c></row>`)).with("xl/workbook.xml",
		`<workbook><workbookPr date1904="1"/><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`)
	s, all, err := read(save(t, p.zip()), sheet.Options{})
	if err != nil || !s.Date1904 {
		t.Fatal(err, s)
	}
	if a, b := all[0].Cell(0).Shown, all[0].Cell(1).Shown; a != "1904-01-01" || b != "1980-05-01" {
		t.Errorf("got %s, %s", a, b)
	}
}
