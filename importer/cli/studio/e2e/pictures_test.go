package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// TestPictures holds docs/studio.md to its pictures: it names each that there is, and no
// other. With -update-pictures it makes them again.
func TestPictures(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(root, "docs/pictures")
	if *updatePictures {
		takePictures(t, folder)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/studio.md"))
	must(t, err)
	var named, there []string
	for _, found := range regexp.MustCompile(`\]\(pictures/(studio-[a-z]+\.png)\)`).FindAllStringSubmatch(string(page), -1) {
		named = append(named, found[1])
	}
	paths, err := filepath.Glob(filepath.Join(folder, "studio-*.png"))
	must(t, err)
	size := int64(0)
	for _, path := range paths {
		there = append(there, filepath.Base(path))
		info, err := os.Stat(path)
		must(t, err)
		size += info.Size()
	}
	slices.Sort(named)
	if slices.Sort(there); !slices.Equal(named, there) || len(there) == 0 {
		t.Errorf("docs/studio.md names %q, and there are %q; -update-pictures makes them", named, there)
	}
	if size > 1<<20 {
		t.Errorf("the pictures of docs/studio.md have %d bytes, more than 1 MiB", size)
	}
}

// takePictures walks through samples/guide as docs/studio.md does.
func takePictures(t *testing.T, folder string) {
	t.Helper()
	p := newPlace(t, "samples/guide/leads.xlsx")
	h := hand{browser: newBrowser(t)}
	set(h.browser, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1180, Height: 680, DeviceScaleFactor: 1})
	h.open(p.studio("-e", "sandbox", "leads.xlsx").link)
	take := func(name, selector, text string) {
		t.Helper()
		h.see(selector, text)
		h.see(".sum", "usable")
		h.picture(filepath.Join(folder, "studio-"+name+".png"))
	}
	take("columns", "h1", "Columns")
	h.at("#rows?show=errors&column=F")
	take("rows", ".cell-details", "not a day")
	h.at("#columns?at=F")
	take("mistake", ".unreadable", "31/11/1984")
	h.inPanel("Leave empty: 31/11/1984")
	h.said("counts as empty")
	h.at("#targets")
	take("targets", ".to-decide", "to decide")
	h.at("#targets?at=/activities/1/attributes/Lender")
	h.write("“Barclay card” means", "Barclays")
	take("values", ".values", "Use it")
	h.inPanel("Use it")
	h.said("1 text explained")
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
}
