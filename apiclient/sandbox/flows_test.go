package sandbox_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"
)

// exchange is an entry of a file of testdata/conversations: below its name the method and path, with the content type behind "as"
// unless that is application/json ("none" for none), then the body if there is one, and the whole answer.
type exchange struct{ name, head, request, body string } // head is all but the answer

func exchanges(t testing.TB, file string) (list []exchange) {
	t.Helper()
	constants := strings.NewReplacer("(0)", details[:34], "(unknown)", unheardOf, "(case)", sandbox.CaseID,
		"(1 MiB)", strings.Repeat("x", 1<<20-7), "(BOM)", "\ufeff")
	for entry := range strings.SplitSeq(strings.TrimSpace(string(must(os.ReadFile(file))(t))), "\n\n") {
		lines := strings.Split(entry, "\n\t")
		last := len(lines) - 1
		list = append(list, exchange{lines[0], strings.Join(lines[:last], "\n\t"), constants.Replace(lines[1]), constants.Replace(strings.Join(lines[2:last], ""))})
	}
	return list
}

// TestConversations holds the flows of the service's document, its look-ups and its refusals as an integrator would send them by hand. What an
// exchange has made has its name: (jane) is its id, (JANE) the same in capitals, and (jane's url) its redirect url. A refusal changes nothing,
// and says what is wrong without the values that were sent, which may be personal data. Beside a conversation stands what the service holds
// at its end.
func TestConversations(t *testing.T) {
	t.Parallel()
	for _, file := range must(filepath.Glob("testdata/conversations/*.txt"))(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, seen, made := open(t, ""), map[string]string{}, []string(nil)
			var got []string
			for _, e := range exchanges(t, file) {
				expand := strings.NewReplacer(made...)
				request, contentType, typed := strings.Cut(expand.Replace(e.request), " as ")
				if !typed {
					contentType = "application/json"
				}
				method, path, _ := strings.Cut(request, " ")
				before := shown(t, s)
				w := send(s, method, path, strings.TrimPrefix(contentType, "none"), expand.Replace(e.body))
				if w.Code >= 400 {
					same(t, e.name+" has changed the service", before, shown(t, s))
				}
				answer := random.ReplaceAllStringFunc(w.Body.String(), func(id string) string {
					name := "(" + e.name + ")"
					if strings.HasPrefix(id, "/") {
						name = "(" + e.name + "'s url)"
					}
					if seen[id] == "" && w.Code == http.StatusCreated {
						seen[id], made = name, append(made, name, id, strings.ToUpper(name), strings.ToUpper(id))
					}
					return cmp.Or(seen[id], id)
				})
				got = append(got, fmt.Sprintf("%s\n\t%d %s", e.head, w.Code, answer))
			}
			golden(t, "conversations/"+filepath.Base(file), strings.Join(got, "\n"))
			golden(t, "conversations/"+strings.TrimSuffix(filepath.Base(file), "txt")+"json", shown(t, s))
		})
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
