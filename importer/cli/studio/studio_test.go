package studio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/serve"
	"claimsheet/importer/cli/studio"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/convert"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var must = testform.NoError

const mappingText = `# made by hand
name: spring   # the campaign
api: v2

client:
  key: Lead no
  lookup: {email: E-mail}
  fields:
    email: {column: E-mail, type: Email}
    lastName: Surname   # as on the passport
workflow: {name: Spring, template_identifier: WF}
activities:
  - template: Your details
    attributes:
      Date of birth: {column: DOB, format: dd/mm/yyyy}
      Title: {column: Title, values: {Mr: Mister, Ms: Miss}}
`

// sheetText has two clients of two rows each, one of which disagrees, and cells that
// cannot be used: a date in row 4, a title in row 5, an address in row 6.
const sheetText = `Lead no,E-mail,Surname,DOB,Title,Notes
1,ann@example.com,Archer,01/02/1980,Mr,x
1,ann@example.com,Archer,01/02/1980,Mr,
2,bob@example.com,Brown,31/02/1981,Ms,x
2,bob@example.com,Baker,03/04/1981,Dr,
3,not an address,Cole,05/06/1982,Mr,y
`

var details = &mapping.Service{Environment: "uat", Templates: []mapping.Template{
	{ID: "t1", Name: "Your details", Attributes: []mapping.AttributeTemplate{
		{ID: "a1", Name: "Title", Type: convert.DropDown, Options: []string{"Mister", "Miss"}},
		{ID: "a2", Name: "Date of birth", Type: convert.Date}, {ID: "a3", Name: "Remarks", Type: convert.Text}}},
	{ID: "t2", Name: "More", Attributes: []mapping.AttributeTemplate{{ID: "b1", Name: "Note", Type: convert.Text}, {ID: "b2", Name: "Source", Type: convert.Text}}},
}}

// tab is a browser with a session.
type tab struct {
	*testing.T
	http *http.Client
	base string
	file string // the mapping
}

// reply is an answer of the API.
type reply map[string]any

// begin starts a session over a mapping and a sheet, and opens its page.
func begin(t *testing.T, text, sheet string, change func(*studio.Options)) *tab {
	t.Helper()
	dir := t.TempDir()
	b := &tab{T: t, file: filepath.Join(dir, "mapping.yaml")}
	if text != "" {
		write(t, b.file, text)
	}
	write(t, filepath.Join(dir, "leads.csv"), sheet)
	o := studio.Options{Mapping: b.file, Sheets: []string{filepath.Join(dir, "leads.csv")}, Service: details}
	if change != nil {
		change(&o)
	}
	s, err := studio.New(t.Context(), o)
	must(t, err)
	l, err := serve.Loopback("tcp4", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), l) }()
	t.Cleanup(func() {
		for _, err := range []error{s.Close(), <-served} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	jar, err := cookiejar.New(nil)
	must(t, err)
	b.http, b.base = &http.Client{Jar: jar}, "http://"+l.Addr().String()
	if status, body := b.ask("GET", strings.TrimPrefix(s.Link(l), b.base), ""); status != 200 || !strings.Contains(body, "Claimsheet Studio") {
		t.Fatalf("the link answers %d: %s", status, body)
	}
	return b
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func (b *tab) ask(method, path, body string) (status int, answer string) {
	b.Helper()
	r, err := http.NewRequest(method, b.base+path, strings.NewReader(body))
	must(b, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := b.http.Do(r)
	must(b, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	must(b, err)
	return response.StatusCode, string(data)
}

// get asks for JSON.
func (b *tab) get(path string) reply {
	b.Helper()
	status, body := b.ask("GET", path, "")
	return b.parsed(status, body, 200, path)
}

// post sends a change, made of pairs of keys and values, and expects a status.
func (b *tab) post(path string, want int, pairs ...any) reply {
	b.Helper()
	in := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		in[pairs[i].(string)] = pairs[i+1]
	}
	data, err := json.Marshal(in)
	must(b, err)
	status, body := b.ask("POST", path, string(data))
	return b.parsed(status, body, want, path)
}

func (b *tab) parsed(status int, body string, want int, path string) reply {
	b.Helper()
	var out reply
	if err := json.Unmarshal([]byte(body), &out); err != nil || status != want {
		b.Fatalf("%s answers %d, want %d: %s (%v)", path, status, want, body, err)
	}
	return out
}

// at returns a value inside a reply, by keys and numbers with dots between them.
func (r reply) at(path string) any {
	var v any = map[string]any(r)
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok {
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(list) {
				return nil
			}
			v = list[n]
			continue
		}
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

// list returns the entries of a list.
func (r reply) list(key string) (entries []reply) {
	all, _ := r[key].([]any)
	for _, entry := range all {
		entries = append(entries, entry.(map[string]any))
	}
	return entries
}

// one returns the entry of a list with a value under a key.
func (r reply) one(list, key string, value any) reply {
	for _, entry := range r.list(list) {
		if entry[key] == value {
			return entry
		}
	}
	return nil
}

// has expects values in a reply, made of pairs of paths and values.
func (r reply) has(t *testing.T, pairs ...any) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		expect(t, pairs[i].(string), r.at(pairs[i].(string)), pairs[i+1])
	}
}

// until waits for a state.
func (b *tab) until(what string, is func(reply) bool) reply {
	b.Helper()
	since := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		status, body := b.ask("GET", "/api/state"+since, "")
		if status == 204 {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		st := b.parsed(status, body, 200, "/api/state")
		if is(st) {
			return st
		}
		since = fmt.Sprintf("?since=%v.%v", st["version"], st["progress"])
	}
	b.Fatalf("there is never %s", what)
	return nil
}

// judged waits until the whole sheet is judged.
func (b *tab) judged() reply {
	b.Helper()
	return b.until("a whole judgement", func(st reply) bool { return st.at("judgement.complete") == true })
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := encode(got), encode(want); g != w {
		t.Errorf("%s is %s, want %s", what, g, w)
	}
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// A request is answered only with the cookie of the link, from the page itself.
func TestGuard(t *testing.T) {
	t.Parallel()
	b := begin(t, mappingText, sheetText, nil)
	port := b.base[strings.LastIndexByte(b.base, ':'):]
	base, err := url.Parse(b.base)
	cookies := b.http.Jar.Cookies(base)
	if len(cookies) != 1 || err != nil {
		t.Fatalf("there are %d cookies, %v", len(cookies), err)
	}
	for name, c := range map[string]struct {
		method, path string
		change       func(*http.Request)
		want         int
	}{
		"as the page asks":    {"GET", "/api/state", func(*http.Request) {}, 200},
		"another name of it":  {"GET", "/api/state", func(r *http.Request) { r.Host = "localhost" + port }, 200},
		"its own origin":      {"POST", "/api/job/cancel", func(r *http.Request) { r.Header.Set("Origin", b.base) }, 200},
		"a rebound name":      {"GET", "/api/state", func(r *http.Request) { r.Host = "evil.example" + port }, 403},
		"a name like ours":    {"GET", "/api/state", func(r *http.Request) { r.Host = "127.0.0.1.evil.example" + port }, 403},
		"another port":        {"GET", "/api/state", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"no port":             {"GET", "/api/state", func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		"the link, rebound":   {"GET", "/?token=x", func(r *http.Request) { r.Host = "evil.example" + port }, 403},
		"a foreign page":      {"POST", "/api/history", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"a foreign page asks": {"GET", "/api/state", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"a script of it":      {"GET", "/app.js", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"a form of it":        {"POST", "/api/history", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"another local port":  {"POST", "/api/history", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"a picture of it":     {"GET", "/api/state", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"a link to the page": {"GET", "/", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, 200},
		"a link to the API": {"GET", "/api/state", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, 403},
		"an opaque origin":    {"POST", "/api/history", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"no cookie":           {"GET", "/api/state", func(r *http.Request) { r.Header.Del("Cookie") }, 401},
		"no cookie, the page": {"GET", "/", func(r *http.Request) { r.Header.Del("Cookie") }, 401},
		"a wrong cookie":      {"GET", "/api/state", func(r *http.Request) { r.Header.Set("Cookie", cookies[0].Name+"=x") }, 401},
		"a wrong token":       {"GET", "/?token=x", func(r *http.Request) { r.Header.Del("Cookie") }, 403},
		"no such path":        {"GET", "/api/other", func(*http.Request) {}, 404},
	} {
		r, err := http.NewRequest(c.method, b.base+c.path, nil)
		must(t, err)
		r.AddCookie(cookies[0])
		c.change(r)
		response, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		if response.Body.Close(); response.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", name, response.StatusCode, c.want)
		}
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
			expect(t, name+": "+header, response.Header.Get(header), want)
		}
		if csp := response.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", name, csp)
		}
	}
	if status, _ := b.ask("POST", "/api/text", `{"version":1,"text":"`+strings.Repeat("x", 5<<20)+`"}`); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 5 MiB gets %d", status)
	}
}

// session is a session without a page, which ends when none asks for so long; 0 for the default.
func session(t *testing.T, idle time.Duration) *studio.Server {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "leads.csv"), sheetText)
	s, err := studio.New(t.Context(), studio.Options{Mapping: filepath.Join(dir, "m.yaml"), Proposed: []byte(mappingText), Sheets: []string{filepath.Join(dir, "leads.csv")}, Idle: idle})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// The link opens one page; a second browser gets none, the first may come again.
func TestTokenOnce(t *testing.T) {
	t.Parallel()
	s := session(t, 0)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	visit := func(cookies ...*http.Cookie) *http.Response {
		r, err := http.NewRequest("GET", s.Link(server.Listener), nil)
		must(t, err)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		answer.Body.Close()
		return answer
	}
	first := visit()
	if len(first.Cookies()) != 1 || first.StatusCode != 303 || first.Header.Get("Location") != "/" {
		t.Fatalf("the link answers %d with %v", first.StatusCode, first.Header)
	}
	c := first.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie is %v", c)
	}
	if second := visit(); second.StatusCode != 403 || len(second.Cookies()) != 0 {
		t.Errorf("the link answers a second browser with %d", second.StatusCode)
	}
	if again := visit(c); again.StatusCode != 303 {
		t.Errorf("the link answers the same browser with %d", again.StatusCode)
	}
}

func op(op, path string, value any) map[string]any {
	return map[string]any{"op": op, "path": path, "value": value}
}

// Changes are made for a version; undo to the start gives the bytes of the start.
func TestVersions(t *testing.T) {
	t.Parallel()
	b := begin(t, mappingText, sheetText, nil)
	st := b.post("/api/patch", 200, "version", 1, "label", "first name", "operations", []any{op("add", "/client/fields/firstName", "Title")})
	st.has(t, "version", 2)
	if text := st.at("mapping.text").(string); !strings.Contains(text, "    lastName: Surname   # as on the passport\n    firstName: Title\n") {
		t.Errorf("the text is\n%s", text)
	}
	st.has(t, "mapping.dirty", true)
	b.post("/api/text", 409, "version", 1, "text", "").has(t, "error.code", "stale", "state.version", 2)
	b.post("/api/text", 200, "version", 2, "text", "name: [")
	b.post("/api/ignore", 200, "version", 3, "column", "F", "ignored", true)
	b.post("/api/history", 200, "version", 4, "to", 2).has(t, "mapping.text", "name: [")
	b.post("/api/history", 200, "version", 5, "to", 0).has(t, "mapping.text", mappingText, "mapping.dirty", false)
	b.post("/api/history", 422, "version", 6, "to", -1)
	b.post("/api/history", 200, "version", 6, "to", 3).has(t, "mapping.text", "name: [\n# ignored: Notes\n", "mapping.at", 3)
	b.post("/api/history", 200, "version", 7, "to", 2)
	b.post("/api/patch", 422, "version", 8, "label", "x", "operations", []any{op("add", "/a", 1)}).has(t, "error.code", "not-yaml")
}

// What a page asks for is done to the file whether or not the parents are there, and in
// the way of the file.
func TestPatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ops       []any
		old, want string // a part of the text before and after; "" for old adds at the end
	}{
		"a parent that is not there": {[]any{op("add", "/sheet/when", `has("Notes")`)},
			"", "sheet:\n  when: 'has(\"Notes\")'\n"},
		"a key that is not there": {[]any{op("add", "/activities/0/status", "Accepted")}, "", "    status: Accepted\n"},
		"an attribute of a template that is there": {[]any{op("replace", "/activities/template=Your details/attributes/Remarks", "Notes")},
			"Ms: Miss}}\n", "Ms: Miss}}\n      Remarks: Notes\n"},
		"two of a template that is not there": {[]any{op("add", "/activities/template=More/attributes/Note", "Notes"), op("add", "/activities/template=More/attributes/Source", map[string]any{"value": "web"})},
			"Ms: Miss}}\n", "Ms: Miss}}\n  - template: More\n    attributes:\n      Note: Notes\n      Source: {value: web}\n"},
		"a text of a list that is not there, and another": {[]any{op("add", "/sheet/empty/-", "N/A"), op("add", "/sheet/empty/-", "-")},
			"", "sheet:\n  empty: [N/A, \"-\"]\n"},
		"an expression in the quotes of a person": {[]any{op("add", "/client/fields/initial", map[string]any{"expr": `upper(col("Surname"))`})},
			"as on the passport\n", "as on the passport\n    initial: {expr: 'upper(col(\"Surname\"))'}\n"},
		"the last of an object":                            {[]any{map[string]any{"op": "remove", "path": "/client/lookup/email"}}, "  lookup: {email: E-mail}\n", ""},
		"the last text of a list, and all that it was for": {[]any{op("add", "/sheet/empty/-", "-"), map[string]any{"op": "remove", "path": "/sheet/empty/0"}}, "", ""},
		"a list that is not there": {[]any{op("add", "/claims/0/key", "Lead no")},
			"", "claims:\n  - key: Lead no\n"},
	} {
		b := begin(t, mappingText, sheetText, nil)
		st := b.post("/api/patch", 200, "version", 1, "label", name, "operations", c.ops)
		want := mappingText + c.want
		if c.old != "" {
			want = strings.Replace(mappingText, c.old, c.want, 1)
		}
		expect(t, name, st.at("mapping.text"), want)
	}
}

// Save replaces the file as a whole, and not when another program has changed it.
func TestSave(t *testing.T) {
	t.Parallel()
	draft := filepath.Join(t.TempDir(), "studio", "x.json")
	b := begin(t, mappingText, sheetText, func(o *studio.Options) { o.Autosave = draft })
	must(t, os.Chmod(b.file, 0o600))
	text := b.autumn()
	b.holds(b.file, mappingText) // it is not saved
	if info, err := os.Stat(draft); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what is not saved is kept as %v (%v)", info, err)
	}
	write(t, b.file, mappingText+"# by hand\n")
	b.get("/api/state").has(t, "mapping.diskNote", "another program has written the file meanwhile")
	b.post("/api/save", 409, "version", 2).has(t, "error.code", "changed-on-disk")
	b.holds(b.file, mappingText+"# by hand\n")
	st := b.post("/api/save", 200, "version", 2, "overwrite", true)
	b.holds(b.file, text)
	if info, err := os.Stat(b.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is now %v (%v)", info.Mode(), err)
	}
	b.left()
	if _, err := os.Stat(draft); !os.IsNotExist(err) {
		t.Errorf("what was saved is still kept as not saved: %v", err)
	}
	st.has(t, "mapping.dirty", false)
	must(t, os.Remove(b.file))
	b.get("/api/state").has(t, "mapping.diskNote", "the file is not there any more")
	write(t, b.file, "name: other\n")
	b.post("/api/reload", 200, "version", 2).has(t, "mapping.text", "name: other\n")
}

// A session ends when no page asks for long enough.
func TestEnds(t *testing.T) {
	t.Parallel()
	s := session(t, 10*time.Millisecond)
	l, err := serve.Loopback("tcp4", "127.0.0.1:0")
	must(t, err)
	if err := s.Serve(t.Context(), l); err != nil {
		t.Error(err)
	}
}
