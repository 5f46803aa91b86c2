package sandbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"

	"github.com/google/go-cmp/cmp"
)

// openFlow makes a service with workflows.
func openFlow(t *testing.T, dir string, orders ...string) *sandbox.Service {
	t.Helper()
	o := options(t, dir)
	for _, text := range orders {
		o.Workflows = append(o.Workflows, must(sandbox.ParseWorkflow(text))(t))
	}
	return start(t, o)
}

// The workflow goes on behind what a client completes, on the same claim, past what is
// completed, and after a restart without the workflow everything is still there.
func TestWorkflowGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openFlow(t, dir, "WF-1 = Details > Agreement > Signature")
	contact := newContact(t, s)
	claim := newClaim(t, s, contact, "Loan 1")
	post(t, s, v2+"/activities?claimId="+claim, completed(agreement, lender, "Accepted")) // back-filled: it places nothing
	post(t, s, v2+"/activities?contactId="+contact, opened(signature))                    // of the client, not of the claim
	link := pathOf(t, newLink(t, s, contact))
	wantStart(t, s, "https://sandbox.invalid"+link, "Signature")
	complete(t, s, link, url.Values{}) // the last of the order
	wantStart(t, s, "https://sandbox.invalid"+link, "step 1")

	post(t, s, v2+"/activities?claimId="+claim, opened(details))
	complete(t, s, link, url.Values{surname: {"Doe"}})
	wantStart(t, s, "https://sandbox.invalid"+link, "Signature") // behind Agreement, which the claim has
	wantSteps(t, browse(t, s, link, nil), 3, 4, "Your next step", "Loan 1")
	wantPage(t, browse(t, s, s.Dashboard()+"/clients/"+contact, nil), []string{"Signature Open waits for the client"})
	var placed []sandbox.SnapshotActivity
	for _, act := range s.Snapshot().Clients[0].Claims[0].Activities {
		if act.Template == "Signature" {
			placed = append(placed, act)
		}
	}
	if len(placed) != 1 || placed[0].Status != "Open" || placed[0].WorkflowTemplateIdentifier != "WF-1" || placed[0].WorkflowName == "" || placed[0].Created.IsZero() {
		t.Errorf("placed %+v", placed)
	}

	s.Close()
	s = open(t, dir)
	wantSteps(t, browse(t, s, link, nil), 3, 4, "Your next step", "Loan 1")
	complete(t, s, link, url.Values{})
	wantSteps(t, browse(t, s, link, nil), 4, 4, "Nothing is waiting for you")
}

// What the workflow would place is not placed where it is Open already, or where the
// activity is not of the order. Version 1 has an order of its own. An unknown identifier is refused, where there are known ones.
func TestWorkflowPlacesNothingTwice(t *testing.T) {
	t.Parallel()
	s := openFlow(t, "", "WF-1 = Details > Signature", "WF-3 = Details", "Details > Agreement")
	contact := newContact(t, s)
	w := send(s, "POST", v2+"/activities?contactId="+contact, "application/json", strings.Replace(opened(details), "WF-1", "WF-2", 1))
	if want := `"message":"there is no such workflow: expected WF-1 or WF-3","field":"workflowTemplateIdentifier"`; w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, template := range []string{agreement, details, signature} {
		post(t, s, v2+"/activities?contactId="+contact, opened(template))
	}
	link := pathOf(t, newLink(t, s, contact))
	complete(t, s, link, url.Values{lender: {"Lloyds"}})
	complete(t, s, link, url.Values{surname: {"Doe"}})
	wantSteps(t, browse(t, s, link, nil), 2, 3)

	made := post(t, s, v1Clients+"?leadRedirect=true", `{"email":"jane@example.com"}`)
	post(t, s, v1Clients+"/"+made["clientId"]+"/activities", `{"activityTemplateId":"`+details+`","status":"Open"}`)
	link = pathOf(t, made["redirectUrl"])
	complete(t, s, link, url.Values{surname: {"Doe"}})
	wantStart(t, s, made["redirectUrl"], "Agreement")
	wantSteps(t, browse(t, s, link, nil), 1, 2)
}

func TestParseWorkflow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]sandbox.Workflow{
		"WF-1 = Your details >Sign: now": {"WF-1", []string{"Your details", "Sign: now"}},
		"A > B":                          {"", []string{"A", "B"}},
	} {
		got, err := sandbox.ParseWorkflow(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "WF-1 =", "A > > B", "= A"} {
		if got, err := sandbox.ParseWorkflow(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	o := options(t, "")
	o.Workflows = []sandbox.Workflow{must(sandbox.ParseWorkflow("Details > Detials"))(t)}
	if _, err := sandbox.New(o); err == nil || !strings.Contains(err.Error(), `a workflow has "Detials", which is the name of 0 activity templates`) {
		t.Errorf("an unknown template: %v", err)
	}
}
