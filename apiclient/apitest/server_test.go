package apitest_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

var details = apitest.Template{ID: "t1", Name: "Your details", Attributes: []apitest.Attribute{
	{ID: "a1", Name: "Born", DataType: "Date"}, {ID: "a2", Name: "Notes"},
}}

// TestComplaints breaks each of the document's rules.
func TestComplaints(t *testing.T) {
	const activity = `{"templateId":"t1","status":"Submitted","workflowName":"W","workflowTemplateIdentifier":"X","attributes":[{"templateId":"a1","dateTimeValue":"1980-05-01T00:00:00Z"}]}`
	const person = "/v2/activities?contactId=ID"
	cases := []struct{ name, method, path, body string }{
		{"no endpoint", "GET", "/v2/claims", ""},
		{"another method", "PUT", "/v2/contacts", "{}"},
		{"client: not JSON", "POST", "/v2/contacts", "hello"},
		{"client: nobody", "POST", "/v2/contacts", `{"name":"x"}`},
		{"client: a flag of the other version", "POST", "/v2/contacts?leadRedirect=true", `{"email":"x@y.test"}`},
		{"claim: nobody's", "POST", "/v2/claims", `{"administratorId":"x","claimants":["x"],"claimName":"L"}`},
		{"claim: no claimants", "POST", "/v2/claims", `{"administratorId":"ID","claimName":"L"}`},
		{"claim: a field too many", "POST", "/v2/claims", `{"administratorId":"ID","claimants":["ID"],"claimName":"L","x":1}`},
		{"activity: on nobody", "POST", "/v2/activities", activity},
		{"activity: unknown template", "POST", person, strings.Replace(activity, `"t1"`, `"t2"`, 1)},
		{"activity: unknown attribute", "POST", person, strings.Replace(activity, `"a1"`, `"a9"`, 1)},
		{"activity: unknown status", "POST", person, strings.Replace(activity, "Submitted", "Closed", 1)},
		{"activity: Open with attributes", "POST", person, strings.Replace(activity, "Submitted", "Open", 1)},
		{"activity: no workflow", "POST", person, strings.Replace(activity, `"workflowName":"W",`, "", 1)},
		{"activity: no attributes", "POST", person, strings.Replace(activity, `{"templateId":"a1","dateTimeValue":"1980-05-01T00:00:00Z"}`, "", 1)},
		{"activity: another value field", "POST", person, strings.Replace(activity, "dateTimeValue", "stringValue", 1)},
		{"activity: not a date", "POST", person, strings.Replace(activity, "1980-05-01T00:00:00Z", "1980-05-01", 1)},
		{"activity: version 1's names", "POST", person, strings.Replace(activity, "templateId", "activityTemplateId", 1)},
		{"link: nobody", "POST", "/v2/contacts/x/magic-link", "{}"},
		{"v1: version 2's names", "POST", "/v1/cases/k/clients/ID/activities", activity},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := apitest.New(details)
			id, w := s.AddClient("k", "k@b.test", ""), httptest.NewRecorder()
			body := strings.NewReader(strings.ReplaceAll(c.body, "ID", id))
			s.ServeHTTP(w, httptest.NewRequest(c.method, "/funnel"+strings.ReplaceAll(c.path, "ID", id), body))
			if w.Code/100 != 4 || len(s.Complaints()) != 1 || len(s.Created()) != 0 {
				t.Errorf("status %d, complaints %q, created %v", w.Code, s.Complaints(), s.Created())
			}
		})
	}
}
