package e2e

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/xuri/excelize/v2"
)

// sandbox serves what runs into the sandbox have left, until the test ends. It returns the address, and that of the dashboard.
func (p *place) sandbox() (url, dashboard string) {
	p.t.Helper()
	cmd := exec.Command(p.binary, "sandbox", "--addr", "127.0.0.1:0", "--state", ".claimsheet")
	cmd.Dir = p.dir
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	must(p.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); _ = in.Close(); close(ended) }()
	p.t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); <-ended })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), "http://"); ok && url == "" {
			url = "http://" + rest
		} else if ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return url, "http://" + rest
		}
	}
	p.t.Fatal("claimsheet sandbox ended")
	return "", ""
}

// TestSandbox goes from a run into the sandbox to what a claimant and a case handler see: the journey behind a redirect url of
// the workbook, its form, and the dashboard, with the keyboard alone.
func TestSandbox(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "samples/first/mapping.yaml", "samples/first/environments.yaml", "samples/first/leads.xlsx")
	p.claimsheet("run", "-e", "sandbox", "leads.xlsx")
	f, err := excelize.OpenFile(p.path("leads.results.xlsx"))
	must(t, err)
	row, err := f.GetRows("Results")
	must(t, err)
	_, link, _ := strings.Cut(strings.Join(row[1], " "), "/start/")
	url, dashboard := p.sandbox()
	link = url + "/start/" + strings.Fields(link)[0]
	h := hand{newBrowser(t), true}
	open := func(address string) { h.do(chromedp.Navigate(address)); h.look("sandbox-" + h.title()) }

	// follow goes to the page behind a button or a link.
	follow := func(kind, name string) {
		ctx, cancel := context.WithTimeout(h.ctx, 2**patience)
		defer cancel()
		h.reach(kind, name, "main")
		_, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(kb.Enter))
		must(t, err)
	}

	open(url)
	h.see("pre", "base_url: "+url)
	open(link)
	for _, text := range []string{"Your details", "Completed", "Date of birth", "Agreement details", "Lender", "Your next step"} {
		h.see("ol.steps", text)
	}
	h.press("\t")
	h.see(":focus", "Skip to the content")
	follow("button", "Save and continue") // nothing is filled in
	h.see("main", "fill in at least one field")
	open(link)
	h.write("Full name", "Jo <b>Bloggs</b>")
	follow("button", "Save and continue")
	h.see("main", "Nothing is waiting for you")
	open(link) // it still leads there
	h.see("ol.steps", "Jo <b>Bloggs</b>")

	open(dashboard)
	first := evaluate[string](h.browser, `document.querySelector("tbody tr:last-child a").textContent`) // that was created
	follow("link", first)
	h.see(".activity.own", "Jo <b>Bloggs</b>")
	h.look("sandbox-client")
	if h.count("main b") > 0 {
		t.Error("what the client entered is read as HTML")
	}
	open(url + "/start/nobody")
}

func (b *browser) title() string { b.t.Helper(); return evaluate[string](b, "document.title") }
