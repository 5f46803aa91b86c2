package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/apiclient/sandbox"
)

// wireShape is a line of the table in docs/environments.md.
type wireShape struct{ name, entry string }

// shapesOf are the shapes of the table that are not the sandbox's usual one.
var shapesOf = map[string]apitest.Shape{
	"below other fields":     {Carrier: apitest.Nested},
	"in headers":             {Carrier: apitest.Header},
	"plain text":             {Carrier: apitest.Text},
	"relative redirect urls": {Carrier: apitest.Relative},
	"nobody: HTTP 204":       {NotFound: apitest.Reply{Status: 204}},
	"nobody: null":           {NotFound: apitest.JSON(200, "null")},
	"nobody: no id":          {NotFound: apitest.JSON(200, `{"clientId":null,"contactId":null}`)},
	"nobody: empty list":     {NotFound: apitest.JSON(200, `{"items":[]}`)},
	"nobody: a flag":         {NotFound: apitest.JSON(200, `{"found":false}`)},
	"several at once":        {Carrier: apitest.Nested, NotFound: apitest.JSON(200, `{"items":[]}`), Untyped: true},
}

// wireShapes reads the table.
func wireShapes(t *testing.T) (shapes []wireShape) {
	t.Helper()
	_, table, _ := strings.Cut(readText(t, filepath.Join(root, "docs", "environments.md")), "| shape | answers | in the environment |")
	table, _, _ = strings.Cut(table, "\n\n")
	named := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 {
			continue
		}
		entry := strings.Trim(cells[2], "` ")
		if inner, ok := strings.CutPrefix(entry, "{"); ok {
			entry = strings.ReplaceAll(strings.TrimSuffix(inner, "}"), "}, not_found", "}\nnot_found")
		}
		name := strings.TrimSpace(cells[0])
		if _, ok := shapesOf[name]; ok {
			named++
		}
		shapes = append(shapes, wireShape{name, entry})
	}
	if named != len(shapesOf) {
		t.Errorf("%d of the %d shapes are in docs/environments.md", named, len(shapesOf))
	}
	return shapes
}

// shapeClient is a client whose payload has an array.
const shapeClient = `
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, firstName: First name, phones.0.number: {column: Mobile, type: Phone, region: GB}}
`

// typedActivities are activities that need no data types from the service.
const typedActivities = `
activities:
  - template: Your details
    attributes: {Date of birth: {column: DOB, type: Date}, Home address: Address, Consent to contact: {column: Opt in, type: Checkbox}}
  - {template: Sign your claim, status: Open}
`

var shapeMappings = map[string]string{
	"v1": "name: shapes\napi: v1\n" + shapeClient + typedActivities,
	"v2": "name: shapes\napi: v2\n" + shapeClient + `
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
` + typedActivities,
}

// TestWireShapes imports into the sandbox in every shape that the documentation
// lists: a run is killed when the second of three clients was created, the next run
// finds that client and does the rest, and a rerun of the workbook sends nothing.
func TestWireShapes(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	shapes := wireShapes(t)
	if len(shapes) < 12 {
		t.Fatalf("only %d shapes found in docs/environments.md: the test looks in the wrong place", len(shapes))
	}
	for _, shape := range shapes {
		for version, mapping := range shapeMappings {
			t.Run(shape.name+"/"+version, func(t *testing.T) {
				t.Parallel()
				newShapeScene(t, shape, mapping).killAndRerun(version)
			})
		}
	}
}

// shapeScene is a scene over the sandbox behind a server of the test.
type shapeScene struct {
	*scene
	front *sandboxFront
	state string // of the sandbox
}

func newShapeScene(t *testing.T, shape wireShape, mapping string) *shapeScene {
	s := &shapeScene{scene: newScene(t, mapping, leads(3)), front: &sandboxFront{}, state: t.TempDir()}
	server := httptest.NewServer(s.front)
	t.Cleanup(server.Close)
	service, err := sandbox.New(sandbox.Options{Templates: []byte(referenceJSON(t)), Dir: s.state, BaseURL: server.URL})
	must(t, err)
	t.Cleanup(func() { service.Close() })
	s.front.service = shapesOf[shape.name].Around(service)
	s.url = server.URL
	s.environment(shape.entry)
	return s
}

// referenceJSON is the scenes' reference data as the service answers it.
func referenceJSON(t *testing.T) string {
	t.Helper()
	list := []any{}
	for _, template := range reference {
		attributes := []any{}
		for _, a := range template.Attributes {
			attributes = append(attributes, map[string]string{"id": a.ID, "name": a.Name, "dataType": a.DataType})
		}
		list = append(list, map[string]any{"id": template.ID, "name": template.Name, "activityAttributeTemplates": attributes})
	}
	data, err := json.Marshal(list)
	must(t, err)
	return string(data)
}

// sandboxFront passes requests on to the sandbox and can kill the program between
// the effect of a request and its answer.
type sandboxFront struct {
	service http.Handler

	mu    sync.Mutex
	kill  func() // for the creation of client 2; nil for none
	posts int
}

func (f *sandboxFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	f.service.ServeHTTP(rec, r)
	f.mu.Lock()
	var kill func()
	if r.Method == http.MethodPost {
		f.posts++
		if bytes.Contains(body, []byte("c2@example.com")) {
			kill, f.kill = f.kill, nil
		}
	}
	f.mu.Unlock()
	if kill != nil {
		kill()
		panic(http.ErrAbortHandler)
	}
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// killWith makes the creation of client 2 call kill.
func (f *sandboxFront) killWith(kill func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kill = kill
}

// sent returns how many POSTs have arrived.
func (f *sandboxFront) sent() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.posts
}

func (s *shapeScene) killAndRerun(version string) {
	s.t.Helper()
	killed, err := commandLine{words: s.args("--concurrency", "1"), process: true, kill: s.front.killWith}.carryOut()
	if err != nil || killed.code != -1 {
		s.t.Fatalf("exit code %d, %v: it was not killed\n%s%s", killed.code, err, killed.out, killed.err)
	}
	s.mustRun(0)
	s.checkSandbox(version)
	before := s.front.sent()
	if code, said := s.rerun("leads.results.xlsx"); code != 0 || s.front.sent() != before {
		s.t.Errorf("rerun: exit code %d, %d POSTs\n%s", code, s.front.sent()-before, said)
	}
	s.checkSandbox(version)
}

// made is a line of the sandbox's file.
type made struct {
	Owner  string
	Client *struct {
		ID, RedirectURL string
		Data            struct{ Email string }
	}
	Claim    *struct{ ID, Name string }
	Activity *struct{ Template string }
	Link     *struct{ RedirectURL string }
}

// checkSandbox compares the workbook with the file in which the sandbox keeps what
// it created: everything is there once, and its ids and urls are in the workbook.
func (s *shapeScene) checkSandbox(version string) {
	s.t.Helper()
	var all []made
	for line := range strings.Lines(readText(s.t, filepath.Join(s.state, sandbox.File))) {
		var m made
		must(s.t, json.Unmarshal([]byte(line), &m))
		all = append(all, m)
	}
	if want := map[string]int{"v1": 3 * 3, "v2": 3 * 5}[version]; len(all) != want {
		s.t.Errorf("%d things were created, want %d", len(all), want)
	}
	for i, row := range s.results() {
		if row["Import status"] != "done" && row["Import status"] != "unchanged" {
			s.t.Errorf("row %d is %s: %s", i+1, row["Import status"], row["Error"])
		}
		id, link, claim := s.madeFor(all, row["E-mail"])
		if got := row["contactId"] + row["clientId"]; got != id || id == "" {
			s.t.Errorf("row %d has the id %q, want %q", i+1, got, id)
		}
		if row["claimIds"] != claim {
			s.t.Errorf("row %d has the claim %q, want %q", i+1, row["claimIds"], claim)
		}
		if version == "v1" && i == 1 {
			link = "" // lost with the answer
		}
		got, err := url.Parse(row["redirectUrl"])
		want, err2 := url.Parse(link)
		if err != nil || err2 != nil || got.Path != want.Path || link != "" && (got.Host == "" || !strings.HasPrefix(got.Path, "/start/")) {
			s.t.Errorf("row %d has the redirect url %q, want %q", i+1, row["redirectUrl"], link)
		}
	}
}

// madeFor returns the ids and the redirect url of a client, who must be there once.
func (s *shapeScene) madeFor(all []made, email string) (id, link, claim string) {
	s.t.Helper()
	for _, m := range all {
		switch {
		case m.Client != nil && m.Client.Data.Email == email && id != "":
			s.t.Errorf("%s was created twice", email)
		case m.Client != nil && m.Client.Data.Email == email:
			id, link = m.Client.ID, m.Client.RedirectURL
		case m.Claim != nil && m.Owner == id:
			claim = m.Claim.ID
		case m.Link != nil && m.Owner == id:
			link = m.Link.RedirectURL
		}
	}
	return id, link, claim
}
