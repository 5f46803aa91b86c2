package e2e

import "testing"

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
	h.at("#columns")
	h.see(`tr[data-column="C"] .goes`, "Notes · Your circumstances")
	h.see(`tr[data-column="C"] .goes`, "Notes · Handler review")
	h.push("button", "Confirm: Notes goes to Notes · Handler review", `tr[data-column="C"]`)
	h.said("Notes · Handler review ← Notes")
}
