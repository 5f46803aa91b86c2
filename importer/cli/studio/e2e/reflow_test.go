package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
)

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
			h.at(v.hash)
			h.see(v.selector, v.text)
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
