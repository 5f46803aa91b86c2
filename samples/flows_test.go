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
	calls := &recorder{service: service, names: map[string]string{sandbox.CaseID: "{caseId}"}}
	server := httptest.NewServer(calls)
	defer server.Close()
	folder := t.TempDir()
	copySample(t, name, folder)
	environment := fmt.Sprintf("environments: {recorded: {base_url: '%s', case_id: %s}}\n", server.URL, sandbox.CaseID)
	if err := os.WriteFile(filepath.Join(folder, "environments.yaml"), []byte(environment), 0o600); err != nil {
		t.Fatal(err)
	}
	client := map[string]string{"first": "00002", "v1-resume": "aisha.dvorak@example.com"}[name]
	var out bytes.Buffer
	args := []string{"run", "-m", filepath.Join(folder, "mapping.yaml"), "-e", "recorded", "--only", client, filepath.Join(folder, "leads.xlsx")}
	if code := cli.Main(context.Background(), args, cli.IO{In: bytes.NewReader(nil), Out: &out, Err: &out, Env: func(string) string { return "" }}); code > 1 {
		t.Fatalf("%s: exit code %d\n%s", name, code, &out)
	}
	return strings.Join(calls.lines, "\n") + "\n"
}

// recorder writes down the calls to a service, with names in the place of ids.
type recorder struct {
	service http.Handler
	mu      sync.Mutex
	names   map[string]string // what to write for an id
	claims  int
	lines   []string
}

func (c *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body) // one that is cut short is not JSON
	r.Body = io.NopCloser(bytes.NewReader(body))
	answered := httptest.NewRecorder()
	c.service.ServeHTTP(answered, r)
	call, payload := r.Method+" "+address.ReplaceAllString(r.URL.RequestURI(), "by-$1/{$1}"), sent(body)
	for id, name := range c.names {
		call, payload = strings.ReplaceAll(call, id, name), strings.ReplaceAll(payload, id, name)
	}
	c.lines = append(c.lines, strings.TrimRight(fmt.Sprintf("%-62s  %s", call, payload), " "))
	c.learn(answered.Body.String())
	maps.Copy(w.Header(), answered.Header())
	w.WriteHeader(answered.Code)
	_, _ = w.Write(answered.Body.Bytes())
}

var (
	address  = regexp.MustCompile(`by-(email|phone)/[^/?]+`)
	created  = regexp.MustCompile(`"(clientId|contactId|claimId)": ?"([^"]+)"`)
	template = regexp.MustCompile(`"id": ?"([^"]+)",\s*"name": ?"([^"]+)"`)
)

// learn takes names for the ids in an answer. A client of the samples has several claims.
func (c *recorder) learn(answer string) {
	for _, found := range template.FindAllStringSubmatch(answer, -1) {
		c.names[found[1]] = found[2]
	}
	for _, found := range created.FindAllStringSubmatch(answer, -1) {
		if c.names[found[2]] = "{" + found[1] + "}"; found[1] == "claimId" {
			c.claims++
			c.names[found[2]] = fmt.Sprintf("{claimId %d}", c.claims)
		}
	}
}

// sent says what a payload asks for: an activity and its status, a claim's contacts, the names of a client's fields.
func sent(body []byte) string {
	var payload struct {
		TemplateID, ActivityTemplateID, Status, AdministratorID string
		Claimants                                               []string
		Attributes                                              []any
	}
	var fields map[string]any
	if json.Unmarshal(body, &payload) != nil || json.Unmarshal(body, &fields) != nil {
		return ""
	}
	switch {
	case payload.AdministratorID != "":
		return fmt.Sprintf("administratorId %s, claimants %s", payload.AdministratorID, strings.Join(payload.Claimants, " and "))
	case payload.Status == "":
		return strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
	case len(payload.Attributes) == 0:
		return fmt.Sprintf("“%s”, %s", payload.TemplateID+payload.ActivityTemplateID, payload.Status)
	}
	return fmt.Sprintf("“%s”, %s, %d attributes", payload.TemplateID+payload.ActivityTemplateID, payload.Status, len(payload.Attributes))
}
