package samples

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
	"claimsheet/importer/testform"

	"github.com/google/go-cmp/cmp"
)

var updateDocs = flag.Bool("update-docs", false, "write the calls of the samples into docs/flows.md")

var callsBlock = regexp.MustCompile("(?s)(<!-- calls: ([a-z0-9-]+) -->\n\n```\n)(.*?)```")

// TestFlowsPage: docs/flows.md names each sample, and the calls that it shows are those
// that one client of the sample makes.
func TestFlowsPage(t *testing.T) {
	testform.OnlyLong(t)
	const path = "../docs/flows.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	made := callsBlock.ReplaceAllFunc(page, func(block []byte) []byte {
		part := callsBlock.FindSubmatch(block)
		name := string(part[2])
		shown = append(shown, name)
		return slices.Concat(part[1], []byte(callsOf(t, name)), []byte("```"))
	})
	if len(shown) == 0 {
		t.Error("docs/flows.md shows no calls")
	}
	for _, name := range names(t) {
		if !bytes.Contains(page, []byte("`samples/"+name+"`")) {
			t.Errorf("docs/flows.md does not name samples/%s", name)
		}
	}
	if *updateDocs {
		if err := os.WriteFile(path, made, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(made), string(page)); diff != "" {
		t.Errorf("docs/flows.md (-want +got); go test ./samples -update-docs writes it:\n%s", diff)
	}
}

// callsOf runs a sample for one client and returns the calls, a line each.
func callsOf(t *testing.T, name string) string {
	t.Helper()
	service, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := &recorder{service: service, names: map[string]string{}}
	server := httptest.NewServer(calls)
	defer server.Close()
	folder := t.TempDir()
	copySample(t, name, folder)
	environment := fmt.Sprintf("environments:\n  recorded:\n    base_url: %s\n    case_id: %s\n"+
		"    claim_types: {loans: {workflow_template_identifier: WF-LOANS}}\n", server.URL, sandbox.CaseID)
	if err := os.WriteFile(filepath.Join(folder, "environments.yaml"), []byte(environment), 0o600); err != nil {
		t.Fatal(err)
	}
	header, row := "E-mail", 2
	if name == "first" {
		header, row = "Lead no", 3
	}
	sheet := filepath.Join(folder, sheetOf(folder))
	rows := readSource(t, sheet)
	key := rows[row-1][slices.Index(rows[0], header)]
	var out bytes.Buffer
	code := cli.Main(context.Background(), []string{"run", "-m", filepath.Join(folder, "mapping.yaml"), "-e", "recorded", "--only", key, sheet}, cli.IO{
		In: bytes.NewReader(nil), Out: &out, Err: &out, Env: func(string) string { return "" }})
	if code > 1 {
		t.Fatalf("%s: exit code %d\n%s", name, code, &out)
	}
	return calls.String()
}

// recorder writes down the calls to a service, with names in the place of ids.
type recorder struct {
	service http.Handler
	mu      sync.Mutex
	names   map[string]string // what to write for an id
	lines   []string
}

func (c *recorder) String() string { return strings.Join(c.lines, "\n") + "\n" }

func (c *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answered := httptest.NewRecorder()
	c.service.ServeHTTP(answered, r)
	line := r.Method + " " + c.named(r.URL.RequestURI())
	if sent := c.sent(body); sent != "" {
		line = fmt.Sprintf("%-62s  %s", line, sent)
	}
	c.lines = append(c.lines, line)
	c.learn(answered.Body.Bytes())
	w.Header().Set("Content-Type", answered.Header().Get("Content-Type"))
	w.WriteHeader(answered.Code)
	_, _ = w.Write(answered.Body.Bytes())
}

var address = regexp.MustCompile(`by-(email|phone)/[^/?]+`)

// named replaces ids and addresses by what they stand for.
func (c *recorder) named(text string) string {
	text = strings.ReplaceAll(text, sandbox.CaseID, "{caseId}")
	for id, name := range c.names {
		text = strings.ReplaceAll(text, id, name)
	}
	return address.ReplaceAllString(text, "by-$1/{$1}")
}

// sent says what a payload asks for. An activity is named; of a
// claim the contacts are shown, and of other payloads the fields.
func (c *recorder) sent(body []byte) string {
	var payload struct {
		TemplateID, ActivityTemplateID string
		Status                         string
		Attributes                     []any
		AdministratorID                string
		Claimants                      []string
		ClaimName                      string
	}
	if json.Unmarshal(body, &payload) != nil {
		return ""
	}
	switch {
	case payload.AdministratorID != "":
		return c.named(fmt.Sprintf("administratorId %s, claimants %s", payload.AdministratorID, strings.Join(payload.Claimants, " and ")))
	case payload.Status == "":
		return fieldsOf(body)
	}
	text := fmt.Sprintf("“%s”, %s", c.named(payload.TemplateID+payload.ActivityTemplateID), payload.Status)
	if len(payload.Attributes) > 0 {
		text += fmt.Sprintf(", %d attributes", len(payload.Attributes))
	}
	return text
}

// fieldsOf lists the fields of an object.
func fieldsOf(body []byte) string {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

// learn takes names for the ids in an answer.
func (c *recorder) learn(answer []byte) {
	var templates []struct{ ID, Name string }
	if json.Unmarshal(answer, &templates) == nil {
		for _, template := range templates {
			c.names[template.ID] = template.Name
		}
		return
	}
	var created struct{ ClientID, ContactID, ClaimID string }
	if json.Unmarshal(answer, &created) != nil {
		return
	}
	for kind, id := range map[string]string{"clientId": created.ClientID, "contactId": created.ContactID, "claimId": created.ClaimID} {
		if id != "" {
			c.name(kind, id)
		}
	}
}

// name gives an id a name with a number, unless it is the first of its kind and not a
// claim's: most clients have one contact.
func (c *recorder) name(kind, id string) {
	number := 1
	for _, name := range c.names {
		if strings.HasPrefix(name, "{"+kind) {
			number++
		}
	}
	if c.names[id] = "{" + kind + "}"; number > 1 || kind == "claimId" {
		c.names[id] = fmt.Sprintf("{%s %d}", kind, number)
	}
}
