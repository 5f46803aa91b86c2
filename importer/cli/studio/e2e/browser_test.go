package e2e

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed page.js
var pageScript string

// browser is one tab of Chromium. Its methods fail the test when the page does not show
// what they wait for.
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
	b.watch()
	t.Cleanup(func() {
		if t.Failed() && *pictures != "" {
			b.picture(filepath.Join(*pictures, "failed-"+strings.ReplaceAll(t.Name(), "/", "-")+".png"))
		}
	})
	return b
}

// watch fails the test when the page throws, or the browser reports an error, such as a
// script that the page's security policy forbids. A request that is refused, or that nobody answers, is none.
func (b *browser) watch() {
	b.t.Helper()
	faults := make(chan string, 100)
	messages := chromedp.Console(b.ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" && !strings.HasPrefix(m.Text, "Failed to load resource") {
				faults <- m.String()
			}
		}
	}()
	b.t.Cleanup(func() {
		for len(faults) > 0 {
			b.t.Error(<-faults)
		}
	})
}

// tab opens a second tab in the same browser.
func (b *browser) tab() *browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	must(b.t, chromedp.Do(ctx))
	other := &browser{b.t, ctx, b.axe}
	other.watch()
	return other
}

// run takes a step and returns what it gives.
func run[T any](b *browser, step chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2**patience)
	defer cancel()
	got, err := chromedp.Run(ctx, step)
	must(b.t, err)
	return got
}

// do takes steps that give nothing back.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	run(b, chromedp.Steps(steps...))
}

// evaluate asks the page; the answer of a promise is waited for.
func evaluate[T any](b *browser, script string, args ...any) T {
	b.t.Helper()
	texts := make([]any, len(args))
	for i, arg := range args {
		data, err := json.Marshal(arg)
		must(b.t, err)
		texts[i] = string(data)
	}
	return run(b, chromedp.Evaluate[T](fmt.Sprintf(script, texts...), chromedp.EvalAwaitPromise))
}

// ask calls a function of page.js.
func ask[T any](b *browser, call string, args ...any) T {
	b.t.Helper()
	return evaluate[T](b, "(window.studioTest || "+strings.ReplaceAll(strings.TrimSpace(pageScript), "%", "%%")+", window.studioTest)."+call, args...)
}

// call sends a command of the protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	run(b, func(ctx context.Context, _ *chromedp.Target) (R, error) { return chromedp.Call(ctx, command, params) })
}

// before runs a script in the page before its own.
func (b *browser) before(script string) {
	b.t.Helper()
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// size gives the window another size.
func (b *browser) size(width, height int64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// open opens an address and waits for the verdict over the whole sheet.
func (b *browser) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
	b.see("h1", "")
	b.judged()
}

// at goes to a place of the page, as a bookmark does.
func (b *browser) at(hash string) {
	b.t.Helper()
	evaluate[bool](b, `(location.hash = %s, true)`, hash)
	b.see("h1", "")
}

// shows goes to a place of the page, and waits until an element shows a text.
func (b *browser) shows(hash, selector, text string) { b.t.Helper(); b.at(hash); b.see(selector, text) }

// see waits until an element shows a text.
func (b *browser) see(selector, text string) {
	b.t.Helper()
	if got := ask[string](b, "until(%s, %s, %s)", selector, text, (*patience).Milliseconds()); got != "" {
		b.t.Fatalf("%s shows %s, not %q", selector, got, text)
	}
}

// gone waits until no element of a selector shows.
func (b *browser) gone(selector string) {
	b.t.Helper()
	if got := ask[string](b, "gone(%s, %s)", selector, (*patience).Milliseconds()); got != "" {
		b.t.Fatalf("%s still shows %q", selector, got)
	}
}

// said waits for what the page says that it has done.
func (b *browser) said(text string) { b.t.Helper(); b.see(".said", text) }

// judged waits for the verdict over the whole sheet.
func (b *browser) judged() {
	b.t.Helper()
	b.see("header.top", "")
	b.gone("header.top progress")
}

func (b *browser) count(selector string) int {
	b.t.Helper()
	return evaluate[int](b, "document.querySelectorAll(%s).length", selector)
}

// state is what the server knows, for what the page does not show as such.
func (b *browser) state() state {
	b.t.Helper()
	var s state
	must(b.t, json.Unmarshal([]byte(evaluate[string](b, `fetch("/api/state").then(r => r.text())`)), &s))
	return s
}

type state struct {
	Mapping struct {
		Text  string
		Dirty bool
		At    int
	}
	Job *struct{ Pages, Workbook string }
}

// download fetches a file of the page's server, as a click on its link does.
func (b *browser) download(path string) []byte {
	b.t.Helper()
	data, err := base64.StdEncoding.DecodeString(evaluate[string](b, `fetch(%s).then(r => r.blob()).then(blob => new Promise(done => {
		const reader = new FileReader(); reader.onload = () => done(reader.result.split(",")[1]); reader.readAsDataURL(blob)}))`, path))
	must(b.t, err)
	return data
}

// look looks at the page wide and narrow, light and dark: nothing may stick out, and
// axe-core must find no barrier. With -pictures it keeps what it saw.
func (b *browser) look(name string) {
	b.t.Helper()
	for _, w := range []struct {
		width, height int64
		scheme        string
	}{{1280, 900, "light"}, {1280, 900, "dark"}, {1024, 768, "light"}, {360, 740, "dark"}} {
		b.size(w.width, w.height)
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: w.scheme}}})
		evaluate[bool](b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
		if wide := evaluate[int64](b, `document.documentElement.scrollWidth`); wide > w.width {
			b.t.Errorf("%s is %d wide in a window of %d", name, wide, w.width)
		}
		high := evaluate[int64](b, `document.querySelector("header.top") ? document.documentElement.scrollHeight : 0`)
		if w.width >= 1024 && high > w.height {
			b.t.Errorf("%s is %d high in a window of %d by %d: the page scrolls beside its parts", name, high, w.width, w.height)
		}
		if *pictures != "" {
			b.picture(filepath.Join(*pictures, fmt.Sprintf("%s-%d-%s.png", name, w.width, w.scheme)))
		}
		for _, barrier := range b.barriers() {
			b.t.Errorf("%s, %d wide, %s: %s", name, w.width, w.scheme, barrier)
		}
	}
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

// picture keeps what is in the window.
func (b *browser) picture(path string) {
	b.t.Helper()
	must(b.t, os.WriteFile(path, run(b, chromedp.CaptureScreenshot()), 0o644))
}

// barriers are what axe-core finds by the rules of WCAG 2.2 AA, and by good practice.
func (b *browser) barriers() []string {
	b.t.Helper()
	if b.axe == "" {
		return nil
	}
	if !evaluate[bool](b, `typeof axe === "object"`) {
		run(b, chromedp.Evaluate[any](b.axe+"; 1"))
	}
	return evaluate[[]string](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
		.then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target + ": " + n.failureSummary)))`)
}
