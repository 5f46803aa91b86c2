package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// twoSheets is a place with two sheets of the same columns, whose rows have the same
// numbers; rows 4 and 6 of the second one have errors, and row 40 of the first one.
func twoSheets(t *testing.T) *place {
	t.Helper()
	p := first(t)
	for s, name := range []string{"leads.xlsx", "more.xlsx"} {
		rows := [][]string{{"Lead no", "First name", "E-mail", "DOB", "Post code", "Agreement no", "Lender", "Amount"}}
		for i := range 50 {
			amount := "100"
			if s == 0 && i+2 == 40 || s == 1 && (i+2 == 4 || i+2 == 6) {
				amount = "none"
			}
			rows = append(rows, []string{fmt.Sprint("L", s, "-", i), fmt.Sprint("Jo", s, "-", i+2), fmt.Sprintf("jo%d-%d@example.net", s, i), "01/02/1980", "LS1 4AP", fmt.Sprint("A", s, "-", i), "LLOY", amount})
		}
		p.sheet(name, rows)
	}
	text := replaceOnce(t, p.read("mapping.yaml"), "  name: Leads  ", "  name: Sheet1  ")
	p.write("mapping.yaml", replaceOnce(t, text, "{column: DOB, type: Date, output: date}", "First name"))
	return p
}

// TestNextWithErrors goes from one row with errors to the next, over two sheets, in all rows
// and in those of a filter, as quickly as keys are pressed.
func TestNextWithErrors(t *testing.T) {
	t.Parallel()
	p := twoSheets(t)
	h := hand{browser: newBrowser(t)}
	h.open(p.studio("-e", "sandbox", "leads.xlsx", "more.xlsx").link)
	h.see(".sum", "3 with errors")
	for _, view := range []string{"#rows", "#rows?column=H", "#rows?show=errors&column=H"} {
		h.at(view)
		h.see("[role=gridcell]", "L0")
		h.click("cell", map[bool]string{true: "L0-38", false: "L0-0"}[view == "#rows?show=errors&column=H"], "")
		if view != "#rows?show=errors&column=H" {
			h.press("n")
		}
		h.see(".cell-details", "40 leads.xlsx")
		h.press("n")
		h.see(".cell-details", "H4 more.xlsx")
		h.press("n")
		h.see(".cell-details", "H6 more.xlsx")
		h.press("n")
		h.said("No row below this one has errors.")
	}
	h.at("#rows")
	h.see("[role=gridcell]", "L0-0")
	h.click("cell", "L0-0", "")
	h.press("nnn")
	h.see(".cell-details", "H6 more.xlsx")
	h.focused("none", "going to the row")
	h.press(kb.Enter)
	h.see("h1", "What will be sent")
	h.see(".why", "L1-4")
	h.link("Row 6 of more.xlsx")
	h.see(".cell-details", "A6 more.xlsx · Sheet1 L1-4")
	h.at("#client")
	h.choose("In", "more.xlsx")
	h.write("the client of row", "5")
	h.button("Show")
	h.see(".why", "L1-3")

	h.at("#rows?row=6&table=1")
	h.see(".cell-details", "A6 more.xlsx · Sheet1 L1-4")
}
