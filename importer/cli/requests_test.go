package cli_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestFlows holds every call of the document's five flows for one client: method, path, query and body, in the order that
// the document gives.
func TestFlows(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	cases := []struct {
		name    string
		mapping string
		rows    [][]any
		calls   string
	}{
		{"v1 flow A", "name: a\napi: v1\n" + clientPart, [][]any{lead(1, "A-1")}, `
GET /funnel/v1/cases/CASE/clients/by-email/nobody.RANDOM%40example.com
GET /funnel/v1/cases/CASE/clients/by-email/c1%40example.com
POST /funnel/v1/cases/CASE/clients?leadRedirect=true {"email":"c1@example.com","firstName":"Ann1","phone":"+447911123001"}
`},
		{"v1 flow B", "name: b\napi: v1\nsheet: {timezone: Europe/London}\n" + clientPart + "activities:" + detailsActivity + `
  - {template: Agreement details, attributes: {Agreement number: Agreement no, Amount: Amount, Signed at: Signed}}
  - {template: Sign your claim, status: Open}
`, [][]any{lead(1, "A-1")}, `
GET /funnel/v1/cases/CASE/activity-templates
GET /funnel/v1/cases/CASE/clients/by-email/nobody.RANDOM%40example.com
GET /funnel/v1/cases/CASE/clients/by-email/c1%40example.com
POST /funnel/v1/cases/CASE/clients?leadRedirect=true {"email":"c1@example.com","firstName":"Ann1","phone":"+447911123001"}
POST /funnel/v1/cases/CASE/clients/CLIENT1/activities {"activityTemplateId":"10000000-0000-4000-8000-000000000003","status":"Open"}
POST /funnel/v1/cases/CASE/clients/CLIENT1/activities {"activityTemplateId":"10000000-0000-4000-8000-000000000001","status":"Submitted","attributes":[{"activityAttributeTemplateId":"11000000-0000-4000-8000-000000000001","dateTimeValue":"1980-05-01T00:00:00Z"},{"activityAttributeTemplateId":"11000000-0000-4000-8000-000000000002","stringValue":"1 High Street"},{"activityAttributeTemplateId":"11000000-0000-4000-8000-000000000003","boolValue":true}]}
POST /funnel/v1/cases/CASE/clients/CLIENT1/activities {"activityTemplateId":"10000000-0000-4000-8000-000000000002","status":"Submitted","attributes":[{"activityAttributeTemplateId":"12000000-0000-4000-8000-000000000001","stringValue":"A-1"},{"activityAttributeTemplateId":"12000000-0000-4000-8000-000000000002","doubleValue":1250.5},{"activityAttributeTemplateId":"12000000-0000-4000-8000-000000000003","dateTimeValue":"2026-03-31T08:30:00Z"}]}
`},
		{"v2 use case 1", "name: one\napi: v2\n" + clientPart + `
claims: [{id: loan, create: first, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
activities:` + detailsActivity, [][]any{lead(1, "A-1")}, `
GET /funnel/v2/activity-templates
GET /funnel/v2/contacts/by-email/nobody.RANDOM%40example.com
GET /funnel/v2/contacts/by-email/c1%40example.com
POST /funnel/v2/contacts?isAdministrator=true {"email":"c1@example.com","firstName":"Ann1","phone":"+447911123001"}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT1"],"claimName":"Loan A-1"}
POST /funnel/v2/activities?contactId=CLIENT1 {"templateId":"10000000-0000-4000-8000-000000000001","status":"Submitted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"11000000-0000-4000-8000-000000000001","dateTimeValue":"1980-05-01T00:00:00Z"},{"templateId":"11000000-0000-4000-8000-000000000002","stringValue":"1 High Street"},{"templateId":"11000000-0000-4000-8000-000000000003","boolValue":true}]}
POST /funnel/v2/contacts/CLIENT1/magic-link {}
`},
		{"v2 use case 2", strings.Replace(stepThree, "{id: loan,", "{id: loan, create: first,", 1), [][]any{lead(1, "A-1")}, `
GET /funnel/v2/activity-templates
GET /funnel/v2/contacts/by-email/nobody.RANDOM%40example.com
GET /funnel/v2/contacts/by-email/c1%40example.com
POST /funnel/v2/contacts?isAdministrator=true {"email":"c1@example.com","firstName":"Ann1","phone":"+447911123001"}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT1"],"claimName":"Loan A-1"}
POST /funnel/v2/activities?contactId=CLIENT1 {"templateId":"10000000-0000-4000-8000-000000000001","status":"Submitted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"11000000-0000-4000-8000-000000000001","dateTimeValue":"1980-05-01T00:00:00Z"},{"templateId":"11000000-0000-4000-8000-000000000002","stringValue":"1 High Street"},{"templateId":"11000000-0000-4000-8000-000000000003","boolValue":true}]}
POST /funnel/v2/activities?claimId=CLAIM2 {"templateId":"10000000-0000-4000-8000-000000000002","status":"Accepted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"12000000-0000-4000-8000-000000000001","stringValue":"A-1"},{"templateId":"12000000-0000-4000-8000-000000000002","doubleValue":1250.5},{"templateId":"12000000-0000-4000-8000-000000000003","dateTimeValue":"2026-03-31T08:30:00Z"}]}
POST /funnel/v2/activities?contactId=CLIENT1 {"templateId":"10000000-0000-4000-8000-000000000003","status":"Open","workflowName":"Batch","workflowTemplateIdentifier":"WF-1"}
POST /funnel/v2/contacts/CLIENT1/magic-link {}
`},
		// The second client stands between the two rows of the first, and is left
		// out by its --only.
		{"v2 use case 3", stepThree, [][]any{lead(1, "A-1"), lead(2, "B-1"), lead(1, "A-2")}, `
GET /funnel/v2/activity-templates
GET /funnel/v2/contacts/by-email/nobody.RANDOM%40example.com
GET /funnel/v2/contacts/by-email/c1%40example.com
POST /funnel/v2/contacts?isAdministrator=true {"email":"c1@example.com","firstName":"Ann1","phone":"+447911123001"}
POST /funnel/v2/activities?contactId=CLIENT1 {"templateId":"10000000-0000-4000-8000-000000000001","status":"Submitted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"11000000-0000-4000-8000-000000000001","dateTimeValue":"1980-05-01T00:00:00Z"},{"templateId":"11000000-0000-4000-8000-000000000002","stringValue":"1 High Street"},{"templateId":"11000000-0000-4000-8000-000000000003","boolValue":true}]}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT1"],"claimName":"Loan A-1"}
POST /funnel/v2/activities?claimId=CLAIM3 {"templateId":"10000000-0000-4000-8000-000000000002","status":"Accepted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"12000000-0000-4000-8000-000000000001","stringValue":"A-1"},{"templateId":"12000000-0000-4000-8000-000000000002","doubleValue":1250.5},{"templateId":"12000000-0000-4000-8000-000000000003","dateTimeValue":"2026-03-31T08:30:00Z"}]}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT1"],"claimName":"Loan A-2"}
POST /funnel/v2/activities?claimId=CLAIM5 {"templateId":"10000000-0000-4000-8000-000000000002","status":"Accepted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"12000000-0000-4000-8000-000000000001","stringValue":"A-2"},{"templateId":"12000000-0000-4000-8000-000000000002","doubleValue":1250.5},{"templateId":"12000000-0000-4000-8000-000000000003","dateTimeValue":"2026-03-31T08:30:00Z"}]}
POST /funnel/v2/activities?contactId=CLIENT1 {"templateId":"10000000-0000-4000-8000-000000000003","status":"Open","workflowName":"Batch","workflowTemplateIdentifier":"WF-1"}
POST /funnel/v2/contacts/CLIENT1/magic-link {}
`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.mapping, c.rows)
			p := s.mustRun(0, "--only", "c1@example.com")
			want := strings.ReplaceAll(strings.TrimPrefix(c.calls, "\n"), "CASE", caseID)
			if diff := cmp.Diff(want, transcript(p.calls)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			s.checkIDs("c1@example.com")
		})
	}
}

// checkIDs compares what the workbook shows beside every row of a client with what the service handed out.
func (s *scene) checkIDs(key string) {
	s.t.Helper()
	made := s.service.Created()
	link, id := made["link "+key], made["client "+key][0].ID
	if len(link) == 0 {
		link = made["client "+key] // version 1: the url comes with the client
	}
	for _, r := range s.results() {
		if r["E-mail"] != key {
			continue
		}
		if r["Import status"] != "done" {
			s.t.Errorf("row %s: status %q: %s", r["Source row"], r["Import status"], r["Error"])
		}
		if got := r["contactId"] + r["clientId"]; got != id {
			s.t.Errorf("row %s: client id %q, want %q", r["Source row"], got, id)
		}
		if got := r["redirectUrl"]; got != link[0].URL {
			s.t.Errorf("row %s: redirect url %q, want %q", r["Source row"], got, link[0].URL)
		}
		if claim := made["claim "+key+"/Loan "+r["Agreement no"]]; len(claim) > 0 && r["claimIds"] != claim[0].ID {
			s.t.Errorf("row %s: claim ids %q, want %q", r["Source row"], r["claimIds"], claim[0].ID)
		}
	}
}

// TestRateOverrides: --rate and --concurrency win over the environment's limits.
func TestRateOverrides(t *testing.T) {
	t.Parallel()
	s := newScene(t, "name: a\napi: v2\n"+clientPart, leads(8))
	s.environment("limits: {requests_per_second: 0.001, concurrency: 1}")
	var mu sync.Mutex
	var at []time.Time
	together, most := 0, 0
	s.service.Play(func(c apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		together++
		most = max(most, together)
		return apitest.Fault{Delay: 100 * time.Millisecond, Then: func() {
			mu.Lock()
			defer mu.Unlock()
			together--
		}}
	})
	s.mustRun(0, "--rate", "50", "--concurrency", "8", "--accept", "new-ledger")
	if most < 2 {
		t.Errorf("%d requests at a time", most)
	}
	if took := at[len(at)-1].Sub(at[0]); took < time.Duration(len(at)-2)*20*time.Millisecond {
		t.Errorf("%d requests in %v: more than 50 a second", len(at), took)
	}
}

// TestDryRunLeavesNothing: a dry run writes a plan and no other file, and refuses to write it over results.
func TestDryRunLeavesNothing(t *testing.T) {
	s := newScene(t, stepThree, leads(2))
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	s.mustRun(0, "--dry-run")
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("the dry run leaves %v in the temporary folder (error %v)", left, err)
	}
	if diff := cmp.Diff([]string{"environments.yaml", "leads.plan.xlsx", "leads.xlsx", "mapping.yaml"}, names(t, s.dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	order := "client, “Your details”, claim loan/A-%d, “Agreement details” on claim loan/A-%[1]d, “Sign your claim”, magic link"
	want := []record{
		{"Client key": "c1@example.com", "Clients": "1", "Claims": "1", "Activities": "3", "Links": "1",
			"Calls": "6", "In this order": fmt.Sprintf(order, 1)},
		{"Client key": "c2@example.com", "Clients": "1", "Claims": "1", "Activities": "3", "Links": "1",
			"Calls": "6", "In this order": fmt.Sprintf(order, 2)},
	}
	if diff := cmp.Diff(want, s.workbook("leads.plan.xlsx", "Plan")); diff != "" {
		t.Errorf("the calls of the plan (-want +got):\n%s", diff)
	}
	s.mustRun(0)
	s.mustRun(2, "--dry-run", "-o", s.path("leads.results.xlsx"))
}

// TestContactOfTheEnvironment says what is wrong with the place of a contact's id, before anything is sent.
func TestContactOfTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newJoint(t, "a@ | Ann | A-1 | |")
	for text, want := range map[string]string{"": "is empty", "two words": "not one word", strings.Repeat("x", 300): "too long for an id",
		"contact-7": "is not an id of the service", "00000000-0000-0000-0000-000000000000": "stands for no id"} {
		write(t, s.path("broker"), text)
		p := s.run()
		if p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, want) || !strings.Contains(p.err, "mapping.yaml:16:") || text != "" && strings.Contains(p.err, text) {
			t.Errorf("%q: exit code %d, want %q\n%s", text, p.code, want, p.err)
		}
	}
	must(t, os.Remove(s.path("broker")))
	if p := s.run(); p.code != 2 || !strings.Contains(p.err, "[contact-id]") {
		t.Errorf("without the file: exit code %d\n%s", p.code, p.err)
	}
}
