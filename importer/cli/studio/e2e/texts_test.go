package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// odd is a place whose sheet has texts that a file might read in its own way.
func odd(t *testing.T) *place {
	t.Helper()
	p := first(t)
	rows := [][]string{{"Lead no", "First name", "E-mail", "DOB", "Post code", "Agreement no", "Lender", "Amount", "Opt in", "Spare"}}
	for i, lender := range []string{"LLOY", "-", "~", "yes", "a, b; c", "007", "constructor"} {
		n := string(rune('1' + i))
		rows = append(rows, []string{"L" + n, "Jo", "jo" + n + "@example.net", "01/02/1980", "LS1 4AP", "A" + n, lender, "100", []string{"Y", "Ja", "N"}[i%3], "x"})
	}
	p.sheet("leads.xlsx", rows)
	p.write("mapping.yaml", replaceOnce(t, p.read("mapping.yaml"), "  name: Leads  ", "  name: Sheet1  "))
	return p
}

// TestTexts lists texts that a file might read in its own way: in conditions, in the list
// of those that count as empty, and in tables.
func TestTexts(t *testing.T) {
	t.Parallel()
	p := odd(t)
	h := p.page("leads.xlsx")

	// A second condition stands beside the first one as a whole.
	h.at("#targets?at=/activities/0/when")
	h.typing("The condition as a formula", `has("Post code") or has("DOB")`)
	h.pick("Column", "lender", "G · Lender…")
	h.choose("says", "is one of")
	h.typing("Texts, one in each line", "a, b; c\r  - \r~\ryes")
	h.inPanel("And this too")
	h.inPanel("Use this")
	h.has(`(has("Post code") or has("DOB")) && col("Lender") in ["a, b; c", "-", "~", "yes"]`)
	h.see(".preview", "yes")

	h.at("#targets?at=/sheet/empty")
	h.typing("Texts, one in each line", "-\r ~\rno")
	h.inPanel("Use this")
	h.has(`empty: ["-", "~", "no"]`)
	h.typing("Texts, one in each line", " ")
	h.use("Use this", "Texts that count as empty taken away")
	h.press("z", ctrl)
	h.said("Undone.")

	h.at("#targets?at=/activities/1/attributes/Lender")
	h.see(".values", "4 texts not matched") // - and ~ are empty now
	for text, means := range map[string]string{"yes": "Yes Bank", "a, b; c": `A "B"; C`, "007": "Bond", "constructor": "C"} {
		h.typing("“"+text+"” means", means)
	}
	h.use("Use these 4", "Lender · Agreement details: 4 texts explained")
	h.has(`"yes": Yes Bank`, `"a, b; c": 'A "B"; C'`, `"007": Bond`, `constructor: C`)
	h.see(".values", "all matched")
	h.typing("“007” means", " ")
	h.press("a", ctrl)
	h.do(chromedp.KeyEvent("\b"))
	h.use("Use it", "Lender · Agreement details: 1 text explained")
	if text := h.state().Mapping.Text; strings.Contains(text, "007") {
		t.Errorf("what was taken out of the table is still there:\n%s", text)
	}
}
