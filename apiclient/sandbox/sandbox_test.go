package sandbox_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/sandbox"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The reference data of the tests.
const (
	details   = "00000000-0000-4000-8000-00000000000a"
	agreement = "00000000-0000-4000-8000-00000000000b"
	signature = "00000000-0000-4000-8000-00000000000c"
	surname   = "00000000-0000-4000-8000-0000000000a1"
	lender    = "00000000-0000-4000-8000-0000000000b1"
	unheardOf = "ffffffff-ffff-4fff-8fff-ffffffffffff"

	v1Clients = "/funnel/v1/cases/" + sandbox.CaseID + "/clients"
	v2        = "/funnel/v2"
)

// open makes a service with the tests' reference data and a clock that does not move.
func open(t testing.TB, dir string) *sandbox.Service {
	t.Helper()
	return start(t, options(t, dir))
}

// start makes a service, which ends with the test.
func start(t testing.TB, o sandbox.Options) *sandbox.Service {
	t.Helper()
	s := must(sandbox.New(o))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// must is the value of a call that must succeed: must(os.ReadFile(path))(t).
func must[V any](value V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		noError(t, err)
		return value
	}
}

// noError ends a test that an error makes pointless.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func options(t testing.TB, dir string) sandbox.Options {
	t.Helper()
	templates := must(os.ReadFile("testdata/templates.json"))(t)
	noon := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	return sandbox.Options{Dir: dir, Templates: templates, Now: noon}
}

// send sends one request as it is written and returns the answer.
func send(h http.Handler, method, path, contentType, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return ask(h, r)
}

// ask returns the answer to a request.
func ask(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// post posts JSON, expects 201 and returns the answer's fields.
func post(t testing.TB, h http.Handler, path, body string) map[string]string {
	t.Helper()
	return want(t, send(h, "POST", path, "application/json", body), http.StatusCreated)
}

// get gets a path, expects 200 and returns the answer's fields.
func get(t testing.TB, h http.Handler, path string) map[string]string {
	t.Helper()
	return want(t, send(h, "GET", path, "", ""), http.StatusOK)
}

func want(t testing.TB, w *httptest.ResponseRecorder, status int) map[string]string {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q, want application/json", got)
	}
	var fields map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &fields); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return fields
}

// pathOf returns the path of a redirect url below the default base.
func pathOf(t testing.TB, url string) string {
	t.Helper()
	path, ok := strings.CutPrefix(url, "https://sandbox.invalid")
	if !ok || !regexp.MustCompile(`^/start/[A-Z2-7]{26}$`).MatchString(path) {
		t.Fatalf("redirect url %q: want https://sandbox.invalid/start/ and a token", url)
	}
	return path
}

var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|/start/[A-Z2-7]{26}`)

// numbered replaces each id and token that the service has chosen by a number, in
// order of appearance. Ids of the tests begin with 0 or f.
func numbered(s string) string {
	seen := map[string]string{}
	return random.ReplaceAllStringFunc(s, func(id string) string {
		if strings.HasPrefix(id, "00000000") || id == unheardOf || id == sandbox.CaseID {
			return id
		}
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("(%d)", len(seen)+1)
		}
		return seen[id]
	})
}

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		noError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	same(t, file, string(must(os.ReadFile(file))(t)), got)
}

// shown returns a snapshot as text that is the same in every run.
func shown(t testing.TB, s *sandbox.Service) string {
	t.Helper()
	return numbered(string(must(json.MarshalIndent(s.Snapshot(), "", "  "))(t))) + "\n"
}

// What claimsheet templates --json prints is taken, and answered in the service's form.
func TestTemplatesAsPrinted(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{Templates: []byte(`{"environment":"uat","api":"v2","templates":[
		{"id":"` + details + `","name":"Details","attributes":[{"id":"` + surname + `","name":"Surname","type":"Text"},{"id":"` + lender + `","name":"Lender","type":""}]},
		{"id":"` + signature + `","name":"Signature","attributes":[]}]}`)})
	want := `[{"id":"` + details + `","name":"Details","activityAttributeTemplates":[{"id":"` + surname + `","name":"Surname","dataType":"Text"},{"id":"` + lender + `","name":"Lender"}]},` +
		`{"id":"` + signature + `","name":"Signature","activityAttributeTemplates":[]}]`
	if got := strings.TrimSpace(send(s, "GET", v2+"/activity-templates", "", "").Body.String()); got != want {
		t.Errorf("templates:\n%s\nwant\n%s", got, want)
	}
}
