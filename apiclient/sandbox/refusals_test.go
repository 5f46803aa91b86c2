package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"

	"github.com/google/go-cmp/cmp"
)

// refusal is an entry of testdata/refusals.txt: below its name the method and path, with the content type behind "as"
// unless that is application/json ("none" for none), then the body if there is one, and the whole answer.
type refusal struct{ head, request, body string } // head is all but the answer

func refusals(t testing.TB) (list []refusal) {
	t.Helper()
	constants := strings.NewReplacer("(0)", details[:34], "(unknown)", unheardOf, "(case)", sandbox.CaseID, "(1 MiB)", strings.Repeat("x", 1<<20-7), "(BOM)", "\ufeff")
	for entry := range strings.SplitSeq(string(must(os.ReadFile("testdata/refusals.txt"))(t)), "\n\n") {
		if lines := strings.Split(entry, "\n\t"); len(lines) > 2 {
			last := len(lines) - 1
			list = append(list, refusal{strings.Join(lines[:last], "\n\t"), constants.Replace(lines[1]), constants.Replace(strings.Join(lines[2:last], ""))})
		}
	}
	return list
}

// Every refusal changes nothing and says what is wrong.
func TestRefusals(t *testing.T) {
	s := open(t, "")
	admin := newContact(t, s)
	claim := newClaim(t, s, admin, "Loan 1")
	plain := post(t, s, v2+"/contacts", `{"email":"b@example.com"}`)["contactId"]
	client := post(t, s, v1Clients, `{"email":"a@example.com"}`)["clientId"]
	before := shown(t, s)
	expand := strings.NewReplacer("(admin)", admin, "(ADMIN)", strings.ToUpper(admin), "(plain)", plain, "(claim)", claim, "(client)", client)
	shorten := strings.NewReplacer(admin, "(admin)", plain, "(plain)", claim, "(claim)", client, "(client)")
	var got strings.Builder
	for _, c := range refusals(t) {
		request, contentType, typed := strings.Cut(expand.Replace(c.request), " as ")
		if !typed {
			contentType = "application/json"
		}
		method, path, _ := strings.Cut(request, " ")
		w := send(s, method, path, strings.TrimPrefix(contentType, "none"), expand.Replace(c.body))
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s: status %d, want a refusal", c.head, w.Code)
		}
		if diff := cmp.Diff(before, shown(t, s)); diff != "" {
			t.Fatalf("%s: the refused request changed the service:\n%s", c.head, diff)
		}
		fmt.Fprintf(&got, "%s\n\t%d %s\n", c.head, w.Code, shorten.Replace(w.Body.String()))
	}
	golden(t, "refusals.txt", got.String())
}

// Every code has a case.
func TestEveryRefusalHasACase(t *testing.T) {
	cases := must(os.ReadFile("testdata/refusals.txt"))(t)
	elsewhere := []string{"store", "internal", "wrong-host", "cross-origin", "unauthenticated", "unknown-workflow"}
	made := regexp.MustCompile(`(?:bad\(|absent\(|refuse\([\w.]+, )"([a-z0-9-]+)"`)
	files := must(filepath.Glob("*.go"))(t)
	found := 0
	for _, file := range files {
		source := must(os.ReadFile(file))(t)
		for _, m := range made.FindAllStringSubmatch(string(source), -1) {
			found++
			if !strings.Contains(string(cases), `"code":"`+m[1]+`"`) && !strings.Contains(strings.Join(elsewhere, " "), m[1]) {
				t.Errorf("%s: the refusal %q has no case", file, m[1])
			}
		}
	}
	if found < 40 {
		t.Errorf("found %d refusals in the source, want all of some 50", found)
	}
}

type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, errors.New("reset") }

// A body that cannot be read is refused, and creates nothing.
func TestBodyThatCannotBeRead(t *testing.T) {
	s := open(t, "")
	r := httptest.NewRequest("POST", v2+"/contacts", io.MultiReader(strings.NewReader(`{"a":1`), brokenOff{}))
	r.Header.Set("Content-Type", "application/json")
	w := ask(s, r)
	if w.Code != http.StatusRequestEntityTooLarge || len(s.Snapshot().Clients) != 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestCredentials: every endpoint of the document needs the credentials that are asked
// for, and says so before anything else; the claims site needs none.
func TestCredentials(t *testing.T) {
	o := options(t, "")
	o.Challenge = "Bearer"
	o.Authenticate = func(r *http.Request) error {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			return errors.New("no sesame")
		}
		return nil
	}
	s := start(t, o)
	for _, endpoint := range s.Endpoints() {
		method, path, _ := strings.Cut(endpoint, " ")
		w := send(s, method, path, "application/json", `{"a":1}`)
		if got := w.Body.String(); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "Bearer" ||
			got != `{"error":{"code":"unauthenticated","message":"no sesame"}}`+"\n" {
			t.Errorf("%s: %d %v %s", endpoint, w.Code, w.Header(), got)
		}
	}
	if w := send(s, "GET", "/start/x", "", ""); w.Code != http.StatusNotFound {
		t.Errorf("a redirect url without credentials: %d", w.Code)
	}
	r := httptest.NewRequest("GET", v2+"/activity-templates", nil)
	r.Header.Set("Authorization", "Bearer sesame")
	if w := ask(s, r); w.Code != http.StatusOK {
		t.Errorf("with credentials: %d %s", w.Code, w.Body)
	}
}

// Values that were sent may be personal data; refusals do not repeat them.
func TestRefusalsKeepValuesToThemselves(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	const canary = "CANARY1980"
	for _, body := range []string{
		`{"templateId":"` + canary + `"}`,
		strings.Replace(completed(details, surname, "Submitted"), `"Submitted"`, `"`+canary+`"`, 1),
		strings.Replace(completed(details, "00000000-0000-4000-8000-0000000000a5", "Submitted"), `stringValue":"Doe <& Söhne>`, `dateTimeValue":"`+canary, 1),
		strings.Replace(completed(details, "00000000-0000-4000-8000-0000000000a5", "Submitted"), `Doe <& Söhne>`, canary, 1),
		`{"templateId" ` + canary,
	} {
		w := send(s, "POST", v2+"/activities?contactId="+contact, "application/json", body)
		if w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), canary) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for _, path := range []string{v2 + "/contacts/by-email/" + canary, v2 + "/contacts/by-phone/" + canary, "/start/" + canary, v2 + "/" + canary} {
		if w := send(s, "GET", path, "", ""); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), canary) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestReferenceDataMustBeSound(t *testing.T) {
	const a, printed = `"id":"` + details + `"`, "claimsheet templates --json"
	for templates, says := range map[string]string{ // what New's error names
		`{}`: printed, `{"templates":null}`: printed, `{"templates":[null]}`: printed, `{"templates":{}}`: printed, `"templates"`: printed, ``: printed,
		`[`:            "",
		`[{"id":"1"}]`: "", // not a UUID
		`[{` + a + `,"activityAttributeTemplates":[{"id":"1"}]}]`:                      "",
		`[{` + a + `,"activityAttributeTemplates":[{` + a + `,"dataType":"Colour"}]}]`: "",
	} {
		if _, err := sandbox.New(sandbox.Options{Templates: []byte(templates)}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("templates %s: %v, want an error with %q", templates, err, says)
		}
	}
}
