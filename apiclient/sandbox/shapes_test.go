package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"

	"github.com/google/go-cmp/cmp"
)

// shaped makes a service with these shapes.
func shaped(t *testing.T, change func(*sandbox.Options)) *sandbox.Service {
	t.Helper()
	o := options(t, "")
	change(&o)
	s, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestWires checks the answers of both versions in each wire.
func TestWires(t *testing.T) {
	const open = `{"templateId":"` + signature + `","status":"Open","workflowName":"W","workflowTemplateIdentifier":"X"}`
	var b strings.Builder
	for _, wire := range []sandbox.Wire{sandbox.Flat, sandbox.Nested, sandbox.Header, sandbox.Text, sandbox.Relative} {
		s := shaped(t, func(o *sandbox.Options) { o.Wire = wire })
		b.WriteString("== " + string(wire) + "\n")
		show := func(what, method, path, body string) {
			w := send(s, method, path, "application/json", body)
			if w.Code/100 != 2 {
				t.Fatalf("%s: %s: %d %s", wire, what, w.Code, w.Body)
			}
			fmt.Fprintf(&b, "%s: %d", what, w.Code)
			for _, name := range []string{"Content-Type", "Location", "Content-Location", "X-Redirect-Url"} {
				if value := w.Header().Get(name); value != "" {
					b.WriteString("; " + name + ": " + value)
				}
			}
			b.WriteString("\n  " + strings.TrimSpace(w.Body.String()) + "\n")
		}
		show("client", "POST", v1Clients+"?leadRedirect=true", `{"email":"a@example.com"}`)
		show("client without a url", "POST", v1Clients, `{"email":"b@example.com"}`)
		show("contact", "POST", v2+"/contacts", `{"email":"a@example.com"}`)
		contact := s.Snapshot().Clients[2].ID
		show("claim", "POST", v2+"/claims", `{"administratorId":"`+admin(t, s)+`","claimants":["`+contact+`"],"claimName":"L"}`)
		show("activity", "POST", v2+"/activities?contactId="+contact, open)
		show("link", "POST", v2+"/contacts/"+contact+"/magic-link", "")
		show("look-up of a client", "GET", v1Clients+"/by-email/a@example.com", "")
		show("look-up of a contact", "GET", v2+"/contacts/by-email/a@example.com", "")
	}
	golden(t, "wires.txt", numbered(b.String()))
}

// admin creates an administrator and returns the id, whatever the wire.
func admin(t *testing.T, s *sandbox.Service) string {
	t.Helper()
	send(s, "POST", v2+"/contacts?isAdministrator=true", "application/json", `{"email":"admin@example.com"}`)
	all := s.Snapshot().Clients
	return all[len(all)-1].ID
}

// TestNobody checks each answer of a look-up that finds nobody.
func TestNobody(t *testing.T) {
	for notFound, want := range map[sandbox.NotFound]string{
		sandbox.Refused:   `404 {"error":{"code":"not-found","message":"no client was created with this value in the field \"email\"","field":"email"}}`,
		sandbox.NoContent: `204 `,
		sandbox.Null:      `200 null`,
		sandbox.NullID:    `200 {"contactId":null}`,
		sandbox.NoItems:   `200 {"items":[]}`,
		sandbox.False:     `200 {"found":false}`,
	} {
		s := shaped(t, func(o *sandbox.Options) { o.NotFound = notFound })
		w := send(s, "GET", v2+"/contacts/by-email/nobody@example.com", "", "")
		got := fmt.Sprintf("%d %s", w.Code, strings.TrimSpace(w.Body.String()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", notFound, diff)
		}
	}
}

// TestUntyped checks that the data types are not answered but still decide which
// value field is right.
func TestUntyped(t *testing.T) {
	typed, untyped := shaped(t, func(*sandbox.Options) {}), shaped(t, func(o *sandbox.Options) { o.Untyped = true })
	var want, got []map[string]any
	for s, list := range map[*sandbox.Service]*[]map[string]any{typed: &want, untyped: &got} {
		if err := json.Unmarshal(send(s, "GET", v2+"/activity-templates", "", "").Body.Bytes(), list); err != nil {
			t.Fatal(err)
		}
	}
	types := 0
	for _, template := range want {
		attributes, _ := template["activityAttributeTemplates"].([]any)
		for _, attribute := range attributes {
			if _, ok := attribute.(map[string]any)["dataType"]; ok {
				types++
			}
			delete(attribute.(map[string]any), "dataType")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || types == 0 {
		t.Errorf("%d types were answered; without them (-want +got):\n%s", types, diff)
	}
	id := post(t, untyped, v2+"/contacts", `{"email":"a@example.com"}`)["contactId"]
	w := send(untyped, "POST", v2+"/activities?contactId="+id, "application/json", `{"templateId":"`+details+
		`","status":"Submitted","workflowName":"W","workflowTemplateIdentifier":"X","attributes":[{"templateId":"`+surname+`","boolValue":true}]}`)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "wrong-value-field") {
		t.Errorf("a wrong value field: %d %s", w.Code, w.Body)
	}
}

// TestUnknownShapes checks that words that are no shape are refused.
func TestUnknownShapes(t *testing.T) {
	for _, c := range []struct {
		options sandbox.Options
		want    string
	}{
		{sandbox.Options{Wire: "flat"}, `there is no wire "flat": expected nested, header, text, relative`},
		{sandbox.Options{NotFound: "none"}, `there is no answer "none" for nobody: expected no-content, null, null-id, no-items, false`},
	} {
		if _, err := sandbox.New(c.options); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
