package sandbox_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"
)

// TestCredentials: every endpoint of the document needs the credentials that are asked
// for, and says so before anything else; the claims site needs none.
func TestCredentials(t *testing.T) {
	o := options(t, "")
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
		if got := w.Body.String(); w.Code != http.StatusUnauthorized ||
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
