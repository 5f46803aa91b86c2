// Package e2e looks at the sandbox's pages in a real browser, as people do: Chromium,
// driven by chromedp. It is a module of its own, so that the program's go.mod does not
// need what only these tests use.
//
//	npm ci && go test . -pictures FOLDER
//
// npm brings axe-core, which looks for barriers in every page; without it that part is
// left out, and -axe makes it an error. Without Chromium all tests are left out.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"
)

var (
	pictures = flag.String("pictures", "", "`FOLDER` for pictures of the pages; it must exist")
	needAxe  = flag.Bool("axe", false, "fail without axe-core instead of leaving it out")
)

// root is the folder of the program's module.
const root = "../../.."

// TestWalk goes from a run into the sandbox to what a claimant and a case handler see:
// the journey behind a redirect url of the workbook, its form, and the dashboard.
func TestWalk(t *testing.T) {
	w := newWorkplace(t)
	w.claimsheet("run", "-e", "sandbox", "leads.xlsx")
	link := w.redirectURL("leads.results.xlsx")
	w.serve("--state", ".claimsheet")
	b := newBrowser(t)

	b.open(w.url)
	b.see("h1", "The Claimsheet sandbox")
	b.see("pre", "base_url: "+w.url)
	b.picture("front")

	journey := w.here(link)
	b.open(journey)
	b.see("h1", "Your claim")
	b.see("ol.steps", "Your details", "Completed", "Date of birth", "Agreement details", "Lender", "Your next step")
	b.picture("journey")

	b.click("form button[type=submit]") // nothing is filled in
	b.see("h1", "The step was not sent")
	b.see("main", "fill in at least one field")
	b.open(journey)
	b.fill("form input[type=text], form textarea", "Jo <b>Bloggs</b>")
	b.click("form button[type=submit]")
	b.see("main", "Nothing is waiting for you")
	b.see("ol.steps", "Jo <b>Bloggs</b>", "on this site")
	b.picture("journey-completed")
	b.open(journey) // the link still leads there
	b.see("main", "Nothing is waiting for you")

	b.open(w.dashboard)
	b.see("h1", "Clients")
	b.picture("dashboard")
	b.click("tbody tr:last-child th a") // the first one created
	b.see("h1")
	b.see(".activity.own", "Entered by the client", "Jo <b>Bloggs</b>")
	b.picture("client")
	b.open(w.url + "/start/nobody")
	b.see("h1")
	b.picture("unknown-link")
	if b.count("main b") > 0 {
		t.Error("what the client entered is read as HTML")
	}
}

// TestKeyboard completes a step with the keyboard alone.
func TestKeyboard(t *testing.T) {
	w := newWorkplace(t)
	w.claimsheet("run", "-e", "sandbox", "leads.xlsx")
	link := w.redirectURL("leads.results.xlsx")
	w.serve("--state", ".claimsheet")
	b := newBrowser(t)
	b.open(w.here(link))
	b.press("\t")
	if got := b.focused(); !strings.Contains(got, "Skip to the content") {
		t.Errorf("the first stop is %q", got)
	}
	for range 10 {
		b.press("\t")
		if strings.HasPrefix(b.focused(), "INPUT") {
			break
		}
	}
	b.press("signed")
	for range 10 {
		b.press("\t")
		if strings.HasPrefix(b.focused(), "BUTTON") {
			break
		}
	}
	b.press("\r")
	b.see(".panel", "Nothing is waiting for you")
}

// TestNamesAreText creates a client whose name is HTML: the pages show it as it is.
func TestNamesAreText(t *testing.T) {
	w := newWorkplace(t)
	w.serve()
	const name = `<script>document.title="owned"</script><img src=x onerror="document.title='owned'">`
	body, _ := json.Marshal(map[string]string{"firstName": name, "lastName": "O'Neil & <i>Sons</i>", "email": "x@example.com"})
	res, err := http.Post(w.url+"/funnel/v2/contacts?isAdministrator=true", "application/json", bytes.NewReader(body))
	must(t, err)
	if res.Body.Close(); res.StatusCode/100 != 2 {
		t.Fatal(res.Status)
	}
	b := newBrowser(t)
	b.open(w.dashboard)
	b.see("table", `<script>document.title="owned"</script>`, "O'Neil & <i>Sons</i>")
	b.click("tbody th a")
	b.see("h1", `<img src=x`)
	if n := b.count("main script, main img, main i"); n > 0 || b.title() == "owned" {
		t.Errorf("%d elements came from a name; the title is %q", n, b.title())
	}
}

// workplace is a folder with a sample, and a sandbox that serves it.
type workplace struct {
	t              *testing.T
	dir            string
	binary         string
	url, dashboard string
}

func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	w := &workplace{t: t, dir: t.TempDir(), binary: program(t)}
	for _, name := range []string{"mapping.yaml", "environments.yaml", "leads.xlsx"} {
		data, err := os.ReadFile(filepath.Join(root, "samples/first", name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(w.dir, name), data, 0o600))
	}
	return w
}

var builds = map[string]string{}

// program builds the program once.
func program(t *testing.T) string {
	t.Helper()
	if builds[root] == "" {
		dir, err := os.MkdirTemp("", "claimsheet-e2e-*")
		must(t, err)
		binary := filepath.Join(dir, "claimsheet")
		cmd := exec.Command("go", "build", "-o", binary, ".")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		builds[root] = binary
	}
	return builds[root]
}

// claimsheet runs a command that must succeed.
func (w *workplace) claimsheet(args ...string) {
	w.t.Helper()
	cmd := exec.Command(w.binary, args...)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("claimsheet %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// serve starts the sandbox until the test ends.
func (w *workplace) serve(args ...string) {
	w.t.Helper()
	w.start(append([]string{"sandbox", "--addr", "127.0.0.1:0"}, args...), func(word string) bool {
		if strings.Contains(word, "/dashboard/") {
			w.dashboard = word
		} else {
			w.url = word
		}
		return w.url != "" && w.dashboard != ""
	})
}

// start starts a command that runs until the test ends. It returns when known is
// satisfied with the urls that the command has printed.
func (w *workplace) start(args []string, known func(url string) bool) {
	w.t.Helper()
	cmd := exec.Command(w.binary, args...)
	cmd.Dir = w.dir
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	must(w.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); _ = in.Close(); close(ended) }()
	w.t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); <-ended })
	var printed strings.Builder
	for lines := bufio.NewScanner(io.TeeReader(out, &printed)); lines.Scan(); {
		for word := range strings.FieldsSeq(lines.Text()) {
			if strings.HasPrefix(word, "http://") && known(word) {
				go func() { _, _ = io.Copy(io.Discard, out) }()
				return
			}
		}
	}
	w.t.Fatalf("claimsheet %s:\n%s", strings.Join(args, " "), printed.String())
}

// redirectURL returns the first redirect url of a results workbook.
func (w *workplace) redirectURL(name string) string {
	w.t.Helper()
	for word := range strings.FieldsSeq(w.text(name, "Results")) {
		if strings.Contains(word, "/start/") {
			return word
		}
	}
	w.t.Fatal("the workbook has no redirect url")
	return ""
}

// text returns the cells of a sheet with spaces between them; "" without the sheet.
func (w *workplace) text(name, sheet string) string {
	w.t.Helper()
	f, err := excelize.OpenFile(filepath.Join(w.dir, name))
	must(w.t, err)
	defer f.Close()
	var all []string
	rows, _ := f.GetRows(sheet)
	for _, row := range rows {
		all = append(all, row...)
	}
	return strings.Join(all, " ")
}

// here is a url of the sandbox with the host and port on which it is served now.
func (w *workplace) here(link string) string {
	w.t.Helper()
	u, err := url.Parse(link)
	must(w.t, err)
	if now, err := url.Parse(w.url); err == nil && now.Host != "" {
		u.Host = now.Host
	}
	return u.String()
}

// browser is one tab of Chromium. Its methods fail the test when they cannot do what
// they say within a minute.
type browser struct {
	t   *testing.T
	ctx context.Context
	axe string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil && *needAxe {
		t.Fatal("axe-core is missing: run npm ci")
	}
	b := &browser{t, ctx, string(axe)}
	must(t, chromedp.Do(ctx)) // the browser belongs to this context, not to that of one step
	return b
}

// do takes steps that give nothing back.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// get takes a step and returns what it gives.
func get[T any](b *browser, step chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	got, err := chromedp.Run(ctx, step)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// set sends a command of the protocol that gives nothing back.
func set[P any](b *browser, command cdp.Command[P, cdp.Empty], params P) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Call(ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(url string) { b.t.Helper(); b.do(chromedp.Navigate(url)) }

// click clicks and waits for the next page.
func (b *browser) click(selector string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		b.t.Fatalf("click %s: %v", selector, err)
	}
}

func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SetValue(chromedp.CSS(selector), text))
}

// press types keys into what has the focus.
func (b *browser) press(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }

// focused says which element has the focus, and its text.
func (b *browser) focused() string {
	b.t.Helper()
	return get(b, chromedp.Evaluate[string](`document.activeElement.tagName + " " + document.activeElement.textContent`))
}

// see waits for an element, and checks that the person sees all of the texts in it.
func (b *browser) see(selector string, texts ...string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	seen := get(b, chromedp.Text(chromedp.CSS(selector)))
	for _, text := range texts {
		if !strings.Contains(seen, text) {
			b.t.Errorf("%s shows %q, not %q", selector, seen, text)
		}
	}
}

func (b *browser) count(selector string) int {
	b.t.Helper()
	return get(b, chromedp.Evaluate[int](fmt.Sprintf("document.querySelectorAll(%q).length", selector)))
}

func (b *browser) title() string { b.t.Helper(); return get(b, chromedp.Title()) }

// picture looks at the page wide and narrow, light and dark: nothing may stick out, and
// axe-core must find no barrier. With -pictures it keeps what it saw.
func (b *browser) picture(name string) {
	b.t.Helper()
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			set(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
			set(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			if wide := get(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
				b.t.Errorf("%s is %d wide in a window of %d", name, wide, width)
			}
			if *pictures != "" {
				png := get(b, chromedp.FullScreenshot(100))
				must(b.t, os.WriteFile(filepath.Join(*pictures, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), png, 0o600))
			}
			for _, barrier := range b.barriers() {
				b.t.Errorf("%s, %d wide, %s: %s", name, width, scheme, barrier)
			}
		}
	}
	set(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}

// barriers are what axe-core finds by the rules of WCAG 2.2 AA, and by good practice.
func (b *browser) barriers() []string {
	b.t.Helper()
	if b.axe == "" {
		return nil
	}
	return get(b, chromedp.Evaluate[[]string](b.axe+`
		;axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
		.then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target + ": " + n.failureSummary)))`, chromedp.EvalAwaitPromise))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
