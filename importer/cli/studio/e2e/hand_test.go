package e2e

import (
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hand is a person who works with the mouse, or with the keyboard alone. Both do the same
// things with what they find by its kind and name: a name that ends with “…” is the
// beginning of one. Both type where text is asked for.
type hand struct {
	*browser
	keys bool // the keyboard alone
}

// view goes to a view by its link in the menu.
func (h hand) view(words string) {
	h.t.Helper()
	h.push("link", words+"…", "nav")
	h.see("nav [aria-current]", words)
}

// to goes to a thing: by a click on it, or with Tab.
func (h hand) to(kind, name, within string) {
	h.t.Helper()
	if h.keys {
		h.reach(kind, name, within)
	} else {
		h.click(kind, name, within)
	}
}

// push pushes a button, or follows a link.
func (h hand) push(kind, name, within string) {
	h.t.Helper()
	if h.to(kind, name, within); h.keys {
		h.press(kb.Enter)
	}
}

func (h hand) button(name string) { h.t.Helper(); h.push("button", name, "") }

// target opens the details of what the service gets at a place of the mapping.
func (h hand) target(path string) {
	h.t.Helper()
	h.push("link", "…", `tr[data-path="`+path+`"] th`)
	h.see(`tr.chosen[data-path="`+path+`"]`, "")
}

// column opens the details of a column.
func (h hand) column(letter string) {
	h.t.Helper()
	h.push("link", "…", `tr[data-column="`+letter+`"] th`)
	h.see(`tr.chosen[data-column="`+letter+`"]`, "")
}

// use pushes a button of the details, and waits for what the page says that it has done.
func (h hand) use(button, said string) { h.t.Helper(); h.inPanel(button); h.said(said) }

// inPanel pushes a button of the details.
func (h hand) inPanel(name string) { h.t.Helper(); h.push("button", name, ".panel") }

// write replaces the text of a field.
func (h hand) write(name, text string) {
	h.t.Helper()
	h.to("field", name, "")
	h.press("a", ctrl)
	h.press(text)
	if got := evaluate[string](h.browser, "studioFound.value"); got != text {
		h.t.Fatalf("the field %q has %q, not %q", name, got, text)
	}
}

// pick picks one of many in a field with a list: by a click on it, or by typing a part of
// its name.
func (h hand) pick(field, part, option string) {
	h.t.Helper()
	if h.to("field", field, ""); !h.keys {
		h.click("option", option, "")
		return
	}
	h.press("a", ctrl)
	h.press(part)
	h.see("[role=option][aria-selected=true]", strings.TrimSuffix(option, "…"))
	h.press(kb.Enter)
}

// choose chooses a line of a closed list, by typing its beginning as browsers allow.
func (h hand) choose(field, option string) {
	h.t.Helper()
	h.to("select", field, "")
	if h.press(option); !h.keys {
		h.press(kb.Enter)
	}
	got := evaluate[string](h.browser, "(e => e.selectedOptions[0].textContent)(studioFound)")
	if got != option {
		h.t.Fatalf("%s shows %q, not %q", field, got, option)
	}
}

const ctrl = chromedp.ModifierCtrl

// mark marks one of several choices, or ticks a box.
func (h hand) mark(kind, name, within string) {
	h.t.Helper()
	if h.to(kind, name, within); h.keys && kind == "checkbox" {
		h.press(" ")
	}
}

// press presses keys.
func (h hand) press(keys string, modifiers ...chromedp.Modifier) {
	h.t.Helper()
	h.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// find waits for the one thing of a kind and name, and keeps it in the page.
func (h hand) find(kind, name, within string) {
	h.t.Helper()
	if got := ask[string](h.browser, "find(%s, %s, %s, %s)", kind, name, within, (*patience).Milliseconds()); got != "" {
		h.t.Fatalf("there is no %s %q: %s", kind, name, got)
	}
}

// click clicks on a thing. When the page draws it again meanwhile, it is looked for again,
// as an eye does.
func (h hand) click(kind, name, within string) {
	h.t.Helper()
	for range 20 {
		h.find(kind, name, within)
		if at := ask[[]float64](h.browser, "point()"); len(at) == 2 {
			h.do(chromedp.MouseClickXY(at[0], at[1]))
			if kind == "option" || kind == "select" {
				return // they act when the button goes down, and give no click
			}
			switch hit := ask[string](h.browser, "hit()"); hit {
			case "found":
				return
			case "":
			default:
				h.t.Fatalf("the click for the %s %q hit %q", kind, name, hit)
			}
		}
	}
	h.t.Fatalf("the %s %q cannot be clicked", kind, name)
}

type focus struct {
	At, Name, Fault string
	IsRow           bool
	IsBefore        bool // what is looked for stands before it
}

// reach goes to a thing with Tab or Shift+Tab, and with the arrow keys inside a list or a
// group of choices. At each stop the focus must show.
func (h hand) reach(kind, name, within string) {
	h.t.Helper()
	h.find(kind, name, within)
	var stops []string
	for range 400 {
		f := ask[focus](h.browser, "focus()")
		if f.Fault != "" {
			h.t.Errorf("on the way to %s %q, at %q: %s", kind, name, f.Name, f.Fault)
		}
		stops = append(stops, f.Name)
		switch {
		case f.At == "found":
			return
		case f.At == "group":
			h.press(kb.ArrowDown)
		case f.IsRow && strings.HasPrefix(within, "tr[") && f.IsBefore:
			h.press(kb.ArrowUp)
		case f.IsRow && strings.HasPrefix(within, "tr["):
			h.press(kb.ArrowDown)
		case f.IsBefore:
			h.press(kb.Tab, chromedp.ModifierShift)
		default:
			h.press(kb.Tab)
		}
	}
	h.t.Fatalf("Tab does not reach the %s %q; it stops at %q", kind, name, stops[max(0, len(stops)-80):])
}
