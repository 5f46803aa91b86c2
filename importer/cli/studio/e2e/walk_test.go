// Package e2e works with the page of claimsheet studio, and with those of the sandbox, in a
// real browser, as people do: Chromium, driven by chromedp. It is a module of its own, so that the program's go.mod
// does not need what only these tests use.
//
//	npm ci && go test . -pictures FOLDER
//
// npm brings axe-core, which looks for barriers in every view; without it that part is
// left out, and -axe makes it an error. Without Chromium all tests are left out.
package e2e

import (
	"bytes"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"
)

var (
	pictures       = flag.String("pictures", "", "`FOLDER` for pictures of every view; it must exist")
	needAxe        = flag.Bool("axe", false, "fail without axe-core instead of leaving it out")
	patience       = flag.Duration("patience", time.Minute, "how `LONG` the page may take for a step; it costs nothing when the page is right")
	updatePictures = flag.Bool("update-pictures", false, "make the pictures of docs/studio.md again")
	update         = flag.Bool("update", false, "write the golden mappings again")
)

// TestWalk goes from a sheet without a mapping to clients in the sandbox, and never
// touches the text of the file: with the mouse, and with the keyboard alone.
func TestWalk(t *testing.T) {
	for _, sheet := range []struct {
		name  string
		place func(*testing.T) *place
		walk  func(hand)
	}{
		{"messy", func(t *testing.T) *place { p := newPlace(t); messySheet(p, "", "N/A", ""); return p }, messyWalk},
		{"wide", func(t *testing.T) *place { return newPlace(t, "samples/v2-wide/leads.xlsx") }, wideWalk},
	} {
		for _, keys := range []bool{false, true} {
			name := sheet.name + "/mouse"
			if keys {
				name = sheet.name + "/keyboard"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := sheet.place(t)
				s := p.studio("leads.xlsx")
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
	h.view("Try it")
	h.button("Start the dry run")
	h.see("#job-title", "Dry run: Done, without a mistake")
	h.see(".job", "Get the workbook")
	h.button("Run into the sandbox")
	h.see("#job-title", "Run into the sandbox: Done, without a mistake")
	h.find("button", "Look at what the sandbox holds", "")
	job := h.state().Job
	f, err := excelize.OpenReader(bytes.NewReader(h.download(job.Workbook)))
	must(h.t, err)
	if urls, err := f.SearchSheet("Results", "/start/", true); err != nil || len(urls) < 5 {
		h.t.Errorf("the workbook of the run has redirect urls in %q (error %v)", urls, err)
	}
	tab := h.tab()
	tab.do(chromedp.Navigate(job.Pages))
	tab.see(".count", "clients")

	p.golden("mapping.yaml", name+".yaml", !h.keys)
	p.isClean()
}

// messyWalk decides every column of the messy sheet, and mends what cannot be read.
func messyWalk(h hand) {
	h.see(".sum", "30 of 40 rows usable")
	h.button("Not decided 12")
	for _, c := range []string{"B, Created", "J, Tel (home)", "Z, Notes", "AA, Notes", "AB, Agent", "AC,…"} {
		h.button("Leave out column " + c)
		letter, _, _ := strings.Cut(c, ",")
		h.said("Column " + letter + " is left out on purpose.")
	}

	h.column("N")
	h.pick("Send it to", "previous", "Previous surname…")
	h.said("Previous surname · Your details ← Prev. surname")
	h.column("T")
	h.use("Confirm: APR % goes to Interest rate…", "Interest rate · Agreement details ← APR %")
	h.column("R")
	h.pick("Send it to", "signed at agreement", "Agreement signed at…")
	h.said("Agreement signed at · Agreement details ← Start")
	h.use("Dates are dd/mm/yyyy", "Agreement signed at · Agreement details: dates are dd/mm/yyyy")
	h.push("link", "Time zone", ".panel")
	h.write("Time zone", "Europe/London")
	h.use("Use this", "Time zone ← Europe/London")
	h.view("Columns")
	h.column("U")
	h.pick("Send it to", "commission", "Told of commission…")
	h.said("Told of commission · Your circumstances ← Commission?")
	h.choose("“Unsure” means", "Leave empty (in every column)")
	h.use("Use it", "Told of commission · Your circumstances: 1 text explained")
	h.see("h1", "Columns")
	h.button("With errors 2")

	h.column("Y")
	h.choose("“maybe” means", "No, not ticked")
	h.use("Use it", "Consent to contact · Your details: 1 text explained")
	h.column("G")
	h.use("Leave empty: 31/02/1984", "“31/02/1984” counts as empty")

	h.view("Rows") // ten rows say nothing about Commission?, and an activity without attributes cannot be sent
	h.see(".sum", "10 with errors")
	h.button("Next with errors")
	h.see(".cell-details", "“Your circumstances” would be sent without attributes")
	h.view("Fields of the service")
	h.target("/activities/3/when")
	h.pick("Column", "commission", "U · Commission?…")
	h.inPanel("Take this")
	h.use("Use this", "Only when · Your circumstances ← has(\"Commission?\")")
	h.see(".sum", "40 of 40 rows usable")

	h.name("car-finance")
	h.target("/activities/0/attributes/Home address")
	h.use("Confirm:…", "Home address · Your details ←")
	h.target("/activities/1/attributes/Lender")
	h.write("“BARC” means", "Barclays")
	h.write("“LLOY” means", "Lloyds")
	h.use("Use these 2", "Lender · Agreement details: 2 texts explained")
	h.target("/activities/0/attributes/Title")
	h.use("Keep: …", "Decided.")
	h.target("/activities/2/attributes/Make")
	h.use("Keep: …", "Decided.")
	h.workflow("Car finance {run.date}")
	h.keepAll()
}

// wideWalk answers what the first mapping of a sheet with three claims in a row asks.
func wideWalk(h hand) {
	h.see(".sum", "17 of 18 rows usable")
	h.column("K")
	h.use("Leave empty: abc", "“abc” counts as empty")
	h.see(".sum", "18 of 18 rows usable")

	h.view("Fields of the service")
	h.name("wide-agreements")
	h.target("/activities/1/attributes/Lender")
	for _, lender := range []string{"BARC: Barclays", "BLKH: Black Horse", "LLOY: Lloyds", "MOTO: MotoNovo", "NWBK: NatWest", "SANT: Santander", "XXXX: Other"} {
		code, name, _ := strings.Cut(lender, ": ")
		h.write("“"+code+"” means", name)
	}
	h.use("Use these 7", "Lender · Agreement details: 7 texts explained")
	h.workflow("{sheet} {run.date}")
	h.keepAll()
}

// name gives the campaign its name.
func (h hand) name(text string) {
	h.t.Helper()
	h.target("/name")
	h.write("Campaign name", text)
	h.use("Use this", "Campaign name ← "+text)
}

// workflow says what is agreed with the service's operator, and with which activity the
// client goes on.
func (h hand) workflow(name string) {
	h.t.Helper()
	h.target("/workflow/name")
	h.write("Text", name)
	h.use("Use this", "Workflow name ← "+name)
	h.target("/workflow/template_identifier")
	h.write("Workflow template identifier", "WF-2026")
	h.use("Use this", "Workflow template identifier ← WF-2026")
	h.target("/activities/template=Sign your claim/status")
	h.mark("radio", "Open", ".panel")
	h.use("Use this", "Status · Sign your claim ← Open")
}

// keepAll says of everything that a first mapping still asks about that it is right.
func (h hand) keepAll() {
	h.t.Helper()
	for {
		left := ask[[]string](h.browser, `names("button", ".to-decide")`)
		if len(left) == 0 {
			return
		}
		h.push("button", left[0], ".to-decide")
		h.see("main", "")
		for range 600 {
			if now := ask[[]string](h.browser, `names("button", ".to-decide")`); len(now) < len(left) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}
