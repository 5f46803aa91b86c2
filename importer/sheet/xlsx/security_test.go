package xlsx_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
)

// The tests of this file are the sheet's part of docs/security.md, by the names
// of its items; TestHostile and TestDamagedFile have many more files.

var long = testform.Long

// longOr is the first number with -long, else the second.
func longOr(withLong, without int) int {
	if *long {
		return withLong
	}
	return without
}

// no row is lost without an error: not to a flipped bit in the compressed
// sheet, not to a sheet that is cut after a row.
func TestX1_NoRowIsLostInSilence(t *testing.T) {
	t.Parallel()
	const n = 100
	var xml strings.Builder
	for i := range n {
		fmt.Fprintf(&xml, `<row r="%d"><c r="A%d"><v>%d</v></c></row>`, i+2, i+2, i)
	}
	whole := sheettest.Rows(xml.String())
	good := sheettest.Workbook(whole).Zip()
	_, all, err := read(sheettest.Save(t, "leads.xlsx", good), options{})
	if err != nil || len(all) != n {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	for at := 0; at < len(good); at += longOr(3, 31) {
		damaged := append([]byte(nil), good...)
		damaged[at] ^= 1 << (at % 8)
		if _, got, err := read(sheettest.Save(t, "leads.xlsx", damaged), options{}); err == nil && len(got) != n {
			t.Errorf("a bit flipped at %d: %d rows and no error", at, len(got))
		}
	}
	for i := 0; i < n; i += longOr(1, 9) {
		cut := whole[:strings.Index(whole, fmt.Sprintf(`<row r="%d"`, i+2))]
		if _, got, err := read(sheettest.Save(t, "leads.xlsx", sheettest.Workbook(sheettest.Rows("")).With("xl/worksheets/sheet1.xml", cut).Zip()), options{}); err == nil {
			t.Errorf("cut after row %d: %d rows and no error", i+1, len(got))
		}
	}
}

// a part that says it is a gigabyte is refused by what it says.
func TestX2_Bombs(t *testing.T) {
	t.Parallel()
	good := sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	for name, data := range map[string][]byte{
		"sheet": good.Declaring("xl/worksheets/sheet1.xml", 1<<30), "strings": good.Declaring("xl/sharedStrings.xml", 1<<30), "parts": manyParts(),
	} {
		path := sheettest.Save(t, "leads.xlsx", data)
		_, _, err := read(path, options{})
		if got := code(t, err); got != "workbook-too-large" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// a formula is its stored value; nothing is computed, and nothing that a
// workbook links to is fetched.
func TestX6_FormulasAreNotEvaluated(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	xml := `<row r="2"><c r="A2" t="str"><f>WEBSERVICE("` + server.URL + `")</f><v>kept</v></c><c r="B2"><f>1+1</f><v>7</v></c></row>`
	link := `<?xml version="1.0"?><externalLink><externalBook><sheetNames/></externalBook><a href="` + server.URL + `"/></externalLink>`
	book := sheettest.Workbook(sheettest.Rows(xml)).With("xl/externalLinks/externalLink1.xml", link)
	_, got, err := read(sheettest.Save(t, "leads.xlsx", book.Zip()), options{})
	if err != nil || len(got) != 1 || got[0].Cell(0).Shown != "kept" || got[0].Cell(1).Shown != "7" {
		t.Errorf("%v, %v", got, err)
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests were sent", hits.Load())
	}
}
