package xlsx_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"claimsheet/importer/sheet/sheettest"
)

// hostileFile is a file that must be refused with a problem of a code.
type hostileFile struct {
	name    string
	data    []byte
	want    string
	options options
}

// hostileFiles must be refused every one, in Open or by the pass; none may give
// rows and no error.
func hostileFiles() []hostileFile {
	good := sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	inSheet := func(xml string) []byte { return good.With("xl/worksheets/sheet1.xml", xml).Zip() }
	row := func(xml string) []byte { return inSheet(sheettest.Rows(xml)) }
	named := func(name string, data []byte, want string) hostileFile {
		return hostileFile{name: name, data: data, want: want}
	}
	return []hostileFile{
		named("row 0", row(`<row r="0"/>`), "damaged-workbook"),
		named("row beyond the last", row(`<row r="1048577"/>`), "damaged-workbook"),
		named("row of 2^64+2", row(`<row r="18446744073709551618"/>`), "damaged-workbook"),
		named("duplicate row", row(`<row r="2"><c r="A2"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row>`), "damaged-workbook"),
		named("row in pieces", row(`<row r="2"><c r="A2"><v>1</v></c></row><row r="2"><c r="B2"><v>2</v></c></row>`), "damaged-workbook"),
		named("row again after another", row(`<row r="2"/><row r="3"/><row r="2"/>`), "damaged-workbook"),
		named("rows out of order", row(`<row r="3"/><row r="2"/>`), "damaged-workbook"),
		named("column beyond XFD", row(`<row r="2"><c r="XFE2"/></row>`), "damaged-workbook"),
		named("cell after XFD", row(`<row r="2"><c r="XFD2"/><c/></row>`), "damaged-workbook"),
		named("cell of another row", row(`<row r="2"><c r="A3"/></row>`), "damaged-workbook"),
		named("cell without letters", row(`<row r="2"><c r="2"/></row>`), "damaged-workbook"),
		named("cells out of order", row(`<row r="2"><c r="B2"/><c r="A2"/></row>`), "damaged-workbook"),
		named("duplicate cell", row(`<row r="2"><c r="A2"><v>1</v></c><c r="A2"><v>1</v></c></row>`), "damaged-workbook"),
		named("style -1", row(`<row r="2"><c r="A2" s="-1"/></row>`), "damaged-workbook"),
		named("style beyond the last", row(`<row r="2"><c r="A2" s="3"><v>1</v></c></row>`), "damaged-workbook"),
		named("empty style", row(`<row r="2"><c r="A2" s=""><v>1</v></c></row>`), "damaged-workbook"),
		named("style that is no number", row(`<row r="2"><c r="A2" s="a"/></row>`), "damaged-workbook"),
		named("shared string -1", row(`<row r="2"><c r="A2" t="s"><v>-1</v></c></row>`), "damaged-workbook"),
		named("shared string beyond the last", row(`<row r="2"><c r="A2" t="s"><v>3</v></c></row>`), "damaged-workbook"),
		named("unknown type", row(`<row r="2"><c r="A2" t="z"><v>1</v></c></row>`), "damaged-workbook"),
		named("no number", row(`<row r="2"><c r="A2"><v>twelve</v></c></row>`), "damaged-workbook"),
		named("number beyond the range", row(`<row r="2"><c r="A2"><v>1E400</v></c></row>`), "damaged-workbook"),
		named("neither true nor false", row(`<row r="2"><c r="A2" t="b"><v>2</v></c></row>`), "damaged-workbook"),
		named("text too long", row(`<row r="2"><c r="A2" t="str"><v>`+strings.Repeat("a", 32_768)+`</v></c></row>`), "damaged-workbook"),
		named("control character", row("<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a\x01b</v></c></row>"), "damaged-workbook"),
		named("not UTF-8", row("<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a\xFFb</v></c></row>"), "damaged-workbook"),
		named("unknown entity", row(`<row r="2"><c r="A2" t="str"><v>&bomb;</v></c></row>`), "damaged-workbook"),
		named("surrogate entity", row(`<row r="2"><c r="A2" t="str"><v>&#xD800;</v></c></row>`), "damaged-workbook"),
		named("tags crossed", row(`<row r="2"><c r="A2"></row></c>`), "damaged-workbook"),
		named("tag not closed", row(`<row r="2"><c r="A2" <v>1</v></c></row>`), "damaged-workbook"),
		named("attribute without a value", row(`<row r="2"><c s r="A2"><v>1</v></c></row>`), "damaged-workbook"),
		named("attribute without quotes", row(`<row r=2></row>`), "damaged-workbook"),
		named("deep nesting", row(strings.Repeat("<a>", 1_000)+strings.Repeat("</a>", 1_000)), "damaged-workbook"),
		named("tag without end", row(`<row r="2" x="`+strings.Repeat("a", 4<<20)), "damaged-workbook"),
		named("two sheetData", inSheet(sheettest.Rows("</sheetData><sheetData>")), "damaged-workbook"),
		named("no sheetData", inSheet(`<worksheet></worksheet>`), "damaged-workbook"),
		named("two roots", inSheet(sheettest.Rows("")+sheettest.Rows("")), "damaged-workbook"),
		named("text after the root", inSheet(sheettest.Rows("")+"x"), "damaged-workbook"),
		named("another root", inSheet(`<chartsheet/>`), "damaged-workbook"),
		named("empty part", good.With("xl/worksheets/sheet1.xml", " ").Zip(), "damaged-workbook"),
		named("document type", inSheet(`<!DOCTYPE a [<!ENTITY b "c">]>`+sheettest.Rows("")), "damaged-workbook"),
		named("Latin-1", inSheet(`<?xml version="1.0" encoding="ISO-8859-1"?>`+sheettest.Rows("<row r=\"2\"><c r=\"A2\" t=\"str\"><v>caf\xE9</v></c></row>")), "damaged-workbook"),
		named("UTF-16 that says UTF-8", inSheet("\xFF\xFE"+strings.ReplaceAll(`<?xml version="1.0" encoding="UTF-8"?>`+sheettest.Rows(""), "", "\x00")[1:]), "damaged-workbook"),
		named("CDATA", row(`<row r="2"><c r="A2" t="str"><v>a<![CDATA[b]]></v></c></row>`), "damaged-workbook"),
		named("merged cells upside down", inSheet(strings.Replace(sheettest.Rows(""), "</worksheet>", `<mergeCells><mergeCell ref="B2:A1"/></mergeCells></worksheet>`, 1)), "damaged-workbook"),
		named("row in another element", row(`<AlternateContent><Choice><row r="2"><c r="A2"><v>1</v></c></row></Choice></AlternateContent>`), "damaged-workbook"),
		named("cell in another element", row(`<row r="2"><AlternateContent><Choice><c r="A2"><v>1</v></c></Choice></AlternateContent></row>`), "damaged-workbook"),
		named("value in the wrong case", row(`<row r="2"><c r="A2"><V>1</V></c></row>`), "damaged-workbook"),
		named("value in another element", row(`<row r="2"><c r="A2"><x><v>1</v></x></c></row>`), "damaged-workbook"),
		named("element in a value", row(`<row r="2"><c r="A2"><v>1<x>2</x></v></c></row>`), "damaged-workbook"),
		named("two values", row(`<row r="2"><c r="A2"><v>1</v><v>2</v></c></row>`), "damaged-workbook"),
		named("two texts", row(`<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is><is><t>b</t></is></c></row>`), "damaged-workbook"),
		named("value of an inline text", row(`<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is><v>b</v></c></row>`), "damaged-workbook"),
		named("text in another element", row(`<row r="2"><c r="A2" t="inlineStr"><is><x><t>a</t></x></is></c></row>`), "damaged-workbook"),
		named("text between cells", row(`<row r="2"><c r="A2"><v>1</v></c>12</row>`), "damaged-workbook"),
		named("text between rows", row(`<row r="2"><c r="A2"><v>1</v></c></row>12`), "damaged-workbook"),
		named("text in a cell", row(`<row r="2"><c r="A2">12</c></row>`), "damaged-workbook"),
		named("shared string in the wrong case", good.With("xl/sharedStrings.xml", `<sst><SI><t>a</t></SI><si><t>b</t></si></sst>`).Zip(), "damaged-workbook"),
		named("shared string in another element", good.With("xl/sharedStrings.xml", `<sst><x><si><t>a</t></si></x></sst>`).Zip(), "damaged-workbook"),
		named("alternatives of a cell style without a fallback", good.With("xl/styles.xml", `<styleSheet><cellXfs><AlternateContent><Choice Requires="x"><xf numFmtId="14"/></Choice></AlternateContent></cellXfs></styleSheet>`).Zip(), "damaged-workbook"),
		named("cell style in another element", good.With("xl/styles.xml", `<styleSheet><cellXfs><x><xf/></x><xf numFmtId="14"/></cellXfs></styleSheet>`).Zip(), "damaged-workbook"),
		named("hidden neither true nor false", row(`<row r="2" hidden="True"><c r="A2"><v>1</v></c></row>`), "damaged-workbook"),
		named("date1904 in capitals", good.With("xl/workbook.xml", date1904("TRUE")).Zip(), "damaged-workbook"),
		named("date1904 with spaces", good.With("xl/workbook.xml", date1904(" 1 ")).Zip(), "damaged-workbook"),
		named("sheet of an unknown state", good.With("xl/workbook.xml", `<workbook><sheets><sheet name="S" state="Hidden" r:id="r1"/></sheets></workbook>`).Zip(), "damaged-workbook"),
		named("no sheet part", good.With("xl/worksheets/sheet1.xml", "").Zip(), "damaged-workbook"),
		named("no styles part for a number", sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2" s="1"><v>1</v></c></row>`)).With("xl/styles.xml", "").Zip(), "damaged-workbook"),
		named("no strings part for a text", sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2" t="s"><v>0</v></c></row>`)).With("xl/sharedStrings.xml", "").Zip(), "damaged-workbook"),
		named("visible sheet that points nowhere", good.With("xl/workbook.xml", `<workbook xmlns:r="x"><sheets><sheet name="Code" r:id=""/><sheet name="Leads" r:id="r1"/></sheets></workbook>`).Zip(), "damaged-workbook"),
		named("no workbook part", good.With("xl/workbook.xml", "").Zip(), "damaged-workbook"),
		named("no workbook relations", good.With("xl/_rels/workbook.xml.rels", "").Zip(), "damaged-workbook"),
		named("duplicate parts", good.With("XL/Workbook.xml", "<workbook/>").Zip(), "damaged-workbook"),
		named("part larger than it says", declaring(good, "xl/worksheets/sheet1.xml", 100), "damaged-workbook"),
		named("part smaller than it says", declaring(good, "xl/worksheets/sheet1.xml", 10<<20), "damaged-workbook"),
		named("a zip file", sheettest.Parts{"a.txt": "a"}.Zip(), "not-a-workbook"),
		named("OpenDocument", sheettest.Parts{"mimetype": "a", "content.xml": "<a/>"}.Zip(), "not-a-workbook"),
		named("binary workbook", good.With("_rels/.rels", strings.Replace(good["_rels/.rels"], "workbook.xml", "workbook.bin", 1)).Zip(), "not-a-workbook"),
		named("Word document", good.With("_rels/.rels", strings.Replace(good["_rels/.rels"], "xl/workbook", "word/document", 1)).With("word/document.xml", "<document/>").Zip(), "not-a-workbook"),
		named("zip magic only", []byte("PK\x03\x04"), "damaged-workbook"),
		named("no rows", inSheet(`<worksheet><sheetData/></worksheet>`), "empty-sheet"),
		named("rows without values", inSheet(`<worksheet><sheetData><row r="1"><c r="A1"/></row></sheetData></worksheet>`), "empty-sheet"),
		named("no header row", inSheet(`<worksheet><sheetData><row r="2"><c r="A2"><v>1</v></c></row></sheetData></worksheet>`), "no-header"),
		named("blank header", inSheet(`<worksheet><sheetData><row r="1"><c r="A1" t="str"><v> </v></c></row></sheetData></worksheet>`), "no-header"),
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range hostileFiles() {
		t.Run(tt.name, func(t *testing.T) {
			path := sheettest.Save(t, "leads.xlsx", tt.data)
			_, _, err := read(path, tt.options)
			if got := code(t, err); got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

// date1904 is a workbook part that names its date system like this.
func date1904(value string) string {
	return `<workbook><workbookPr date1904="` + value + `"/><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`
}

// declaring returns the workbook as a file whose directory gives a wrong size for a
// part of 1 MiB.
func declaring(p sheettest.Parts, name string, size uint64) []byte {
	text := make([]byte, 1<<20)
	var packed bytes.Buffer
	d, _ := flate.NewWriter(&packed, flate.DefaultCompression)
	_, _ = d.Write(text)
	_ = d.Close()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(text),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: size,
	})
	_, _ = f.Write(packed.Bytes())
	for other, text := range p.With(name, "") {
		f, _ := w.Create(other)
		_, _ = f.Write([]byte(text))
	}
	_ = w.Close()
	return b.Bytes()
}

func manyParts() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 10_001 {
		_, _ = w.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)})
	}
	_ = w.Close()
	return b.Bytes()
}

// A message about damage names the part and the place, never what is there.
func TestDamageHidesContents(t *testing.T) {
	t.Parallel()
	path := sheettest.Save(t, "leads.xlsx", sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>ann@example.com</v></c></row>`)).Zip())
	_, _, err := read(path, options{})
	if err == nil || strings.Contains(err.Error(), "ann") || !strings.Contains(err.Error(), "sheet1.xml: cell A2") {
		t.Errorf("got %v", err)
	}
}
