package xlsx_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/mapping/cell"
)

// hostileFiles must be refused with a problem of a code, in Open or by the pass; none may
// give rows and no error.
func hostileFiles() map[string]map[string][]byte {
	good := sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	inSheet := func(xml string) []byte { return good.With("xl/worksheets/sheet1.xml", xml).Zip() }
	row := func(xml string) []byte { return inSheet(sheettest.Rows(xml)) }
	return map[string]map[string][]byte{
		"damaged-workbook": {
			"row 0":                            row(`<row r="0"/>`),
			"row beyond the last":              row(`<row r="1048577"/>`),
			"duplicate row":                    row(`<row r="2"><c r="A2"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row>`),
			"rows out of order":                row(`<row r="3"/><row r="2"/>`),
			"column beyond XFD":                row(`<row r="2"><c r="XFE2"/></row>`),
			"cell after XFD":                   row(`<row r="2"><c r="XFD2"/><c/></row>`),
			"cell of another row":              row(`<row r="2"><c r="A3"/></row>`),
			"cell without letters":             row(`<row r="2"><c r="2"/></row>`),
			"cells out of order":               row(`<row r="2"><c r="B2"/><c r="A2"/></row>`),
			"style -1":                         row(`<row r="2"><c r="A2" s="-1"/></row>`),
			"style beyond the last":            row(`<row r="2"><c r="A2" s="3"><v>1</v></c></row>`),
			"empty style":                      row(`<row r="2"><c r="A2" s=""><v>1</v></c></row>`),
			"shared string -1":                 row(`<row r="2"><c r="A2" t="s"><v>-1</v></c></row>`),
			"shared string beyond the last":    row(`<row r="2"><c r="A2" t="s"><v>3</v></c></row>`),
			"unknown type":                     row(`<row r="2"><c r="A2" t="z"><v>1</v></c></row>`),
			"no number":                        row(`<row r="2"><c r="A2"><v>twelve</v></c></row>`),
			"number beyond the range":          row(`<row r="2"><c r="A2"><v>1E400</v></c></row>`),
			"neither true nor false":           row(`<row r="2"><c r="A2" t="b"><v>2</v></c></row>`),
			"text too long":                    row(`<row r="2"><c r="A2" t="str"><v>` + strings.Repeat("a", 32_768) + `</v></c></row>`),
			"control character":                row("<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a\x01b</v></c></row>"),
			"not UTF-8":                        row("<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a\xFFb</v></c></row>"),
			"unknown entity":                   row(`<row r="2"><c r="A2" t="str"><v>&bomb;</v></c></row>`),
			"surrogate entity":                 row(`<row r="2"><c r="A2" t="str"><v>&#xD800;</v></c></row>`),
			"tags crossed":                     row(`<row r="2"><c r="A2"></row></c>`),
			"tag not closed":                   row(`<row r="2"><c r="A2" <v>1</v></c></row>`),
			"attribute without a value":        row(`<row r="2"><c s r="A2"><v>1</v></c></row>`),
			"attribute without quotes":         row(`<row r=2></row>`),
			"deep nesting":                     row(strings.Repeat("<a>", 1_000) + strings.Repeat("</a>", 1_000)),
			"tag without end":                  row(`<row r="2" x="` + strings.Repeat("a", 4<<20)),
			"two sheetData":                    inSheet(sheettest.Rows("</sheetData><sheetData>")),
			"no sheetData":                     inSheet(`<worksheet></worksheet>`),
			"two roots":                        inSheet(sheettest.Rows("") + sheettest.Rows("")),
			"text after the root":              inSheet(sheettest.Rows("") + "x"),
			"another root":                     inSheet(`<chartsheet/>`),
			"empty part":                       good.With("xl/worksheets/sheet1.xml", " ").Zip(),
			"document type":                    inSheet(`<!DOCTYPE a [<!ENTITY b "c">]>` + sheettest.Rows("")),
			"UTF-16 that says UTF-8":           inSheet("\xFF\xFE" + strings.ReplaceAll(`<?xml version="1.0" encoding="UTF-8"?>`+sheettest.Rows(""), "", "\x00")[1:]),
			"CDATA":                            row(`<row r="2"><c r="A2" t="str"><v>a<![CDATA[b]]></v></c></row>`),
			"merged cells upside down":         inSheet(strings.Replace(sheettest.Rows(""), "</worksheet>", `<mergeCells><mergeCell ref="B2:A1"/></mergeCells></worksheet>`, 1)),
			"row in another element":           row(`<AlternateContent><Choice><row r="2"><c r="A2"><v>1</v></c></row></Choice></AlternateContent>`),
			"value in the wrong case":          row(`<row r="2"><c r="A2"><V>1</V></c></row>`),
			"element in a value":               row(`<row r="2"><c r="A2"><v>1<x>2</x></v></c></row>`),
			"two values":                       row(`<row r="2"><c r="A2"><v>1</v><v>2</v></c></row>`),
			"two texts":                        row(`<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is><is><t>b</t></is></c></row>`),
			"value of an inline text":          row(`<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is><v>b</v></c></row>`),
			"text in another element":          row(`<row r="2"><c r="A2" t="inlineStr"><is><x><t>a</t></x></is></c></row>`),
			"text between cells":               row(`<row r="2"><c r="A2"><v>1</v></c>12</row>`),
			"text between rows":                row(`<row r="2"><c r="A2"><v>1</v></c></row>12`),
			"text in a cell":                   row(`<row r="2"><c r="A2">12</c></row>`),
			"shared string in the wrong case":  good.With("xl/sharedStrings.xml", `<sst><SI><t>a</t></SI><si><t>b</t></si></sst>`).Zip(),
			"shared string in another element": good.With("xl/sharedStrings.xml", `<sst><x><si><t>a</t></si></x></sst>`).Zip(),
			"alternatives of a cell style without a fallback": good.With("xl/styles.xml", `<styleSheet><cellXfs><AlternateContent><Choice Requires="x"><xf numFmtId="14"/></Choice></AlternateContent></cellXfs></styleSheet>`).Zip(),
			"cell style in another element":                   good.With("xl/styles.xml", `<styleSheet><cellXfs><x><xf/></x><xf numFmtId="14"/></cellXfs></styleSheet>`).Zip(),
			"hidden neither true nor false":                   row(`<row r="2" hidden="True"><c r="A2"><v>1</v></c></row>`),
			"date1904 in capitals":                            good.With("xl/workbook.xml", date1904("TRUE")).Zip(),
			"sheet of an unknown state":                       good.With("xl/workbook.xml", `<workbook><sheets><sheet name="S" state="Hidden" r:id="r1"/></sheets></workbook>`).Zip(),
			"no sheet part":                                   good.With("xl/worksheets/sheet1.xml", "").Zip(),
			"no styles part for a number":                     sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2" s="1"><v>1</v></c></row>`)).With("xl/styles.xml", "").Zip(),
			"no strings part for a text":                      sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2" t="s"><v>0</v></c></row>`)).With("xl/sharedStrings.xml", "").Zip(),
			"visible sheet that points nowhere":               good.With("xl/workbook.xml", `<workbook xmlns:r="x"><sheets><sheet name="Code" r:id=""/><sheet name="Leads" r:id="r1"/></sheets></workbook>`).Zip(),
			"no workbook part":                                good.With("xl/workbook.xml", "").Zip(),
			"no workbook relations":                           good.With("xl/_rels/workbook.xml.rels", "").Zip(),
			"duplicate parts":                                 good.With("XL/Workbook.xml", "<workbook/>").Zip(),
			"part larger than it says":                        declaring(good, "xl/worksheets/sheet1.xml", zeros, 100),
			"part smaller than it says":                       declaring(good, "xl/worksheets/sheet1.xml", zeros, 10<<20),
			"zip magic only":                                  []byte("PK\x03\x04"),
			"row with more than 16 MiB of text":               row(`<row r="2">` + strings.Repeat(`<c t="str"><v>`+digits(30_000)+`</v></c>`, 600) + `</row>`),
			"more merged cells over a row than 1,000":         inSheet(merged(1_001, func(i int) string { return fmt.Sprintf("%[1]s1:%[1]s9", cell.ColumnName(i)) })),
			"more sheets than parts":                          good.With("xl/workbook.xml", `<workbook xmlns:r="x"><sheets>`+strings.Repeat(`<sheet name="s" r:id="x" state="hidden"/>`, 10_001)+`</sheets></workbook>`).Zip(),
			"more relations than parts": good.With("xl/_rels/workbook.xml.rels", `<Relationships>`+times(10_001, func(i int) string {
				return fmt.Sprintf(`<Relationship Id="r%d" Type="x" Target="y"/>`, i)
			})+`</Relationships>`).Zip(),
		},
		"not-a-workbook": {
			"a zip file":      sheettest.Parts{"a.txt": "a"}.Zip(),
			"OpenDocument":    sheettest.Parts{"mimetype": "a", "content.xml": "<a/>"}.Zip(),
			"binary workbook": good.With("_rels/.rels", strings.Replace(good["_rels/.rels"], "workbook.xml", "workbook.bin", 1)).Zip(),
			"Word document":   good.With("_rels/.rels", strings.Replace(good["_rels/.rels"], "xl/workbook", "word/document", 1)).With("word/document.xml", "<document/>").Zip(),
		},
		"empty-sheet": {
			"no rows":             inSheet(`<worksheet><sheetData/></worksheet>`),
			"rows without values": inSheet(`<worksheet><sheetData><row r="1"><c r="A1"/></row></sheetData></worksheet>`),
		},
		"no-header": {
			"no header row": inSheet(`<worksheet><sheetData><row r="2"><c r="A2"><v>1</v></c></row></sheetData></worksheet>`),
			"blank header":  inSheet(`<worksheet><sheetData><row r="1"><c r="A1" t="str"><v> </v></c></row></sheetData></worksheet>`),
		},
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for want, files := range hostileFiles() {
		for name, data := range files {
			_, all, err := read(data, options{})
			if got := code(t, err); got != want {
				t.Errorf("%s: got %q (%v) after %d rows, want %q", name, got, err, len(all), want)
			}
		}
	}
}

// date1904 is a workbook part that names its date system like this.
func date1904(value string) string {
	return `<workbook><workbookPr date1904="` + value + `"/><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`
}

// declaring returns the workbook as a file with this text in a part, whose directory gives
// another size for it.
func declaring(p sheettest.Parts, name, text string, size uint64) []byte {
	var packed, b bytes.Buffer
	d, _ := flate.NewWriter(&packed, flate.BestSpeed)
	_, _ = io.WriteString(d, text)
	_ = d.Close()
	w := zip.NewWriter(&b)
	f, _ := w.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE([]byte(text)),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: size,
	})
	_, _ = f.Write(packed.Bytes())
	for other, text := range p.With(name, "") {
		f, _ := w.Create(other)
		_, _ = io.WriteString(f, text)
	}
	_ = w.Close()
	return b.Bytes()
}

// zeros is a text that packs to almost nothing.
var zeros = strings.Repeat("\x00", 1<<20)

// digits returns a text that packs to half of it at most.
func digits(n int) string {
	text, source := make([]byte, n), rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = '0' + byte(source.IntN(10))
	}
	return string(text)
}

// merged is a worksheet of two rows with n merged cells.
func merged(n int, ref func(int) string) string {
	return strings.Replace(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`), "</worksheet>", "<mergeCells>"+times(n, func(i int) string {
		return `<mergeCell ref="` + ref(i) + `"/>`
	})+"</mergeCells></worksheet>", 1)
}

// times joins n parts of an XML text.
func times(n int, part func(int) string) string {
	var xml strings.Builder
	for i := range n {
		xml.WriteString(part(i))
	}
	return xml.String()
}

// A message about damage names the part and the place, never what is there.
func TestDamageHidesContents(t *testing.T) {
	t.Parallel()
	data := sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>ann@example.com</v></c></row>`)).Zip()
	_, _, err := read(data, options{})
	if err == nil || strings.Contains(err.Error(), "ann") || !strings.Contains(err.Error(), "sheet1.xml: cell A2") {
		t.Errorf("got %v", err)
	}
}
