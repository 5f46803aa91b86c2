package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"claimsheet/importer/cli"
)

// TestPagesShowARun goes the way of a client in the first sample: the run says which
// command serves what it has left, the redirect url of the workbook opens the journey, the form
// completes the Open activity, and case handlers see whose entry it is.
func TestPagesShowARun(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "first sample")
	must(t, copySample(filepath.Join(root, "samples", "first"), folder))
	var out, said bytes.Buffer
	run := []string{"run", "-m", filepath.Join(folder, "mapping.yaml"), filepath.Join(folder, "leads.xlsx")}
	if code := quickMain(t.Context(), run, cli.IO{In: strings.NewReader(""), Out: &out, Err: &said, Env: os.Getenv}); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &out, &said)
	}
	state := filepath.Join(folder, ".claimsheet")
	if want := "\n  claimsheet sandbox --state '" + state + "'\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("the run ends with\n%s\nwant%s", &out, want)
	}
	row := readSheet(t, filepath.Join(folder, "leads.results.xlsx"), "Results")[0]
	address, err := url.Parse(row["redirectUrl"])
	must(t, err)
	if address.Scheme != "http" || address.Host != "127.0.0.1:8080" {
		t.Errorf("the redirect url leads to %s://%s", address.Scheme, address.Host)
	}

	base, dashboard := serveSandbox(t, "--state", state)
	journey := openPage(t, base+address.Path, nil)
	wantTexts(t, journey, "Your details Completed", row["Post code"], "Agreement details Completed", row["Agreement no"], "Sign your claim Your next step")
	form := regexp.MustCompile(`<form method="post" action="([^"]+)"`).FindStringSubmatch(journey)
	name := regexp.MustCompile(`<input type="text" id="[^"]+" name="([^"]+)"`).FindStringSubmatch(journey)
	if form == nil || name == nil {
		t.Fatalf("no form with a text field:\n%s", journey)
	}
	done := openPage(t, base+form[1], url.Values{name[1]: {"Signed by hand"}})
	wantTexts(t, done, "Thank you. “Sign your claim” is completed.", "Nothing is waiting for you", "Signed by hand")

	found := openPage(t, dashboard+"?show=entered&q=signed+by+hand", nil)
	wantTexts(t, found, "Clients 10 ", "Completed by clients 1 ", " 1 client ", row["E-mail"])
	file := regexp.MustCompile(`<a href="(/dashboard/[^"]+/clients/[^"]+)"`).FindStringSubmatch(found)
	if file == nil {
		t.Fatalf("the list leads to no client:\n%s", found)
	}
	wantTexts(t, openPage(t, base+file[1], nil), "1 completed by the client", "Entered by the client", "Signed by hand", "Submitted back-filled", row["Agreement no"])
}

// serveSandbox serves the sandbox until the test ends, and returns its url and that of
// the dashboard.
func serveSandbox(t *testing.T, args ...string) (base, dashboard string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	said, messages := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- quickMain(ctx, append([]string{"sandbox", "--addr", "127.0.0.1:0"}, args...),
			cli.IO{In: strings.NewReader(""), Out: out, Err: messages, Env: os.Getenv})
		_ = messages.Close()
		_ = out.Close()
	}()
	t.Cleanup(func() { stop(); <-ended })
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			t.Log(lines.Text())
			if _, url, ok := strings.Cut(lines.Text(), "as case handlers see it: "); ok {
				found <- url
				break
			}
		}
		_, _ = io.Copy(io.Discard, said)
	}()
	first, err := bufio.NewReader(printed).ReadString('\n')
	must(t, err)
	dashboard = <-found
	return strings.TrimSpace(first), dashboard
}

// openPage opens a page as a browser does, or sends a form, and follows where it leads.
func openPage(t *testing.T, address string, form url.Values) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if form != nil {
		r, err = http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	}
	must(t, err)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+r.URL.Host)
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s\n%s", r.Method, answer.Status, body)
	}
	return string(body)
}

// wantTexts expects texts among what a person reads on a page.
func wantTexts(t *testing.T, page string, want ...string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	must(t, err)
	var words []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			words = append(words, strings.Fields(n.Data)...)
		}
	}
	text := strings.Join(words, " ")
	for _, w := range want {
		if w == "" || !strings.Contains(text, w) {
			t.Errorf("the page lacks %q: %s", w, text)
		}
	}
}
