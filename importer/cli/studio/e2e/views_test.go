package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestViews looks at every view, wide and narrow, light and dark: of a mapping with
// mistakes in it, and of a first mapping with its questions.
func TestViews(t *testing.T) {
	t.Run("mistakes", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, "importer/cli/studio/e2e/testdata/mistakes.yaml")
		messySheet(p, "03/04/2024", "N/A", "", "11/12/2023")
		p.write("mapping.yaml", strings.NewReplacer("header_row: 3", "header_row: 4", "{run.date}\"\n", "{run.date}\"\n  template_identifier: WF-2026\n").Replace(p.read("mistakes.yaml")))
		h := p.page("leads.xlsx")
		h.looks([]view{
			{"columns", "#columns", "h1", "Columns"},
			{"column-dates", "#columns?at=AD", ".readings", "dd/mm/yyyy"},
			{"column-phone", "#columns?at=I", ".panel", "Country of numbers"},
			{"targets", "#targets?show=missing", "h1", "Fields of the service"},
			{"target-key", "#targets?at=/client/key", ".editor [role=status]", "disagree"},
			{"target-formula", "#targets?at=/activities/0/attributes/Home address", ".preview", "complete"},
			{"rows", "#rows?show=errors", "[role=gridcell]", ""},
			{"try-mistakes", "#try", ".problems", "Fix it"},
			{"file", "#file?line=27", "h1", "The file"},
		})
	})
	t.Run("questions", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		messySheet(p, "", "N/A", "")
		h := p.page("leads.xlsx")
		h.at("#try")
		h.button("Start the dry run")
		h.see("#job-title", "Dry run: Done, with mistakes in the sheet")
		h.looks([]view{
			{"questions", "#targets", ".to-decide", "to decide"},
			{"target-table", "#targets?at=/activities/1/attributes/Lender", ".values", "Black Horse"},
			{"target-when", "#targets?at=/activities/1/when", ".condition", "says"},
			{"client", "#client?row=5", ".steps", "Your details"},
			{"try", "#try", ".job", "Get the workbook"},
			{"sheet", "#sheet", "table.first", "Forename"},
		})
		h.at("#file")
		h.button("Changes of this session")
		h.look("changes")
		h.button("Changes")
		h.look("history")
	})
}

// view is a place of the page, and what shows that it is there.
type view struct{ name, hash, selector, text string }

// looks looks at views.
func (h hand) looks(views []view) {
	h.t.Helper()
	for _, v := range views {
		h.shows(v.hash, v.selector, v.text)
		h.gone(`[aria-busy="true"]`)
		h.look(v.name)
	}
}

// TestReflow looks at the views in a window of 320 pixels, and in one that is low because
// the page is magnified: nothing has to be scrolled sideways to be read, and there is room
// to read it in. With larger letters, as a browser is set to, all of them grow.
func TestReflow(t *testing.T) {
	t.Parallel()
	p := first(t)
	h := p.page("leads.xlsx")
	for _, size := range []struct{ width, height int64 }{{320, 640}, {320, 256}, {640, 360}, {800, 600}} {
		h.size(size.width, size.height)
		for _, v := range []view{
			{"columns", "#columns", "h1", "Columns"}, {"column", "#columns?at=D", ".panel .editor", ""}, {"targets", "#targets", "h1", "Fields of the service"},
			{"existing", "#targets?at=/client/existing", ".choices", "Take the known client"}, {"rows", "#rows", "[role=gridcell]", ""},
			{"client", "#client?row=2", ".steps", ""}, {"try", "#try", ".cards", ""}, {"file", "#file", "#file-text", ""}, {"sheet", "#sheet", "table.first", ""},
		} {
			h.shows(v.hash, v.selector, v.text)
			got := evaluate[struct{ Wide, Room int64 }](h.browser, `(() => {
				const box = [...document.querySelectorAll(".panel-body, .scroll, .grid-frame, .file .text")].find(e => e.checkVisibility() && e.getClientRects().length)
				return {Wide: document.documentElement.scrollWidth, Room: Math.round(box.getBoundingClientRect().height)}
			})()`)
			if got.Wide > size.width {
				t.Errorf("%s is %d wide in a window of %d", v.name, got.Wide, size.width)
			}
			if got.Room < 120 {
				t.Errorf("%s has %d pixels of room in a window of %d × %d", v.name, got.Room, size.width, size.height)
			}
			if *pictures != "" {
				h.picture(filepath.Join(*pictures, fmt.Sprintf("reflow-%s-%d-%d.png", v.name, size.width, size.height)))
			}
		}
	}
	small := evaluate[float64](h.browser, `parseFloat(getComputedStyle(document.body).fontSize)`)
	large := evaluate[float64](h.browser, `(document.documentElement.style.fontSize = "162.5%%", parseFloat(getComputedStyle(document.querySelector("main button, main a")).fontSize))`)
	if large < 1.9*small {
		t.Errorf("letters of %.1f pixels grow to %.1f", small, large)
	}
}
