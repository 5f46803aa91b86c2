package e2e

import (
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
	// The page's fetch calls window.answering, if it is set, for each change, with the address and a function that asks the server.
	h.before(`{
		const ask = window.fetch
		window.fetch = (url, request) => window.answering && (request?.method === "POST" || window.answeringAll) && !String(url).includes("preview")
			? window.answering(String(url), () => ask(url, request)) : ask(url, request)
	}`)
	h.open(p.studio("leads.xlsx").link)
	h.at("#targets?at=/name")
	answer := func(script string) {
		t.Helper()
		evaluate[bool](h.browser, `(window.answering = `+script+`, true)`)
	}
	for _, test := range []struct{ name, script, said string }{
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

	// What did not arrive is still there to be used. What did, and whose answer was lost, is done once.
	answer(`() => Promise.reject(new TypeError("Failed to fetch"))`)
	h.typing("Campaign name", "once-more")
	h.press("s", ctrl)
	h.see("[role=alert]", "Not done: Campaign name ← once-more")
	if p.read("mapping.yaml") != h.state().Mapping.Text {
		t.Error("something was saved without what was typed")
	}
	answer(`null`)
	h.use("Use this", "Campaign name ← once-more")
	at := h.state().Mapping.At
	answer(`(url, ask) => ask().then(() => { throw new TypeError("Failed to fetch") })`)
	h.press("z", ctrl)
	h.see("[role=alert]", "Claimsheet does not answer.")
	answer(`null`)
	h.see(".panel input", "vehicle-finance-leads") // the page has heard of it meanwhile
	if now := h.state().Mapping.At; now != at-1 {
		t.Errorf("one undo goes from %d to %d", at, now)
	}
	h.push("button", "Close this message", "[role=alert]")

	// A fault inside is said until it is over.
	answer(`() => Promise.resolve(new Response("", {status: 500})), window.answeringAll = true`)
	h.see("[role=alert]", "Look at the window in which you started it")
	evaluate[bool](h.browser, `(window.answeringAll = false, true)`)
	h.gone("[role=alert] .bad")

	// What follows a slow answer comes after it.
	answer(`(url, ask) => new Promise(done => { window.letGo = done }).then(() => { window.answering = null; return ask() })`)
	h.typing("Campaign name", "slowly")
	h.press(kb.Enter)
	h.press("s", ctrl)
	evaluate[bool](h.browser, `(letGo(), true)`)
	p.saved("name: slowly ")
}
