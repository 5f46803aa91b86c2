package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestOptions shows what the service takes, and what is not among it.
func TestOptions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("leads.csv", "No,Lender,Kind\n1,Lloyds,C\n2,Lloyds Bank,C\n3,Lloyds,C\n4,Lloyds bank,L\n5,Lloyds Bank,\n")
	p.write("templates.json", `[{"id": "10000000-0000-4000-8000-000000000001", "name": "Agreement", "activityAttributeTemplates": [
  {"id": "11000000-0000-4000-8000-000000000001", "name": "Lender", "dataType": "DropDown", "options": ["Lloyds", "Barclays"]},
  {"id": "11000000-0000-4000-8000-000000000002", "name": "Kind", "dataType": "DropDown", "options": ["Card", "Loan"]},
  {"id": "11000000-0000-4000-8000-000000000003", "name": "Agreed", "dataType": "Checkbox"}]}]`)
	p.write("mapping.yaml", "name: options\napi: v2\nclient: {key: No, existing: create, fields: {no: No}}\nworkflow: {name: W, template_identifier: WF}\nactivities:\n"+
		"  - template: Agreement\n    attributes:\n      Lender: Lender\n      Kind: {column: Kind, values: {C: Card, L: Loans}}\n      Agreed: {value: true}\n")
	h := p.page("--templates", "templates.json", "leads.csv")

	h.shows("#targets?at=/activities/0/attributes/Kind", ".allowed", "The service takes: “Card”, “Loan”.")
	h.see(".panel", "Kind")
	h.choose("“L” means", "Loan")
	h.use("Use it", "Kind · Agreement: 1 text explained")
	h.inPanel("How it is read")
	h.choose("An empty cell is sent as", "Card")
	h.use("Use this", "Kind · Agreement ← Kind")
	h.has("default: Card")

	h.shows("#targets?at=/activities/0/attributes/Lender", ".values", "2 texts not matched")
	for _, text := range []string{"Lloyds Bank", "Lloyds bank"} {
		h.find("select", "“"+text+"” means", "")
		evaluate[bool](h.browser, `(studioFound.value = '"Lloyds"', studioFound.dispatchEvent(new Event("change", {bubbles: true})), true)`)
	}
	h.see(".values", "Use these 2")
	h.press("s", ctrl)
	p.saved("Lloyds Bank: Lloyds", "Lloyds bank: Lloyds", "Lloyds: Lloyds")

	// A constant, and a choice with what it does.
	h.at("#targets?at=/activities/0/attributes/Agreed")
	h.choose("Value for everyone", "No, not ticked")
	h.press(kb.Enter)
	h.inPanel("Use this")
	h.has("Agreed: {value: false}")
	h.shows("#targets?at=/client/existing", ".choices", "No client is created twice")
	h.mark("radio", "Leave them out", ".panel")
	h.use("Use this", "What to do with known clients ← Leave them out")
	h.has("existing: skip")
}

// TestWays makes a value in other ways, looks at them without a change, sets what is
// chosen from few, and changes the order of activities.
func TestWays(t *testing.T) {
	t.Parallel()
	h := first(t).page("leads.xlsx")
	h.at("#targets?at=/activities/0/attributes/Postcode")
	h.mark("radio", "Formula", ".panel")
	h.pick("Insert a column", "e-mail", "C · E-mail…")
	h.see(".panel textarea", `col("E-mail")`)
	h.focused("Formula", "inserting a column")
	h.mark("radio", "Text from columns", ".panel")
	h.see(".panel textarea", "{Post code}")
	h.mark("radio", "Formula", ".panel")
	h.see(".panel textarea", `col("E-mail")`)
	h.mark("radio", "Columns joined", ".panel")
	h.pick("Add a column", "e-mail", "C · E-mail…")
	h.inPanel("Move E-mail up")
	h.typing("Between them", " / ")
	h.see(".preview", " / ")
	h.inPanel("Use this")
	h.has(`{join: [E-mail, Post code], with: " / "}`)
	h.mark("radio", "The same for everyone", ".panel")
	h.mark("radio", "Columns joined", ".panel")
	if !evaluate[bool](h.browser, `document.querySelector(".panel .main").getAttribute("aria-disabled") === "true"`) {
		t.Error("when another way was looked at, there is something to use")
	}
	h.at("#targets?at=/sheet/numbers")
	h.mark("radio", "1.234,56", ".panel")
	h.use("Use this", "How numbers are written ← 1.234,56")
	h.at("#targets?at=/resume_at")
	h.mark("radio", "As a column says", ".panel")
	h.pick("Column", "lender", "G · Lender…")
	h.use("Use this", "Where clients resume ← as the column Lender says")
	h.find("link", "Where clients resume", "tr.chosen")
	h.press(kb.Escape)
	h.gone(".panel")
	h.focused("Where clients resume", "Escape")

	h.at("#targets?at=/activities/0/when")
	h.pick("Column", "lender", "G · Lender…")
	h.choose("says", "contains")
	h.typing("Text", " of ")
	h.inPanel("Take this")
	h.see(".panel textarea", `col("Lender") contains " of "`)
	h.press(kb.Escape)

	// An activity is sent later, and earlier.
	templates := func(want ...string) {
		t.Helper()
		if got := strings.Join(regexp.MustCompile(`- template: [A-Z][a-z ]*[a-z]`).FindAllString(h.state().Mapping.Text, -1), "\n"); got != "- template: "+strings.Join(want, "\n- template: ") {
			t.Errorf("the activities are\n%s", got)
		}
	}
	h.shows("#targets?at=/activities/0/status", ".entry [aria-disabled=true]", "Send it earlier")
	h.use("Send it later", "Your details later")
	templates("Agreement details", "Your details", "Sign your claim")
	h.see(`tr.chosen[data-path="/activities/1/status"]`, "")
	h.use("Send it earlier", "Your details earlier")
	templates("Your details", "Agreement details", "Sign your claim")
}

// TestNullTables opens the details of values whose tables the mapping leaves empty.
func TestNullTables(t *testing.T) {
	t.Parallel()
	p := first(t)
	p.write("mapping.yaml", replaceOnce(t, replaceOnce(t, p.read("mapping.yaml"), "values: {LLOY: Lloyds, BARC: Barclays}", "values: "),
		"Postcode: Post code", "Postcode: {column: Post code, type: Checkbox, checked: , unchecked: }"))
	h := p.page("leads.xlsx")
	for path, column := range map[string]string{"/activities/1/attributes/Lender": "Lender", "/activities/0/attributes/Postcode": "Post code"} {
		h.shows("#targets?at="+path, ".panel .problems", "has no value")
		h.see(".panel .values", "What the texts mean")
		h.find("field", "Column", ".panel")
		h.see(".panel input", column)
	}
}

// TestFaultAtField corrects a mistake in the details; the focus stays where the person was.
func TestFaultAtField(t *testing.T) {
	t.Parallel()
	p := first(t)
	p.write("mapping.yaml", replaceOnce(t, p.read("mapping.yaml"), "Postcode: Post code", "Postcode: Postal code"))
	h := p.page("leads.xlsx")
	h.shows("#targets?at=/activities/0/attributes/Postcode", ".panel .problems", "Postal code")
	h.pick("Column", "post", "E · Post code…")
	h.use("Use this", "Postcode · Your details ← Post code")
	h.gone(".panel .problems")
	h.focused("Use this", "“Use this”")
	h.use("Take away", "Postcode · Your details taken away")
	h.focused("Use this", "“Take away”")
	h.at("#columns")
	h.push("button", "Accept: Post code…", "tr[data-column=E]")
	h.said("Postcode · Your details ← Post code")
	h.focused("Post code", "“Accept”")
	h.button("Changes")
	h.see("dialog", "Changes of this session")
	h.press(kb.Tab + kb.Tab + kb.Tab + kb.Tab + kb.Tab + kb.Tab + kb.Tab)
	if !evaluate[bool](h.browser, `document.querySelector("dialog").contains(document.activeElement) || document.activeElement === document.body`) {
		t.Error("Tab leaves the dialog")
	}
	h.press(kb.Escape)
	h.gone("dialog")
	h.focused("Changes", "the dialog")
}
