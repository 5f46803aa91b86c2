package e2e

import (
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
		h.at(v.hash)
		h.see(v.selector, v.text)
		h.gone(`[aria-busy="true"]`)
		h.look(v.name)
	}
}
