package e2e

import "testing"

// TestMistakes mends a mapping with twelve mistakes on a sheet with 30 columns, each where
// the page shows it, and never touches the text of the file. The comments stay.
func TestMistakes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "importer/cli/studio/e2e/testdata/mistakes.yaml")
	messySheet(p, "03/04/2024", "N/A", "", "11/12/2023")
	p.write("mapping.yaml", p.read("mistakes.yaml"))
	h := p.page("leads.xlsx")

	// 1: the wrong row names the columns.
	h.view("The sheet")
	h.button("Row 4 names the columns")
	h.said("Row 4 names the columns")

	// Mistakes of the mapping itself: the first of the list leads to its place.
	mend := func(message string) {
		t.Helper()
		h.view("Try it")
		h.see(".problems > li:first-child", message)
		h.push("link", "Fix it", ".problems > li:first-child")
		h.see(".panel", "")
	}
	mend("has no workflow template identifier") // 2
	h.write("Workflow template identifier", "WF-2026")
	h.use("Use this", "Workflow template identifier ← WF-2026")
	mend("expression ends before it is complete") // 3
	h.write("Formula", `col("Addr 1") + ", " + col("Town")`)
	h.see(".preview", "1 High Street, Leeds")
	h.use("Use this", "Home address · Your details ←")
	mend("has no column “Postcode”") // 4
	h.pick("Column", "post code", "M · Post code…")
	h.use("Use this", "Postcode · Your details ← Post code")
	mend("has 2 columns called “Notes”") // 5
	h.pick("Column", "source", "C · Source…")
	h.use("Use this", "Source · Your details ← Source")
	mend("has no attribute “Reg number”") // 6
	h.use("Take away", "Reg number · Vehicle details taken away")
	h.view("Columns")
	h.push("button", "Accept: Vehicle reg goes to Registration…", `tr[data-column="V"]`)
	h.said("Registration · Vehicle details ← Vehicle reg")

	// Mistakes of cells, each in its column.
	h.view("Fields of the service")
	h.target("/client/key") // 7: rows of one client disagree
	h.see(".editor [role=status]", "5 clients with rows that disagree")
	h.inPanel("Remove Surname")
	h.pick("Column", "lead", "A · Lead ref…")
	h.use("Use this", "Identifies the client ← Lead ref")
	h.see(".editor [role=status]", "41 rows → 20 clients")
	h.gone(".editor [role=status] .warn-text")

	h.view("Columns")
	h.push("button", "With errors…", ".choice")
	h.column("I") // 8: phone numbers without a country
	h.write("Country of numbers without one", "GB")
	h.use("Use this", "phone ← Tel (mobile)")
	h.column("AD") // 9: dates that can be read in two ways
	h.see(`[aria-label="dd/mm/yyyy"]`, "every row can be read so")
	h.see(`[aria-label="mm/dd/yyyy"]`, "every row can be read so")
	h.use("Dates are dd/mm/yyyy", "Settled on · Agreement details: dates are dd/mm/yyyy")
	h.column("Y") // 10: a text that is neither yes nor no
	h.choose("“maybe” means", "No, not ticked")
	h.use("Use it", "Consent to contact · Your details: 1 text explained")
	h.column("O") // 11: a text that is not in the table
	h.write("“BARC” means", "Barclays")
	h.use("Use it", "Lender · Agreement details: 1 text explained")
	h.column("G") // 12: the wrong date format, and a day that no calendar has
	h.use("Dates are dd/mm/yyyy", "Date of birth · Your details: dates are dd/mm/yyyy")
	h.use("Leave empty: 31/02/1984", "“31/02/1984” counts as empty")

	h.see(".sum", "40 of 40 rows usable · 1 left out · 20 clients")
	h.button("Save")
	h.said("Saved to mapping.yaml.")
	p.golden("mapping.yaml", "mended.yaml", true)
	p.isClean()
}
