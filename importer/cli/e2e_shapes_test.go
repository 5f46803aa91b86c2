package cli_test

import (
	"cmp"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

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

// wireShapes reads the table: the entries of environments, by the names of shapes.
func wireShapes(t *testing.T) map[string]string {
	t.Helper()
	_, table, _ := strings.Cut(readText(t, filepath.Join(root, "docs", "environments.md")), "| shape | answers | in the environment |")
	table, _, _ = strings.Cut(table, "\n\n")
	shapes := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); len(cells) == 3 {
			entry := strings.Trim(cells[2], "` ")
			if inner, ok := strings.CutPrefix(entry, "{"); ok {
				entry = strings.ReplaceAll(strings.TrimSuffix(inner, "}"), "}, not_found", "}\nnot_found")
			}
			shapes[strings.TrimSpace(cells[0])] = entry
		}
	}
	for name := range shapesOf {
		if _, ok := shapes[name]; !ok || len(shapes) < 12 {
			t.Errorf("of %d shapes in docs/environments.md none is %q", len(shapes), name)
		}
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

// TestWireShapes imports in every shape that the documentation lists: a run is killed
// when the second of three clients was created, the next run finds that client and does
// the rest, and a rerun of the workbook sends nothing.
func TestWireShapes(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, entry := range wireShapes(t) {
		for version, mapping := range shapeMappings {
			t.Run(name+"/"+version, func(t *testing.T) {
				t.Parallel()
				s := newSceneBehind(t, mapping, leads(3), func(service http.Handler) http.Handler { return shapesOf[name].Around(anyLength(service)) })
				s.service.Wire.ActivityID = "/activityId"
				s.environment(entry)
				s.killedAtSecond()
				s.mustRun(0)
				s.checkShape(version)
				if p := s.rerun("leads.results.xlsx"); p.code != 0 || len(p.posts()) > 0 {
					t.Errorf("rerun: exit code %d, %v\n%s", p.code, p.posts(), p.err)
				}
				s.checkShape(version)
			})
		}
	}
}

// anyLength is a service whose answers do not say how long they are, because their shape is another one.
func anyLength(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service.ServeHTTP(w, r)
		w.Header().Del("Content-Length")
	})
}

// checkShape compares the workbook with what was created: everything is there once, and its ids and urls are in the workbook.
func (s *scene) checkShape(version string) {
	s.t.Helper()
	s.checkMadeOnce()
	made := s.service.Created()
	if want := map[string]int{"v1": 3 * 3, "v2": 3 * 5}[version]; len(made) != want {
		s.t.Errorf("%d things were created, want %d", len(made), want)
	}
	first := func(step string) apitest.Made { return append(made[step], apitest.Made{})[0] }
	for i, row := range s.results() {
		key, id := row["E-mail"], row["contactId"]+row["clientId"]
		if status := row["Import status"]; status != "done" && status != "unchanged" || id == "" || id != first("client "+key).ID || row["claimIds"] != first("claim "+key+"/Loan "+row["Agreement no"]).ID {
			s.t.Errorf("row %d is %v, and these were made: %v", i+1, row, made)
		}
		link := cmp.Or(first("link "+key).URL, first("client "+key).URL)
		if version == "v1" && i == 1 {
			link = "" // lost with the answer
		}
		got, err := url.Parse(row["redirectUrl"])
		want, err2 := url.Parse(link)
		if err != nil || err2 != nil || got.Path != want.Path || link != "" && (got.Host == "" || !strings.HasPrefix(got.Path, "/go/")) {
			s.t.Errorf("row %d has the redirect url %q, want %q", i+1, row["redirectUrl"], link)
		}
	}
}
