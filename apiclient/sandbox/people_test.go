package sandbox_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/sandbox"

	"github.com/google/go-cmp/cmp"
)

// browse asks for a page as a browser does; it posts form unless that is nil.
func browse(h http.Handler, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	if form != nil {
		r = httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// wantPage expects a page with texts, and without others.
func wantPage(t testing.TB, w *httptest.ResponseRecorder, texts []string, not ...string) {
	t.Helper()
	shown := html.UnescapeString(w.Body.String())
	if w.Code != http.StatusOK {
		t.Errorf("status %d, want 200", w.Code)
	}
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			t.Errorf("the page lacks %q:\n%s", text, shown)
		}
	}
	for _, text := range not {
		if strings.Contains(shown, text) {
			t.Errorf("the page has %q:\n%s", text, shown)
		}
	}
}

// formOf returns where the form of a page goes.
func formOf(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	_, rest, ok := strings.Cut(w.Body.String(), `<form method="post" action="`)
	action, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("the page has no form:\n%s", w.Body)
	}
	return action
}

// A client goes on where the integrator has left off: what is back-filled is there, the
// form completes the Open activity, and a restart changes nothing.
func TestClientsCompleteActivities(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	contact := newContact(t, s)
	claim := newClaim(t, s, contact, "Loan 1")
	post(t, s, v2+"/activities?claimId="+claim, opened(signature)) // created first, and yet after what is completed
	post(t, s, v2+"/activities?contactId="+contact, opened(details))
	post(t, s, v2+"/activities?claimId="+claim, completed(agreement, lender, "Accepted"))
	link := pathOf(t, newLink(t, s, contact))

	journey := browse(s, link, nil)
	wantPage(t, journey, []string{"Agreement", "Doe <& Söhne>", "1 of 3 steps completed", "Confirm and continue"})
	wantSteps := func() {
		t.Helper()
		var steps []string
		for _, part := range strings.Split(browse(s, link, nil).Body.String(), "<h3>")[1:] {
			name, _, _ := strings.Cut(part, "<")
			steps = append(steps, name)
		}
		if diff := cmp.Diff([]string{"Agreement", "Signature", "Details"}, steps); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
	}
	wantSteps()
	if w := browse(s, formOf(t, journey), url.Values{}); w.Code != http.StatusSeeOther {
		t.Fatalf("the form: %d %s", w.Code, w.Body)
	}
	if at := get(t, s, link)["startsAt"]; at != "Details" {
		t.Errorf("the redirect url leads a program to %q, want Details", at)
	}
	form := formOf(t, browse(s, link, nil))
	if w := browse(s, form, url.Values{surname: {"Doe"}, "00000000-0000-4000-8000-0000000000a5": {"1980-05-01"}, "00000000-0000-4000-8000-0000000000a8": {"007.50"}}); w.Code != http.StatusSeeOther {
		t.Fatalf("the form: %d %s", w.Code, w.Body)
	}
	want := []string{"3 of 3 steps completed", "Nothing is waiting for you", "by you", "1 May 1980", "7.50"}
	wantPage(t, browse(s, link, nil), want, "<form")
	wantSteps()
	if w := browse(s, form, url.Values{surname: {"again"}}); w.Code != http.StatusSeeOther {
		t.Errorf("the same form again: %d", w.Code)
	}

	s.Close()
	s = open(t, dir)
	wantPage(t, browse(s, link, nil), want, "again")
	wantPage(t, browse(s, s.Dashboard()+"/clients/"+contact, nil), []string{"2 completed by the client", "Entered by the client", "back-filled", "7.50"}, "again")
	wantPage(t, browse(s, s.Dashboard(), nil), []string{"2 by the client"})
	wantStart(t, s, newLink(t, s, contact), "step 1")
}

// Both claimants of a claim may complete its activities, and each sees only what is
// of the claim or their own.
func TestJointClaimants(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	partner := post(t, s, v2+"/contacts", `{"name":{"first":"Pat","last":"Partner"}}`)["contactId"]
	claim := post(t, s, v2+"/claims", `{"administratorId":"`+contact+`","claimants":["`+contact+`","`+partner+`"],"claimName":"Joint loan"}`)["claimId"]
	post(t, s, v2+"/activities?contactId="+contact, completed(details, surname, "Submitted"))
	post(t, s, v2+"/activities?claimId="+claim, opened(agreement))
	theirs := pathOf(t, newLink(t, s, partner))

	journey := browse(s, theirs, nil)
	wantPage(t, journey, []string{"Pat Partner", "“Joint loan” is a joint claim with jane@example.com", "Your next step"}, "Doe")
	if w := browse(s, formOf(t, journey), url.Values{lender: {"Lloyds"}}); w.Code != http.StatusSeeOther {
		t.Fatalf("the partner's form: %d %s", w.Code, w.Body)
	}
	wantPage(t, browse(s, pathOf(t, newLink(t, s, contact)), nil), []string{"by Pat Partner", "Lloyds", "Nothing is waiting"})
	wantPage(t, browse(s, s.Dashboard(), nil), []string{">2</dd></div>\n<div><dt>Claims</dt><dd>1<", "<dt>Activities</dt><dd>2<", "<dt>Completed by clients</dt><dd>1<"})
	wantPage(t, browse(s, s.Dashboard()+"/clients/"+contact, nil), []string{"Entered by the client</span> Pat Partner"})
}

// A client of version 1 without activities is at step 1, which the document does not
// name.
func TestStepOneHasNoForm(t *testing.T) {
	s := open(t, "")
	url := post(t, s, v1Clients+"?leadRedirect=true", `{"email":"jane@example.com"}`)["redirectUrl"]
	wantPage(t, browse(s, pathOf(t, url), nil), []string{"Your claim begins at step 1"}, "<form")
}

// An activity whose template is gone with other reference data stays as it is.
func TestFormWithoutItsTemplate(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	contact := newContact(t, s)
	post(t, s, v2+"/activities?contactId="+contact, opened(details))
	link := pathOf(t, newLink(t, s, contact))
	s.Close()
	s, err := sandbox.New(sandbox.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := browse(s, formOf(t, browse(s, link, nil)), url.Values{})
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "--templates FILE") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	wantStart(t, s, "https://sandbox.invalid"+link, "Details")
}

// DropDowns offer the options of the reference data, where these are texts.
func TestOptions(t *testing.T) {
	o := options(t, "")
	for given, want := range map[string]bool{`["Ms","Mr"]`: true, `[1,2]`: false, `{"a":1}`: false} {
		o.Templates = []byte(`[{"id":"` + details + `","name":"Details","activityAttributeTemplates":[{"id":"` + surname + `","name":"Title","dataType":"DropDown","options":` + given + `}]}]`)
		s, err := sandbox.New(o)
		if err != nil {
			t.Fatal(err)
		}
		contact := newContact(t, s)
		post(t, s, v2+"/activities?contactId="+contact, opened(details))
		page := browse(s, pathOf(t, newLink(t, s, contact)), nil).Body.String()
		if got := strings.Contains(page, "<option>Ms</option>"); got != want || strings.Contains(page, "<select") != want {
			t.Errorf("options %s: offered %t, want %t", given, got, want)
		}
	}
}

// Of two forms that are sent at the same moment, one completes the activity.
func TestCompletedOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	contact := newContact(t, s)
	post(t, s, v2+"/activities?contactId="+contact, opened(details))
	form := formOf(t, browse(s, pathOf(t, newLink(t, s, contact)), nil))
	var group sync.WaitGroup
	var mu sync.Mutex
	sent := 0
	for range 8 {
		group.Go(func() {
			w := browse(s, form, url.Values{surname: {"Doe"}})
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(w.Header().Get("Location"), "?sent=") {
				sent++
			}
		})
	}
	group.Wait()
	s.Close()
	if open(t, dir); sent != 1 { // a journal with two entries of one activity would be damaged
		t.Errorf("%d of 8 forms completed the activity, want 1", sent)
	}
}

// A form enters the attributes of its activity, and no other.
func TestOnlyAttributesOfTheActivity(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	made := post(t, s, v2+"/activities?contactId="+contact, opened(details))
	link := pathOf(t, newLink(t, s, contact))
	w := browse(s, link+"/"+made["activityId"], url.Values{"00000000-0000-4000-8000-0000000000a4": {"true"}, lender: {"of another template"}})
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	wantPage(t, browse(s, link, nil), []string{"Consent", "Yes"}, "of another template")
}

// C-10 of docs/security.md.
func TestC10_PagesAreBehindTheGuards(t *testing.T) {
	s := open(t, "")
	contact := newContact(t, s)
	post(t, s, v2+"/activities?contactId="+contact, opened(details))
	link := pathOf(t, newLink(t, s, contact))
	addr, _ := serve(t, s)
	form := formOf(t, browse(s, link, nil))
	for _, c := range []struct {
		method, path, host, origin string
		want                       int
	}{
		{"GET", s.Dashboard(), addr, "", http.StatusOK},
		{"GET", s.Dashboard(), "evil.test", "", http.StatusForbidden},
		{"GET", link, addr, "", http.StatusOK},
		{"GET", link, "evil.test", "", http.StatusForbidden},
		{"POST", form, "evil.test", "http://evil.test", http.StatusForbidden},
		{"POST", form, addr, "http://evil.test", http.StatusForbidden},
		{"POST", form, addr, "", http.StatusForbidden},
		{"POST", form, addr, "http://" + addr, http.StatusSeeOther},
	} {
		r, err := http.NewRequest(c.method, "http://"+addr+c.path, strings.NewReader(surname+"=Doe"))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s %s, Host %s, Origin %q: %d, want %d", c.method, c.path, c.host, c.origin, answer.StatusCode, c.want)
		}
	}
	wantPage(t, browse(s, link, nil), []string{"Nothing is waiting for you"})
}

// TestFrontPage: a browser gets a page that says what this is and how to go on, without
// the dashboard's address; a program gets JSON as for any unknown path.
func TestFrontPage(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantPage(t, browse(s, "http://127.0.0.1:8080/", nil), []string{"The Claimsheet sandbox", "stand-in for the claims intake service", "invented data",
		"redirectUrl", "http://127.0.0.1:8080/start/", "/funnel/v1", "/funnel/v2", "base_url: http://127.0.0.1:8080\n", "claimsheet run -e local", "in the terminal"},
		s.Dashboard())
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("a program gets %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
}
