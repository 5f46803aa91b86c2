package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// first is the place of samples/first, with its mapping.
func first(t *testing.T) *place {
	t.Helper()
	return newPlace(t, "samples/first/leads.xlsx", "samples/first/mapping.yaml", "samples/first/environments.yaml")
}

// rename gives the campaign another name in the page.
func (h hand) rename(name string) {
	h.t.Helper()
	h.at("#targets?at=/name")
	h.name(name)
}

// TestUndo goes back to the start, where the text is the file's byte for byte, and forward
// again. Nothing is written before Save.
func TestUndo(t *testing.T) {
	t.Parallel()
	p := first(t)
	before := p.read("mapping.yaml")
	h := p.page("leads.xlsx")
	h.rename("another-name")
	h.at("#targets?at=/activities/1/attributes/Lender")
	h.write("Anything not listed is sent as", "Other")
	h.use("Use this", "Lender · Agreement details ← Lender")
	h.at("#targets?at=/activities/0/attributes/Postcode")
	h.use("Take away", "Postcode · Your details taken away")
	h.at("#columns")
	h.column("E")
	h.mark("checkbox", "Leave this column out on purpose", ".panel")
	h.said("Column E is left out on purpose.")
	h.at("#file")
	h.button("Changes of this session")
	h.see(".diff", "another-name")
	after := h.state().Mapping.Text
	if after == before || h.state().Mapping.At != 4 {
		t.Fatalf("four changes made this, at %d:\n%s", h.state().Mapping.At, after)
	}

	h.button("Changes")
	h.push("button", "as it was", "dialog")
	h.see("header.top .which .faint", "saved")
	if s := h.state(); s.Mapping.Text != before || s.Mapping.Dirty {
		t.Errorf("undo to the start gives:\n%s", s.Mapping.Text)
	}
	h.push("button", "Post code is left out", "dialog")
	h.see("header.top .which", "not saved")
	if got := h.state().Mapping.Text; got != after {
		t.Errorf("redo to the end gives:\n%s", got)
	}
	h.push("button", "Close", "dialog")
	h.gone("dialog")
	for range 4 {
		h.press("z", ctrl)
	}
	h.see("header.top .which .faint", "saved")
	if got := h.state().Mapping.Text; got != before {
		t.Errorf("Ctrl+Z to the start gives:\n%s", got)
	}
	if p.read("mapping.yaml") != before {
		t.Error("the file was written without Save")
	}
}

// TestTwoTabs changes the mapping in a tab that has not heard of the other tab's change.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	p := first(t)
	s := p.studio("leads.xlsx")
	b := newBrowser(t)
	b.before(`{
		const ask = window.fetch
		window.fetch = (url, request) => ask(url, request).then(answer => window.isDeaf && String(url).includes("/api/state") ? new Promise(() => {}) : answer)
	}`)
	h := hand{browser: b}
	h.open(s.link)
	evaluate[bool](b, "(window.isDeaf = true)")
	other := hand{browser: b.tab()}
	other.open(s.origin())
	other.rename("of-the-other-tab")

	h.at("#columns?at=E")
	h.inPanel("Take away")
	h.see("[role=alert]", "another tab")
	h.shows("#targets?at=/name", ".panel input", "of-the-other-tab")
	if text := other.state().Mapping.Text; !strings.Contains(text, "Postcode: Post code") || !strings.Contains(text, "of-the-other-tab") {
		t.Errorf("the late change was taken:\n%s", text)
	}

	// The text of the file is refused once, stays, and is taken when it is asked for again.
	h.at("#file")
	h.click("field", "The text of the mapping file", "")
	h.press(kb.Home, ctrl)
	h.do(chromedp.KeyEvent("# typed\r"))
	other.rename("meanwhile")
	h.at("#columns")
	h.see("[role=alert]", "Not done: the text of the file")
	h.at("#file")
	h.button("Take this text")
	h.said("The file is taken as you wrote it.")
	other.has("# typed\n", "of-the-other-tab")
}

// TestChangedOnDisk edits the file with another program meanwhile: the page asks, and takes what the other wrote. TestKilled
// keeps its own.
func TestChangedOnDisk(t *testing.T) {
	t.Parallel()
	p := first(t)
	h := p.page("leads.xlsx")
	h.rename("mine")
	theirs := p.read("mapping.yaml") + "# by another program\n"
	p.write("mapping.yaml", theirs)
	h.button("Save")
	h.see(".notices", "mapping.yaml: another program has written the file meanwhile.")
	if p.read("mapping.yaml") != theirs {
		t.Fatal("Save wrote over a file that it did not know")
	}
	h.push("button", "Take theirs", ".notices")
	h.said("The file is read from the disk.")
	h.gone(".notices .warn")
	h.at("#file")
	h.button("Changes of this session")
	h.see(".diff ins", "# by another program")
	if got := h.state(); got.Mapping.Text != theirs || got.Mapping.Dirty {
		t.Errorf("the page took:\n%s", got.Mapping.Text)
	}
}

// TestKilled ends the program in the middle of the work: the next one has what was not
// saved.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := first(t)
	before := p.read("mapping.yaml")
	s := p.studio("leads.xlsx")
	h := hand{browser: newBrowser(t)}
	h.open(s.link)
	h.rename("not-saved-yet")
	h.judged()
	s.stop(syscall.SIGKILL)
	h.see("[role=alert]", "Claimsheet does not answer")
	h.typing("Campaign name", "typed-since")
	if !evaluate[bool](h.browser, `(() => { const e = new Event("beforeunload", {cancelable: true}); dispatchEvent(e); return e.defaultPrevented })()`) {
		t.Error("the browser does not ask before it closes a page with something typed that nobody took")
	}
	h.inPanel("Put back")
	if p.read("mapping.yaml") != before {
		t.Error("the file was written without Save")
	}

	p.write("mapping.yaml", before+"# by a colleague\n")
	other := p.studio("--addr", strings.TrimPrefix(s.origin(), "http://"), "leads.xlsx")
	h.see("[role=alert]", "open the link that it prints")
	h.open(other.link)
	h.see(".notices", "These changes were left unsaved last time.")
	h.shows("#targets?at=/name", ".panel input", "not-saved-yet")
	h.see(".notices .warn", "another program has written the file meanwhile")
	h.button("Keep mine")
	h.said("Saved to mapping.yaml.")
	h.gone(".notices .warn")
	if got := p.read("mapping.yaml"); !strings.HasPrefix(got, "name: not-saved-yet ") {
		t.Errorf("the file is:\n%s", got)
	}
}

// TestNamesAreText shows headers and cells that look like HTML as they are.
func TestNamesAreText(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	header, cell := `<img src=x onerror="document.title='owned'">`, `<script>document.title="owned"</script><i>Jo</i>`
	p.sheet("leads.xlsx", [][]string{{"E-mail", "First name", header, "Agreement no"}, {"jo@example.net", cell, cell, "A1"}, {"bo@example.net", "Bo", "x", "A2"}})
	h := p.page("leads.xlsx")
	h.see("tr[data-column=C] th", header)
	h.column("C")
	h.see(".panel", cell)
	h.pick("Send it to", "home address", "Home address…")
	h.said("Home address · Your details ← " + header)
	for view, shown := range map[string]string{"#targets?at=/client/fields/firstName": cell, "#rows": cell, "#client?row=2": cell, "#file": "<img src=x onerror="} {
		h.shows(view, "main, main textarea", shown)
		if n := h.count("main img, main script, main i"); n > 0 {
			t.Errorf("%s: %d elements came from a cell or a header", view, n)
		}
	}
	if title := evaluate[string](h.browser, "document.title"); strings.Contains(title, "owned") {
		t.Errorf("the title is %q", title)
	}
}
