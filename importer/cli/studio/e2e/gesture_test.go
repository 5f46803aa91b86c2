package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused waits until the focus is at what has a name; “…” at its end stands for any more.
// The page places the focus after it has drawn, so it may come later than what is seen.
func (h hand) focused(name, after string) {
	h.t.Helper()
	if at := ask[string](h.browser, "focusOn(%s, %s)", name, (*patience).Milliseconds()); at != "" {
		h.t.Errorf("after %s the focus is at %s, not at “%s”", after, at, name)
	}
}

// TestOneGesture double-clicks on buttons and presses Enter twice on them: each gesture
// makes one change.
func TestOneGesture(t *testing.T) {
	t.Parallel()
	p := first(t)
	h := p.page("leads.xlsx")
	activities := func() int { return strings.Count(h.state().Mapping.Text, "\n  - template: ") }
	was := activities()

	h.at("#targets?at=/activities/0/status")
	h.find("button", "Do not send it", ".panel")
	at := ask[[]float64](h.browser, "point()")
	h.do(chromedp.MouseClickXY(at[0], at[1]), chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(2)))
	h.said("Your details taken away")
	if n := activities(); n != was-1 {
		t.Fatalf("a double click took away %d activities", was-n)
	}
	h.gone(".panel") // the next activity is not meant
	h.focused("…", "taking an activity away")

	h.press("z", ctrl)
	h.said("Undone.")
	h.at("#targets?at=/activities/0/status")
	h.find("button", "Do not send it", ".panel")
	evaluate[bool](h.browser, "(studioFound.focus(), true)")
	h.press(kb.Enter + kb.Enter)
	h.said("Your details taken away")
	if n := activities(); n != was-1 {
		t.Fatalf("two presses of Enter took away %d activities", was-n)
	}

	// A text of a list that takes the place of another one waits for a person to see it.
	h.at("#targets?at=/client/key")
	h.pick("Add a column", "e-mail", "C · E-mail…")
	h.pick("Add a column", "post", "E · Post code…")
	h.see(".ordered li:nth-child(3)", "Post code")
	h.find("button", "Remove Lead no", ".panel")
	evaluate[bool](h.browser, "(studioFound.focus(), true)")
	h.press(kb.Enter + kb.Enter)
	h.gone(".ordered li:nth-child(3)")
	h.focused("E-mail…", "removing a column")
	if n := h.count(".ordered li"); n != 2 {
		t.Errorf("two presses of Enter left %d columns", n)
	}
}
