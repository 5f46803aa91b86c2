package cli_test

import (
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"claimsheet/importer/cli"
)

// TestPagesShowARun goes the way of a client in the first sample: the run says which command serves what it has left,
// the redirect url of the workbook opens the journey, the form completes the Open activity, and case handlers see whose
// entry it is.
func TestPagesShowARun(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "first sample")
	must(t, copySample(filepath.Join(root, "samples", "first"), folder))
	p := claimsheet(t, "run", "-m", filepath.Join(folder, "mapping.yaml"), filepath.Join(folder, "leads.xlsx"))
	state := filepath.Join(folder, ".claimsheet")
	if want := "\n  claimsheet sandbox --state '" + state + "'\n"; p.code != 0 || !strings.HasSuffix(p.out, want) {
		t.Errorf("the run ends with exit code %d and\n%s%s\nwant%s", p.code, p.err, p.out, want)
	}
	row := readSheet(t, filepath.Join(folder, "leads.results.xlsx"), "Results")[0]
	address, err := url.Parse(row["redirectUrl"])
	must(t, err)
	if address.Scheme != "http" || address.Host != "127.0.0.1:8080" {
		t.Errorf("the redirect url leads to %s://%s", address.Scheme, address.Host)
	}

	served := inBackground(t, cli.QuickPace(), "sandbox", "--addr", "127.0.0.1:0", "--state", state)
	base, dashboard := served.line(&served.out, ""), served.line(&served.err, "as case handlers see it: ")
	journey := openPage(t, base+address.Path, nil)
	wantTexts(t, journey, "Your details Completed", row["Post code"], "Agreement details Completed", row["Agreement no"], "Sign your claim Your next step")
	form := regexp.MustCompile(`(?s)<form method="post" action="([^"]+)".*<input type="text" id="[^"]+" name="([^"]+)"`).FindStringSubmatch(journey)
	done := openPage(t, base+form[1], url.Values{form[2]: {"Signed by hand"}})
	wantTexts(t, done, "Thank you. “Sign your claim” is completed.", "Nothing is waiting for you", "Signed by hand")
	found := openPage(t, dashboard+"?q=signed+by+hand", nil)
	wantTexts(t, found, " 1 client ", row["E-mail"])
	file := regexp.MustCompile(`<a href="(/dashboard/[^"]+/clients/[^"]+)"`).FindStringSubmatch(found)
	wantTexts(t, openPage(t, base+file[1], nil), "Entered by the client", "Signed by hand", "Submitted back-filled", row["Agreement no"])
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
