package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"
)

// The flows of the service document, as an integrator would send them by hand.

func TestFlowA(t *testing.T) {
	s := open(t, "")
	made := post(t, s, v1Clients+"?leadRedirect=true", `{"email": "jane@example.com", "name": {"first": "Jane", "last": "Doe"}}`)
	wantStart(t, s, made["redirectUrl"], "step 1")
	golden(t, "flow-a.json", shown(t, s))
}

func TestFlowB(t *testing.T) {
	s := open(t, "")
	made := post(t, s, v1Clients+"?leadRedirect=true", `{"email":"jane@example.com"}`)
	activities := v1Clients + "/" + made["clientId"] + "/activities"
	opened := post(t, s, activities, `{"activityTemplateId":"`+signature+`","status":"Open"}`)
	if opened["status"] != "Open" {
		t.Errorf("created activity: %v, want status Open", opened)
	}
	wantStart(t, s, made["redirectUrl"], "Signature")
	post(t, s, activities, `{"activityTemplateId":"`+details+`","status":"Submitted","attributes":[
		{"activityAttributeTemplateId":"`+surname+`","stringValue":"Doe"},
		{"activityAttributeTemplateId":"00000000-0000-4000-8000-0000000000a4","boolValue":true},
		{"activityAttributeTemplateId":"00000000-0000-4000-8000-0000000000a5","dateTimeValue":"1980-05-01T00:00:00Z"},
		{"activityAttributeTemplateId":"00000000-0000-4000-8000-0000000000a6","dateTimeValue":"2026-02-28T09:30:00.5Z"},
		{"activityAttributeTemplateId":"00000000-0000-4000-8000-0000000000a8","doubleValue":1234.5}]}`)
	wantStart(t, s, made["redirectUrl"], "Signature")
	golden(t, "flow-b.json", shown(t, s))
}

func TestUseCase1(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	claim := newClaim(t, s, contact, "Loan 1")
	post(t, s, v2+"/activities?claimId="+claim, completed(details, surname, "Accepted"))
	wantStart(t, s, newLink(t, s, contact), "step 1")
	golden(t, "use-case-1.json", shown(t, s))
}

func TestUseCase2(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	claim := newClaim(t, s, contact, "Loan 1")
	post(t, s, v2+"/activities?claimId="+claim, completed(details, surname, "Submitted"))
	post(t, s, v2+"/activities?claimId="+claim, completed(agreement, lender, "Accepted"))
	post(t, s, v2+"/activities?claimId="+claim, opened(signature))
	wantStart(t, s, newLink(t, s, contact), "Signature")
	golden(t, "use-case-2.json", shown(t, s))
}

func TestUseCase3(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	post(t, s, v2+"/activities?contactId="+contact, completed(details, surname, "Submitted"))
	for _, name := range []string{"Loan 1", "Loan 2"} {
		claim := newClaim(t, s, contact, name)
		post(t, s, v2+"/activities?claimId="+claim, completed(agreement, lender, "Accepted"))
	}
	post(t, s, v2+"/activities?contactId="+contact, opened(signature))
	wantStart(t, s, newLink(t, s, contact), "Signature")
	golden(t, "use-case-3.json", shown(t, s))
}

// An activity whose template has no attributes is back-filled with an empty list.
func TestBackFillWithoutAttributes(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	made := post(t, s, v2+"/activities?contactId="+contact, strings.Replace(opened(signature), `"Open"`, `"Submitted","attributes":[]`, 1))
	if made["status"] != "Submitted" {
		t.Errorf("created activity: %v, want status Submitted", made)
	}
}

// The first Open activity counts, wherever it is.
func TestStartIsTheFirstOpenActivity(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	link := newLink(t, s, contact)
	claim := newClaim(t, s, contact, "Loan 1")
	post(t, s, v2+"/activities?claimId="+claim, opened(agreement))
	post(t, s, v2+"/activities?contactId="+contact, opened(details))
	wantStart(t, s, link, "Agreement")
	wantStart(t, s, newLink(t, s, contact), "Agreement")
}

// The document does not show the body of a link request: none, {} and more are
// accepted.
func TestLinkBodies(t *testing.T) {
	s := open(t, "")
	path := v2 + "/contacts/" + newContact(t, s) + "/magic-link"
	want(t, send(s, "POST", path, "", ""), http.StatusCreated)
	want(t, send(s, "POST", path, "application/json; charset=UTF-8", "{}"), http.StatusCreated)
	want(t, send(s, "POST", path, "application/json", `{"days":[7]}`), http.StatusCreated)
}

func TestNoRedirectURLUnlessAsked(t *testing.T) {
	s := open(t, "")
	for _, query := range []string{"", "?leadRedirect=false"} {
		if made := post(t, s, v1Clients+query, `{"a":1}`); len(made) != 1 || made["clientId"] == "" {
			t.Errorf("client create%s: %v, want a clientId and no more", query, made)
		}
	}
}

func TestBaseURL(t *testing.T) {
	s := start(t, sandbox.Options{BaseURL: "http://127.0.0.1:8080/"})
	url := post(t, s, v1Clients+"?leadRedirect=true", `{"a":1}`)["redirectUrl"]
	path, ok := strings.CutPrefix(url, "http://127.0.0.1:8080")
	if !ok {
		t.Fatalf("redirect url %q: want it to begin with the base url", url)
	}
	if at := get(t, s, path); at["startsAt"] != "step 1" {
		t.Errorf("redirect url leads to %v, want step 1", at)
	}
}

// The answer with the templates is exactly the given data, in both versions.
func TestTemplates(t *testing.T) {
	o := options(t, "")
	s := open(t, "")
	for _, path := range []string{v2 + "/activity-templates", "/funnel/v1/cases/" + sandbox.CaseID + "/activity-templates"} {
		w := send(s, "GET", path, "", "")
		var got, want any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
			t.Fatalf("GET %s: %d, %v", path, w.Code, err)
		}
		noError(t, json.Unmarshal(o.Templates, &want))
		same(t, path, want, got)
	}
}

func newContact(t testing.TB, h http.Handler) string {
	t.Helper()
	return post(t, h, v2+"/contacts?isAdministrator=true", `{"email":"jane@example.com","phone":"+44 20 7946 0000"}`)["contactId"]
}

func newClaim(t testing.TB, h http.Handler, contact, name string) string {
	t.Helper()
	return post(t, h, v2+"/claims", `{"administratorId":"`+contact+`","claimants":["`+contact+`"],"claimName":"`+name+`"}`)["claimId"]
}

func newLink(t testing.TB, h http.Handler, contact string) string {
	t.Helper()
	return post(t, h, v2+"/contacts/"+contact+"/magic-link", `{}`)["redirectUrl"]
}

// completed is a back-filled activity of version 2 with one text.
func completed(template, attribute, status string) string {
	return `{"templateId":"` + template + `","status":"` + status + `","workflowName":"Leads","workflowTemplateIdentifier":"WF-1",
		"attributes":[{"templateId":"` + attribute + `","stringValue":"Doe <& Söhne>"}]}`
}

// opened is an Open activity of version 2.
func opened(template string) string {
	return `{"templateId":"` + template + `","status":"Open","workflowName":"Leads","workflowTemplateIdentifier":"WF-1"}`
}

func wantStart(t testing.TB, h http.Handler, url, at string) {
	t.Helper()
	if got := get(t, h, pathOf(t, url))["startsAt"]; got != at {
		t.Errorf("the redirect url leads to %q, want %q", got, at)
	}
}
