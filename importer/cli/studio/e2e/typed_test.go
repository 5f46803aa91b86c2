package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// typing clicks into a field and replaces its text, without waiting for anything after it.
func (h hand) typing(name, text string) {
	h.t.Helper()
	h.click("field", name, "")
	h.press("a", ctrl)
	h.do(chromedp.KeyEvent(text))
}

// has waits until the mapping has texts.
func (h hand) has(texts ...string) {
	h.t.Helper()
	waitFor(h.t, func() string { return h.state().Mapping.Text }, texts)
}

// saved waits until the file has texts.
func (p *place) saved(texts ...string) {
	p.t.Helper()
	waitFor(p.t, func() string { return p.read("mapping.yaml") }, texts)
}

// waitFor waits until a text has texts.
func waitFor(t *testing.T, read func() string, texts []string) {
	t.Helper()
	for end := time.Now().Add(*patience); ; time.Sleep(30 * time.Millisecond) {
		text := read()
		if !slices.ContainsFunc(texts, func(want string) bool { return !strings.Contains(text, want) }) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%q is not in:\n%s", texts, text)
		}
	}
}

// TestTyped types, and at once saves, leaves or undoes: what was typed is never left out.
func TestTyped(t *testing.T) {
	t.Parallel()
	p := first(t)
	h := hand{browser: newBrowser(t)}
	s := p.studio("leads.xlsx")
	h.open(s.link)

	h.at("#targets?at=/name")
	h.typing("Campaign name", "by-control-s")
	h.press("s", ctrl)
	p.saved("name: by-control-s ")

	h.typing("Campaign name", "by-the-button")
	h.see("header.top .which", "not saved")
	h.button("Save")
	p.saved("name: by-the-button ")

	h.typing("Campaign name", "by-another-view")
	evaluate[bool](h.browser, `(location.hash = "#columns", true)`)
	h.has("name: by-another-view ")

	h.at("#targets?at=/name")
	h.typing("Campaign name", "by-another-line")
	h.target("/client/key")
	h.has("name: by-another-line ")

	h.at("#targets?at=/name")
	h.typing("Campaign name", "by-enter")
	h.press(kb.Enter)
	h.said("Campaign name ← by-enter")

	h.typing("Campaign name", "by-undo")
	h.button("Undo")
	h.said("Undone.")
	h.see(".panel input", "by-enter")
	h.button("Redo")
	h.see(".panel input", "by-undo")

	// The table of texts, in which Enter uses what is typed.
	h.at("#targets?at=/activities/1/attributes/Lender")
	h.typing("“BARC” means", "Barclays plc")
	h.press(kb.Enter)
	h.said("Lender · Agreement details: 1 text explained")
	h.has("BARC: Barclays plc")

	// What is typed into the table and beside it at the same time.
	h.typing("“LLOY” means", "Lloyds Bank")
	h.typing("Anything not listed is sent as", "Other")
	h.press("s", ctrl)
	p.saved("LLOY: Lloyds Bank", "else: Other")

	// The text of the file.
	h.at("#file")
	h.click("field", "The text of the mapping file", "")
	h.press(kb.Home, ctrl)
	h.do(chromedp.KeyEvent("# typed\r"))
	evaluate[bool](h.browser, `(location.hash = "#columns", true)`)
	h.has("# typed\n")

	// A way that is only looked at is no change.
	h.at("#targets?at=/activities/0/attributes/Postcode")
	h.mark("radio", "Formula", ".panel")
	h.see(".panel textarea", `col("Post code")`)
	h.shows("#columns", "h1", "Columns")
	if text := h.state().Mapping.Text; !strings.Contains(text, "Postcode: Post code") {
		t.Errorf("looking at another way changed the mapping:\n%s", text)
	}

	// The page is closed.
	h.at("#targets?at=/name")
	h.typing("Campaign name", "by-closing")
	h.do(chromedp.Navigate("about:blank"))
	h.open(s.origin())
	h.has("name: by-closing ")
}

// TestTypedText types into a file with the ends of lines of Windows. They stay, and what was taken is not taken again.
func TestTypedText(t *testing.T) {
	t.Parallel()
	p := first(t)
	p.write("mapping.yaml", strings.ReplaceAll(p.read("mapping.yaml"), "\n", "\r\n"))
	h := p.page("leads.xlsx")
	h.at("#file")
	h.click("field", "The text of the mapping file", "")
	h.press(kb.Home, ctrl)
	h.do(chromedp.KeyEvent("# typed\r"))
	h.press(kb.Enter, ctrl)
	h.said("The file is taken as you wrote it.")
	h.gone("aside .main")
	h.press("s", ctrl)
	p.saved("# typed\r\nname: ")
	h.click("field", "The text of the mapping file", "")
	h.press("a", ctrl)
	h.do(chromedp.KeyEvent("name: ["))
	h.press(kb.Enter, ctrl)
	h.see(".notices", "The file is not valid YAML here")
	h.look("not-yaml")
}
