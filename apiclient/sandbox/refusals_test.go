package sandbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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
	constants := strings.NewReplacer("(0)", details[:34], "(unknown)", unheardOf, "(case)", sandbox.CaseID,
		"(1 MiB)", strings.Repeat("x", 1<<20-7), "(BOM)", "\ufeff")
	for entry := range strings.SplitSeq(string(must(os.ReadFile("testdata/refusals.txt"))(t)), "\n\n") {
		if lines := strings.Split(entry, "\n\t"); len(lines) > 2 {
			last := len(lines) - 1
			body := strings.Join(lines[2:last], "")
			list = append(list, refusal{strings.Join(lines[:last], "\n\t"), constants.Replace(lines[1]), constants.Replace(body)})
		}
	}
	return list
}

// Every refusal changes nothing and says what is wrong, without the values that were sent, which may be personal data.
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
