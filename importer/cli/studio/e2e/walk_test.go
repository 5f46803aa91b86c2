// Package e2e works with the page of claimsheet studio in a real browser, as people do:
// Chromium, driven by chromedp. It is a module of its own, so that the program's go.mod
// does not need what only these tests use.
//
//	npm ci && go test . -pictures FOLDER
//
// npm brings axe-core, which looks for barriers in every view; without it that part is
// left out, and -axe makes it an error. Without Chromium all tests are left out.
package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	pictures = flag.String("pictures", "", "`FOLDER` for pictures of every view; it must exist")
	needAxe  = flag.Bool("axe", false, "fail without axe-core instead of leaving it out")
	update   = flag.Bool("update", false, "write the golden mappings again")
)

// TestWalk goes from a sheet without a mapping to clients in the sandbox, and never
// touches the text of the file: with the mouse, and with the keyboard alone.
func TestWalk(t *testing.T) {
	for _, sheet := range []struct {
		name  string
		place func(*testing.T) *place
		walk  func(hand)
	}{
		{"plain", func(t *testing.T) *place { return newPlace(t, "samples/first/leads.xlsx") }, plainWalk},
	} {
		for _, keys := range []bool{false, true} {
			name := sheet.name + "/mouse"
			if keys {
				name = sheet.name + "/keyboard"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := sheet.place(t)
				s := p.studio("-e", "sandbox", "leads.xlsx")
				h := hand{newBrowser(t), keys}
				h.open(s.link)
				sheet.walk(h)
				finish(h, p, sheet.name)
			})
		}
	}
}

// finish saves, tries it, and holds what came out to what a person would have written.
func finish(h hand, p *place, name string) {
	h.t.Helper()
	if h.keys {
		h.press("s", ctrl)
	} else {
		h.button("Save")
	}
	h.said("Saved to mapping.yaml.")
	h.view(5, "Try it")
	h.button("Start the dry run")
	h.see("#job-title", "Dry run: Done, without a mistake")
	h.see(".job", "Get the workbook")
	h.button("Run into the sandbox")
	h.see("#job-title", "Run into the sandbox: Done, without a mistake")
	h.find("button", "Look at what the sandbox holds", "")
	pages := h.state().Job.Pages
	if !strings.HasPrefix(pages, "http://127.0.0.1:") {
		h.t.Errorf("the sandbox's pages are at %q", pages)
	}
	tab := h.tab()
	tab.open(pages)
	tab.see("table", "")

	golden := filepath.Join("testdata", name+".yaml")
	if *update && !h.keys {
		must(h.t, os.MkdirAll("testdata", 0o755))
		must(h.t, os.WriteFile(golden, []byte(p.read("mapping.yaml")), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(h.t, err)
	if got := p.read("mapping.yaml"); got != string(want) {
		h.t.Errorf("the mapping is not %s:\n%s", golden, got)
	}
	if out := p.claimsheet("check", "-e", "sandbox", "leads.xlsx"); strings.Contains(out, "DECIDE") {
		h.t.Errorf("check finds questions:\n%s", out)
	}
}

// plainWalk answers what the first mapping of samples/first asks.
func plainWalk(h hand) {
	h.view(2, "What the service gets")
	h.see(".to-decide h2", "10 questions to decide")

	h.target("/name")
	h.write("Campaign name", "vehicle-finance-leads")
	h.inPanel("Use this")
	h.said("Campaign name ← vehicle-finance-leads")
	h.see(".to-decide h2", "9 questions to decide")

	h.target("/client/key")
	h.inPanel("Remove E-mail")
	h.pick("Column", "lead", "A · Lead no…")
	h.see(".editor [role=status]", "12 rows → 10 clients")
	h.inPanel("Use this")
	h.said("Which rows are one client ← Lead no")
	h.see(".to-decide h2", "8 questions to decide")

	h.target("/activities/1/attributes/Lender")
	h.write("“BARC” means", "Barclays")
	h.write("“LLOY” means", "Lloyds")
	h.inPanel("Use these 2")
	h.said("Lender · Agreement details: 2 texts explained")
	h.see(".to-decide h2", "7 questions to decide")

	h.target("/activities/template=Sign your claim/status")
	h.mark("radio", "Open", ".panel")
	h.inPanel("Use this")
	h.said("Status · Sign your claim ← Open")

	h.target("/workflow/name")
	h.write("Text", "Leads {run.date}")
	h.inPanel("Use this")
	h.said("Workflow name ← Leads {run.date}")
	h.target("/workflow/template_identifier")
	h.write("Workflow template identifier", "WF-2026")
	h.inPanel("Use this")
	h.said("Workflow template identifier ← WF-2026")

	h.confirm("is this the workflow's order…", "4 questions to decide")
	h.confirm("reuse, skip, fail or create…", "3 questions to decide")
	h.confirm("send or skip the activities…", "2 questions to decide")
	h.confirm("the names on the left…", "1 question to decide")
	h.confirm("is each row a claim of its client?…", "")
	h.gone(".to-decide")
}

// confirm says that what a question is about is right as it is.
func (h hand) confirm(question, left string) {
	h.t.Helper()
	h.push("button", "It is right as it is: "+question, ".to-decide")
	if left != "" {
		h.see(".to-decide h2", left)
	}
}
