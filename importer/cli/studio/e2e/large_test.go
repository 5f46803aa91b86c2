package e2e

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLarge opens a sheet of -rows rows, scrolls through it, and goes to the next row in
// trouble and to the end. It prints how long that takes and what travels; what it holds to
// is that only what is seen is drawn and asked for.
func TestLarge(t *testing.T) {
	if *rows == 0 {
		t.Skip("-rows 300000 opens a large sheet")
	}
	p := newPlace(t, "importer/cli/studio/e2e/testdata/messy.yaml")
	largeSheet(p, *rows)
	p.write("mapping.yaml", strings.NewReplacer("  header_row: 4", "  # ", `, "31/02/1984"`, "").Replace(p.read("messy.yaml")))
	h := hand{browser: newBrowser(t)}
	var bytes atomic.Int64
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	must(t, err)
	finished := chromedp.Events(ctx, network.LoadingFinished)
	go func() {
		for event, err := range finished {
			if err != nil {
				return
			}
			bytes.Add(int64(event.EncodedDataLength))
		}
	}()
	begin := time.Now()
	s := p.studio("-e", "sandbox", "leads.csv")
	h.do(chromedp.Navigate(s.link))
	h.see("header.top", "")
	shown := time.Since(begin)
	h.judged()
	t.Logf("%d rows: the page after %.1f s, judged after %.1f s, %.2f MB travelled", *rows, shown.Seconds(), time.Since(begin).Seconds(), float64(bytes.Swap(0))/1e6)

	h.at("#rows")
	h.see("[role=gridcell]", "10234")
	frames := evaluate[struct {
		Median, Late, Worst float64
		Cells               int
	}](h.browser, `(async () => {
		const grid = document.querySelector("[role=grid]"), times = []
		let last = performance.now()
		for (let i = 0; i < 300; i++) {
			grid.scrollTop += i %% 30 ? 600 : 200000
			const now = await new Promise(requestAnimationFrame)
			times.push(now - last)
			last = now
		}
		times.sort((a, b) => a - b)
		return {Median: times[150], Late: times[285], Worst: times[299], Cells: document.querySelectorAll("[role=gridcell]").length}
	})()`)
	travelled := bytes.Swap(0)
	t.Logf("300 frames of scrolling: median %.0f ms, 95%% within %.0f ms, worst %.0f ms; %d cells drawn, %.2f MB travelled", frames.Median, frames.Late, frames.Worst, frames.Cells, float64(travelled)/1e6)
	if frames.Cells > 1000 {
		t.Errorf("%d cells are drawn, more than can be seen", frames.Cells)
	}
	if travelled > 20<<20 {
		t.Errorf("scrolling fetched %d bytes", travelled)
	}

	h.at("#rows?show=all&column=G")
	h.see("[role=gridcell]", "")
	begin = time.Now()
	h.button("Next with errors")
	h.see(".cell-details", "31/02/1984")
	t.Logf("the next row with errors after %.1f s", time.Since(begin).Seconds())
	begin = time.Now()
	h.push("cell", "31/02/1984", "")
	h.press(kb.End, ctrl)
	h.see("[role=rowheader]", english(*rows+1))
	t.Logf("the last row after %.1f s, %.2f MB travelled", time.Since(begin).Seconds(), float64(bytes.Swap(0))/1e6)
}

// largeSheet writes leads.csv with the columns and rows of the messy sheet; one day near
// the end is on no calendar.
func largeSheet(p *place, rows int) {
	p.t.Helper()
	f, err := os.Create(p.path("leads.csv"))
	must(p.t, err)
	w := csv.NewWriter(f)
	must(p.t, w.Write(messyHeaders))
	for n := range rows {
		cells := append(messyRow(n), "N/A")
		switch {
		case n == rows-5:
			cells[6] = "31/02/1984"
		case cells[6] == "31/02/1984":
			cells[6] = "28/02/1984"
		}
		must(p.t, w.Write(cells))
	}
	w.Flush()
	must(p.t, w.Error())
	must(p.t, f.Close())
}

// english writes a number of up to six digits as the page does.
func english(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
