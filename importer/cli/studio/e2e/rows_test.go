package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestNextWithErrors goes from one row with errors to the next, in all rows and in those of
// a filter. Of a long sheet only the rows that can be seen are fetched and drawn.
func TestNextWithErrors(t *testing.T) {
	t.Parallel()
	p := first(t)
	rows := [][]string{{"Lead no", "First name", "E-mail", "DOB", "Post code", "Agreement no", "Lender", "Amount"}}
	for row := 2; row < 1000; row++ {
		amount := "100"
		if row == 4 || row == 6 || row == 990 {
			amount = "none"
		}
		rows = append(rows, []string{fmt.Sprint("L", row), fmt.Sprint("Jo", row), fmt.Sprintf("jo%d@example.net", row), "01/02/1980", "LS1 4AP", fmt.Sprint("A", row), "LLOY", amount})
	}
	p.sheet("leads.xlsx", rows)
	text := replaceOnce(t, p.read("mapping.yaml"), "  name: Leads  ", "  name: Sheet1  ")
	p.write("mapping.yaml", replaceOnce(t, text, "{column: DOB, type: Date, output: date}", "First name"))
	h := p.page("leads.xlsx")
	h.see(".sum", "3 with errors")
	for _, view := range []string{"#rows", "#rows?column=H", "#rows?show=errors&column=H"} { // in this order: a view that is shown again is not at its top
		begin := "L2"
		if strings.Contains(view, "show=errors") {
			begin = "L4"
		}
		h.shows(view, "[role=gridcell]", begin)
		h.click("cell", begin, "")
		if begin == "L2" {
			h.press("n")
			h.see(".cell-details", "H4")
		}
		h.press("n")
		h.see(".cell-details", "H6")
		h.press("n")
		h.see(".cell-details", "H990")
		h.press("n")
		h.said("No row below this one has errors.")
	}
	h.shows("#rows", "[role=gridcell]", "L2")
	h.click("cell", "L2", "")
	for _, at := range []string{"H4", "H6", "H990"} {
		h.press("n")
		h.see(".cell-details", at)
	}
	if n := h.count("[role=gridcell]"); n > 1000 {
		t.Errorf("%d of 8,000 cells are drawn", n)
	}
	if bytes := evaluate[int](h.browser, `Math.max(...performance.getEntriesByType("resource").filter(e => e.name.includes("/api/rows")).map(e => e.decodedBodySize))`); bytes > 60_000 {
		t.Errorf("an answer with rows has %d bytes", bytes)
	}
	h.focused("none", "going to the row")
	h.press(kb.Enter)
	h.see("h1", "What will be sent")
	h.see(".why", "L990")
	h.push("link", "Row 990", ".why")
	h.see(".cell-details", "A990 L990")
	h.at("#client")
	h.write("Client of row", "5")
	h.button("Show")
	h.see(".why", "L5")
}

// TestFoundInARun: what a run found leads to the rows of the sheet, not to those of the
// workbook that the run has written.
func TestFoundInARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("leads.csv", "Leads of November\n\nLead no,E-mail,Notes\n1,ann@example.com,\n2,tom@example,\n3,kim@example.com,rang twice\n")
	p.write("mapping.yaml", `name: november
api: v2
sheet: {header_row: 3}
client:
  key: Lead no
  lookup: {email: {column: E-mail, type: Email}}
  existing_activities: send
  fields: {email: {column: E-mail, type: Email}}
`)
	h := p.page("leads.csv")
	h.at("#try")
	h.button("Run into the sandbox")
	h.see("#job-title", "Run into the sandbox: Done, with mistakes in the sheet")
	h.see(".job .problems", "Row 5")
	h.push("link", "Fix it for all rows", ".job")
	h.see(`tr.chosen[data-column="B"]`, "E-mail")

	// A column with two places that are as likely shows both; nothing is chosen by its order.
	h.shows("#columns", `tr[data-column="C"] .goes`, "Notes · Your circumstances")
	h.see(`tr[data-column="C"] .goes`, "Notes · Handler review")
	h.push("button", "Confirm: Notes goes to Notes · Handler review", `tr[data-column="C"]`)
	h.said("Notes · Handler review ← Notes")
}
