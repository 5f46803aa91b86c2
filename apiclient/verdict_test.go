package apiclient_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/apiclient"
)

// The effect of every status, for a step whose answer is JSON without an id.
func TestStatusProves(t *testing.T) {
	refused := func(s int) bool {
		switch s {
		case 301, 307, 308, 501:
			return true
		}
		return s >= 400 && s < 500 && s != 408
	}
	c := with(t)
	req := c.Routes().CreateClaim("c", []string{"c"}, "n")
	for status := 200; status < 600; status++ {
		v := c.Judge(req, apiclient.Answer{Status: status, Body: []byte(`{}`)}, nil)
		want := apiclient.Uncertain
		if refused(status) {
			want = apiclient.Refused
		}
		if v.Effect != want {
			t.Errorf("HTTP %d: %s, want %s", status, v.Effect, want)
		}
		if v.Stop != slices.Contains([]int{301, 302, 303, 307, 308, 401}, status) {
			t.Errorf("HTTP %d: stop is %v", status, v.Stop)
		}
		retry := map[int]apiclient.Retry{421: apiclient.Now, 425: apiclient.Now, 429: apiclient.AfterPause}[status]
		if v.Retry != retry {
			t.Errorf("HTTP %d: retry is %v, want %v", status, v.Retry, retry)
		}
	}
}

func TestWhatAnAnswerMustCarry(t *testing.T) {
	const created, uncertain = apiclient.Created, apiclient.Uncertain
	v1, v2 := apiclient.V1, apiclient.V2
	tests := []struct {
		name    string
		version apiclient.Version
		kind    apiclient.Kind
		status  int
		body    string
		want    apiclient.Verdict
	}{
		{"contact", v2, apiclient.CreateClient, 201, `{"contactId":" abc "}`, apiclient.Verdict{Effect: created, ID: "abc"}},
		{"contact accepted with id", v2, apiclient.CreateClient, 202, `{"contactId":"abc"}`, apiclient.Verdict{Effect: created, ID: "abc"}},
		{"client and url", v1, apiclient.CreateClient, 200, `{"clientId":"abc","redirectUrl":"https://x.example/r?t=1"}`,
			apiclient.Verdict{Effect: created, ID: "abc", URL: "https://x.example/r?t=1"}},
		{"client without url", v1, apiclient.CreateClient, 200, `{"clientId":"abc"}`,
			apiclient.Verdict{Effect: created, ID: "abc", Reason: "created without a redirect url: the answer has no value at /redirectUrl"}},
		{"client with a script for a url", v1, apiclient.CreateClient, 200, `{"clientId":"abc","redirectUrl":"javascript:alert(1)"}`,
			apiclient.Verdict{Effect: created, ID: "abc", Reason: "created without a redirect url: the answer does not have an http(s) url at /redirectUrl"}},
		{"client without id", v1, apiclient.CreateClient, 201, `{"data":{"clientId":"abc"},"redirectUrl":"https://x.example/r"}`,
			apiclient.Verdict{Effect: uncertain, URL: "https://x.example/r", Reason: "HTTP 201 Created, but the answer has no value at /clientId"}},
		{"link", v2, apiclient.CreateLink, 201, `{"redirectUrl":"https://x.example/m"}`, apiclient.Verdict{Effect: created, URL: "https://x.example/m"}},
		{"link, relative", v2, apiclient.CreateLink, 201, `{"redirectUrl":"/m?t=1"}`, apiclient.Verdict{Effect: created, URL: "http://localhost/m?t=1"}},
		{"link, without a scheme", v2, apiclient.CreateLink, 201, `{"redirectUrl":"//go/m?t=1"}`,
			apiclient.Verdict{Effect: uncertain, Reason: "HTTP 201 Created, but the answer has a url that begins with // (another host, or a path with a slash too many) instead of http:// or https:// at /redirectUrl"}},
		{"link, a bare word", v2, apiclient.CreateLink, 201, `{"redirectUrl":"c-17"}`,
			apiclient.Verdict{Effect: uncertain, Reason: "HTTP 201 Created, but the answer does not have an http(s) url at /redirectUrl"}},
		{"claim", v2, apiclient.CreateClaim, 201, `{"claimId":"k"}`, apiclient.Verdict{Effect: created, ID: "k"}},
		{"activity", v2, apiclient.CreateActivity, 201, `{"id":"a"}`, apiclient.Verdict{Effect: created}},
		{"activity, no body", v2, apiclient.CreateActivity, 204, ``, apiclient.Verdict{Effect: created}},
		{"activity, promised", v2, apiclient.CreateActivity, 202, `{}`, apiclient.Verdict{Effect: uncertain, Reason: "HTTP 202 Accepted, which only promises to do it"}},
		{"activity, web page", v2, apiclient.CreateActivity, 200, `<!DOCTYPE html><p>Log in</p>`,
			apiclient.Verdict{Effect: uncertain, Reason: "HTTP 200 OK, but the answer is a web page, not JSON"}},
		{"no body", v2, apiclient.CreateClient, 204, ``, apiclient.Verdict{Effect: uncertain, Reason: "HTTP 204 No Content, but the answer is empty"}},
		{"null", v2, apiclient.CreateClient, 201, `{"contactId":null}`, apiclient.Verdict{Effect: uncertain, Reason: "HTTP 201 Created, but the answer has null at /contactId"}},
		{"two ids", v2, apiclient.CreateClient, 201, `{"contactId":"a","contact\u0049d":"b"}`,
			apiclient.Verdict{Effect: uncertain, Reason: "HTTP 201 Created, but the answer has several values at /contactId"}},
		{"trailing data", v2, apiclient.CreateClient, 201, `{"contactId":"a"}{}`, apiclient.Verdict{Effect: uncertain, Reason: "HTTP 201 Created, but the answer is not JSON"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, config(tt.version))
			got := c.Judge(apiclient.Request{Kind: tt.kind}, apiclient.Answer{Status: tt.status, Body: []byte(tt.body)}, nil)
			ignore := cmpopts.IgnoreFields(apiclient.Verdict{}, "Status", "Answer", "Detail", "Hint")
			if diff := cmp.Diff(tt.want, got, ignore); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if string(got.Answer) != tt.body {
				t.Errorf("the answer kept is %q", got.Answer)
			}
		})
	}
}

// One of several ids is not known to be the right one.
func TestOneOfSeveralIDsIsUncertain(t *testing.T) {
	const created, uncertain = apiclient.Created, apiclient.Uncertain
	for _, tt := range []struct {
		place, body string
		link        bool
		want        apiclient.Verdict
	}{
		{"/data/0/id", `{"data":[{"id":"a"}]}`, false, apiclient.Verdict{Effect: created, ID: "a"}},
		{"/data/0/id", `{"data":[{"id":"a"},{"id":"b"}]}`, false, apiclient.Verdict{Effect: uncertain}},
		{"/data/0/id", `{"data":[{"id":"a"},{"id":"a"}]}`, false, apiclient.Verdict{Effect: uncertain}},
		{"/data/0/id", `{"data":[{"id":"a"},null]}`, false, apiclient.Verdict{Effect: uncertain}},
		{"/data/0/id", `{"data":[{"id":"a"}],"more":[1,2]}`, false, apiclient.Verdict{Effect: created, ID: "a"}},
		// The same holds for links: another one is another client's. Only a list inside the
		// answer about one client has that client's links.
		{"/0/url", `[{"url":"https://x.example/a"},{"url":"https://x.example/b"}]`, true, apiclient.Verdict{Effect: uncertain}},
		{"/links/1/href", `{"links":[{"href":"https://x.example/self"},{"href":"https://x.example/b"}]}`, true,
			apiclient.Verdict{Effect: created, URL: "https://x.example/b"}},
		{"/links/1/href", `{"links":[{"href":"https://x.example/self"}]}`, true, apiclient.Verdict{Effect: uncertain}},
		{"/links/1/href", `[{"links":[{"href":"https://x.example/a"},{"href":"https://x.example/b"}]},{}]`, true, apiclient.Verdict{Effect: uncertain}},
		{"/links/1/href", `{"links":[{"href":"https://x.example/a"},{"href":1}]}`, true, apiclient.Verdict{Effect: uncertain}},
	} {
		c := with(t, func(cfg *apiclient.Config) { cfg.Wire.ContactID, cfg.Wire.RedirectURL = tt.place, tt.place })
		request := createContact(c)
		if tt.link {
			request = c.Routes().CreateLink("a", nil)
		}
		v := c.Judge(request, apiclient.Answer{Status: 201, Body: []byte(tt.body)}, nil)
		if v.Effect != tt.want.Effect || v.ID != tt.want.ID || v.URL != tt.want.URL {
			t.Errorf("%s in %s: %s with id %q and url %q (%s)", tt.place, tt.body, v.Effect, v.ID, v.URL, v.Reason)
		}
	}
}

// The last segment of a url is an id only where the url leads to what was created: not
// to the collection, to what is above it, or to the client that an activity is for.
func TestTheRequestsOwnURLIsNoID(t *testing.T) {
	v1, v2 := apiclient.Routes{Version: apiclient.V1, CaseID: "case-1"}, apiclient.Routes{Version: apiclient.V2}
	activity := apiclient.Activity{TemplateID: "t", Status: "Open"}
	const collection = "http://localhost/api/funnel/v1/cases/case-1/clients"
	for _, tt := range []struct {
		routes   apiclient.Routes
		request  apiclient.Request
		location string
		id       string // "" means uncertain
	}{
		{v2, v2.CreateClient(nil, true), "/api/funnel/v2/contacts/17", "17"},
		{v2, v2.CreateClient(nil, true), "contacts/17", "17"},
		{v2, v2.CreateClient(nil, true), "/api/funnel/v2/contacts", ""},
		{v2, v2.CreateClient(nil, true), "http://localhost/api/funnel/v2/contacts?page=1#top", ""},
		{v2, v2.CreateClient(nil, true), "https://inside.example/v7/contacts", ""},
		{v2, v2.CreateClient(nil, true), "./contacts", ""},
		{v2, v2.CreateClient(nil, true), "/api/funnel/v%32", ""},
		{v2, v2.CreateClient(nil, true), "/api/funnel/v2/contacts/", ""},
		{v2, v2.CreateClient(nil, true), "/api/funnel/v2/contacts/..", ""},
		{v2, v2.CreateClaim("7", []string{"7"}, "n"), "/api/funnel/v2/claims", ""},
		{v2, v2.CreateClaim("7", []string{"7"}, "n"), "/api/funnel/v2/claims/7", "7"},
		{v1, v1.CreateClient(nil, true), collection, ""},
		{v1, v1.CreateClient(nil, true), collection + "/7", "7"},
		{v1, v1.CreateActivity("7", "", activity), collection + "/7", ""},
		{v1, v1.CreateActivity("7", "", activity), collection + "/7/activities", ""},
		{v1, v1.CreateActivity("7", "", activity), collection + "/7/activities/7", "7"},
	} {
		cfg := config(tt.routes.Version)
		w := &cfg.Wire
		w.ClientID, w.RedirectURL = "header:Location", "/redirectUrl"
		w.ContactID, w.ClaimID, w.ActivityID = w.ClientID, w.ClientID, w.ClientID
		v := client(t, cfg).Judge(tt.request, apiclient.Answer{Status: 201, Header: http.Header{"Location": {tt.location}}}, nil)
		if v.ID != tt.id || (v.Effect == apiclient.Created) != (tt.id != "") {
			t.Errorf("%s of a new %s: %s with id %q (%s); want id %q", tt.location, tt.request.Kind, v.Effect, v.ID, v.Reason, tt.id)
		}
	}
}

func TestRulesComeFirst(t *testing.T) {
	tests := []struct {
		name   string
		rule   apiclient.Rule
		answer apiclient.Answer
		want   apiclient.Verdict
	}{
		{"failed in a 200", apiclient.Rule{Status: 200, Pointer: "/error", Matches: "^E", Means: "failed", Hint: "mend it"},
			apiclient.Answer{Status: 200, Body: []byte(`{"error":"E17","claimId":"k"}`)},
			apiclient.Verdict{Effect: apiclient.Refused, Hint: "mend it", Reason: "HTTP 200 OK, which the environment's errors rules read as failed"}},
		{"no match", apiclient.Rule{Pointer: "/error", Matches: "^X", Means: "failed"},
			apiclient.Answer{Status: 200, Body: []byte(`{"error":"E17","claimId":"k"}`)},
			apiclient.Verdict{Effect: apiclient.Created, ID: "k"}},
		{"done without an id", apiclient.Rule{Status: 409, Means: "done"}, apiclient.Answer{Status: 409, Body: []byte(`{}`)},
			apiclient.Verdict{Effect: apiclient.Uncertain, Reason: "HTTP 409 Conflict, but the answer has no value at /claimId"}},
		{"stop keeps the effect", apiclient.Rule{Matches: "suspended", Means: "stop"}, apiclient.Answer{Status: 403, Body: []byte(`suspended`)},
			apiclient.Verdict{Effect: apiclient.Refused, Stop: true, Reason: "HTTP 403 Forbidden"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := with(t, func(cfg *apiclient.Config) { cfg.Rules = []apiclient.Rule{tt.rule} })
			got := c.Judge(apiclient.Request{Kind: apiclient.CreateClaim}, tt.answer, nil)
			tt.want.Ruled = tt.name != "no match"
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(apiclient.Verdict{}, "Status", "Answer", "Detail")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDetailIsTheServicesOwnWordsOnOneLine(t *testing.T) {
	long := strings.Repeat("é", 400)
	tests := []struct{ contentType, body, want string }{
		{"application/json", `{"message":"e-mail is\ntaken"}`, `e-mail is\ntaken`},
		{"application/problem+json", `{"title":"Invalid","errors":{"email": ["bad"]}}`, `Invalid {"email":["bad"]}`},
		{"application/json", `{"code": 17}`, `{"code":17}`},
		{"text/plain", "no\r\nERROR forged\x1b[31m", `no\r\nERROR forged\x1b[31m`},
		{"text/plain", "right\u202eleft", `right\u202eleft`},
		{"text/html", "<html>secret</html>", ""},
		{"text/plain", long, strings.Repeat("é", 299) + "…"},
	}
	c := with(t)
	for _, tt := range tests {
		v := c.Judge(apiclient.Request{Kind: apiclient.CreateClaim},
			apiclient.Answer{Status: http.StatusBadRequest, Header: http.Header{"Content-Type": {tt.contentType}}, Body: []byte(tt.body)}, nil)
		if v.Detail != tt.want || v.Reason != "HTTP 400 Bad Request" {
			t.Errorf("%q: detail %q, want %q; reason %q", tt.body, v.Detail, tt.want, v.Reason)
		}
	}
}
