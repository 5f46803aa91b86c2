package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestPictures walks through samples/guide as docs/studio.md does, and takes the pictures
// that it names: into docs/pictures with -update-pictures.
func TestPictures(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if *updatePictures {
		folder = filepath.Join(root, "docs/pictures")
	}
	docs, err := os.ReadFile(filepath.Join(root, "docs/studio.md"))
	must(t, err)
	var taken, named []string
	for _, found := range regexp.MustCompile(`\]\(pictures/studio-([a-z]+)\.png\)`).FindAllStringSubmatch(string(docs), -1) {
		named = append(named, found[1])
	}
	p := newPlace(t, "samples/guide/leads.xlsx")
	h := hand{browser: newBrowser(t)}
	h.size(1180, 680)
	h.open(p.studio("leads.xlsx").link)
	take := func(name, selector, text string) {
		t.Helper()
		h.see(selector, text)
		h.see(".sum", "usable")
		h.picture(filepath.Join(folder, "studio-"+name+".png"))
		taken = append(taken, name)
	}
	take("columns", "h1", "Columns")
	h.at("#rows?show=errors&column=F")
	take("rows", ".cell-details", "not a day")
	h.at("#columns?at=F")
	take("mistake", ".unreadable", "31/11/1984")
	h.use("Leave empty: 31/11/1984", "counts as empty")
	h.at("#targets")
	take("targets", ".to-decide", "to decide")
	h.at("#targets?at=/activities/1/attributes/Lender")
	h.write("“Barclay card” means", "Barclays")
	take("values", ".values", "Use it")
	h.use("Use it", "1 text explained")
	h.at("#client?row=5")
	take("client", ".steps", "Your details")
	h.at("#targets")
	h.workflow("Car finance {run.date}")
	h.at("#file")
	h.button("Changes of this session")
	take("file", ".diff", "31/11/1984")
	h.at("#try")
	h.button("Run into the sandbox")
	h.see("#job-title", "Done, without a mistake")
	h.find("button", "Look at what the sandbox holds", "")
	take("try", ".job", "Get the workbook")
	slices.Sort(named)
	if slices.Sort(taken); !slices.Equal(named, taken) {
		t.Errorf("docs/studio.md names the pictures %q, and %q were taken", named, taken)
	}
}
