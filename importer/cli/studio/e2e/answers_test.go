package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestAnswers answers changes as a server in trouble does: each is said in words, nothing
// waits for ever, and what was typed stays.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p := first(t)
	h := hand{browser: newBrowser(t)}
	h.before(answers)
	h.open(p.studio("-e", "sandbox", "leads.xlsx").link)
	h.at("#targets?at=/name")
	answer := func(script string) {
		t.Helper()
		evaluate[bool](h.browser, `(window.answering = `+script+`, true)`)
	}
	for _, test := range []struct{ name, script, said string }{
		{"too large", `() => Promise.resolve(new Response("no", {status: 413}))`, "This is more than Claimsheet takes at once"},
		{"a fault", `() => Promise.resolve(new Response("<h1>oops</h1>", {status: 500}))`, "Claimsheet could not do this (500)"},
		{"no answer", `() => Promise.reject(new TypeError("Failed to fetch"))`, "Claimsheet does not answer."},
		{"half an answer", `() => Promise.resolve(new Response('{"version": 7, "progr'))`, "Claimsheet does not answer."},
		{"another tab", `() => Promise.resolve(new Response('{"error": {"code": "stale", "message": "the mapping has changed meanwhile"}}', {status: 409}))`, "The mapping has changed meanwhile"},
	} {
		answer(test.script)
		h.typing("Campaign name", "typed-"+strings.ReplaceAll(test.name, " ", "-"))
		h.press(kb.Enter)
		h.see("[role=alert]", "Not done: Campaign name ← typed-"+strings.ReplaceAll(test.name, " ", "-")+". "+test.said)
		if kept := evaluate[string](h.browser, `document.querySelector(".panel .field input").value`); !strings.HasPrefix(kept, "typed-") {
			t.Errorf("%s: the field has %q", test.name, kept)
		}
		h.push("button", "Close this message", "[role=alert]")
		h.gone("[role=alert] .bad")
	}

	// What failed can be tried again.
	answer(`() => Promise.reject(new TypeError("Failed to fetch"))`)
	h.typing("Campaign name", "once-more")
	h.press("s", ctrl)
	h.see("[role=alert]", "Not done: Campaign name ← once-more")
	if p.read("mapping.yaml") != h.state().Mapping.Text {
		t.Error("something was saved without what was typed")
	}
	answer(`null`)
	h.push("button", "Try again", "[role=alert]")
	h.said("Campaign name ← once-more")

	// A slow answer shows that it is waited for, and what follows comes after it.
	answer(`(url, ask) => new Promise(done => { window.letGo = done }).then(() => { window.answering = null; return ask() })`)
	h.typing("Campaign name", "slowly")
	h.press(kb.Enter)
	h.press("s", ctrl)
	h.see(".said", "Still waiting for Claimsheet")
	evaluate[bool](h.browser, `(letGo(), true)`)
	p.saved("name: slowly ")
	h.said("Saved to mapping.yaml.")
}

// TestStopped stops the program while somebody types, and starts another one at its
// address: the page says what has happened, and keeps what is typed.
func TestStopped(t *testing.T) {
	t.Parallel()
	p := first(t)
	h := hand{browser: newBrowser(t)}
	s := p.studio("-e", "sandbox", "leads.xlsx")
	h.open(s.link)
	h.at("#targets?at=/name")
	h.typing("Campaign name", "typed-before")
	s.stop(os.Interrupt)
	h.see("[role=alert]", "Claimsheet does not answer")
	h.press(kb.Enter)
	h.see("[role=alert]", "Not done: Campaign name ← typed-before")
	h.see(".panel input", "typed-before")
	other := p.studio("-e", "sandbox", "--addr", strings.TrimPrefix(s.origin(), "http://"), "leads.xlsx")
	h.see("[role=alert]", "another one was started. Open the link that it printed")
	h.see(".panel input", "typed-before")
	if !evaluate[bool](h.browser, `(() => { const e = new Event("beforeunload", {cancelable: true}); dispatchEvent(e); return e.defaultPrevented })()`) {
		t.Error("the browser does not ask before it closes a page with something typed that nobody took")
	}
	h.inPanel("Put back")
	h.open(other.link)
	h.gone("[role=alert] .bad")
}

// TestDifference shows what another program wrote, and what was left unsaved, before
// somebody chooses.
func TestDifference(t *testing.T) {
	t.Parallel()
	p := first(t)
	s := p.studio("-e", "sandbox", "leads.xlsx")
	h := hand{browser: newBrowser(t)}
	h.open(s.link)
	h.rename("mine")
	theirs := p.read("mapping.yaml") + "# by another program\n"
	p.write("mapping.yaml", theirs)
	h.button("Save")
	h.push("button", "Look at the difference", ".notices")
	h.see("dialog .add", "# by another program")
	h.see("dialog .del", "name: mine")
	h.press(kb.Escape)
	h.gone("dialog")
	if name := h.focused(); name != "Look at the difference" {
		t.Errorf("after the dialog the focus is at %q", name)
	}
	if p.read("mapping.yaml") != theirs || !strings.Contains(h.state().Mapping.Text, "name: mine") {
		t.Error("looking at the difference lost one of the two")
	}
	h.push("button", "Look at the difference", ".notices")
	h.push("button", "Take theirs", "dialog")
	h.gone("dialog")
	h.said("The file is read from the disk.")
	h.press("z", ctrl)
	h.said("Undone.")
	h.has("name: mine ")
	s.kill()

	p.write("mapping.yaml", theirs+"# and later\n")
	h.open(p.studio("-e", "sandbox", "leads.xlsx").link)
	h.push("button", "Look at the difference", ".notices")
	h.see("dialog .add", "name: mine")
	h.see("dialog .del", "# and later")
	h.push("button", "Take them up", "dialog")
	h.said("These are the changes of last time.")
	h.see(".notices .warn", "another program has changed the file") // both are still there
	h.press("z", ctrl)
	h.said("Undone.")
	h.has("# and later")
}
