package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"claimsheet/apiclient/sandbox"
)

// page is a parsed answer.
type page struct {
	status int
	header http.Header
	root   *html.Node
}

// browse asks for a page as a browser does; it posts form unless that is nil.
func browse(t testing.TB, h http.Handler, path string, form url.Values) page {
	t.Helper()
	r := httptest.NewRequest("GET", "http://127.0.0.1:8080"+path, nil)
	if form != nil {
		r = httptest.NewRequest("POST", "http://127.0.0.1:8080"+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := ask(h, r)
	return page{w.Code, w.Header(), must(html.Parse(w.Body))(t)}
}

// wantPage expects a page on which a person reads texts, and not others.
func wantPage(t testing.TB, p page, texts []string, not ...string) {
	t.Helper()
	shown := text(p.root)
	if p.status != http.StatusOK {
		t.Errorf("status %d, want 200", p.status)
	}
	for _, one := range texts {
		if !strings.Contains(shown, one) {
			t.Errorf("the page lacks %q: %s", one, shown)
		}
	}
	for _, one := range not {
		if strings.Contains(shown, one) {
			t.Errorf("the page has %q: %s", one, shown)
		}
	}
}

// wantSteps expects a journey of so many steps, of which so many are completed, and texts.
func wantSteps(t testing.TB, p page, done, all int, texts ...string) {
	t.Helper()
	wantPage(t, p, texts)
	if d, a := len(find(p.root, is("class", "done"))), len(find(p.root, tag("li"))); a != all || d != 2*done { // the step and its tag
		t.Errorf("%d of %d steps are completed, want %d of %d", d/2, a, done, all)
	}
}

// complete sends the form of the page of a redirect url.
func complete(t testing.TB, s http.Handler, link string, form url.Values) {
	t.Helper()
	if p := browse(t, s, formOf(t, browse(t, s, link, nil)), form); p.status != http.StatusSeeOther {
		t.Fatalf("the form: %d %s", p.status, text(p.root))
	}
}

// formOf returns where the form of a page goes.
func formOf(t testing.TB, p page) string {
	t.Helper()
	forms := find(p.root, tag("form"))
	if len(forms) != 1 {
		t.Fatalf("the page has %d forms: %s", len(forms), text(p.root))
	}
	return attr(forms[0], "action")
}

// find returns the elements that a test of them takes, in the page's order.
func find(n *html.Node, takes func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && takes(d) {
			found = append(found, d)
		}
	}
	return found
}

func tag(names ...string) func(*html.Node) bool {
	return func(n *html.Node) bool { return slices.Contains(names, n.Data) }
}

func is(name, value string) func(*html.Node) bool {
	return func(n *html.Node) bool { return slices.Contains(strings.Fields(attr(n, name)), value) }
}

func anyElement(*html.Node) bool { return true }

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text returns what a person reads of a node, with single spaces.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func texts(nodes []*html.Node) []string {
	var list []string
	for _, n := range nodes {
		list = append(list, text(n))
	}
	return list
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// scene is Ann and Bob, who share a claim, and Cid of version 1, who has completed a
// step. The links are paths of the claims site.
type scene struct {
	*sandbox.Service
	ann, bob, cid                string // ids
	annsLink, bobsLink, cidsLink string
	sign, bank                   string // activities
	form                         string // of Ann's current step
}

// inForm is the id of an attribute of the scene's form, by its place.
func inForm(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", n) }

// The attributes of the form, and another one's.
var (
	aText, anArea, aPick, aFree, aBox = inForm(1), inForm(2), inForm(3), inForm(4), inForm(5)
	aDay, aMoment, aNumber, anAmount  = inForm(6), inForm(7), inForm(8), inForm(9)
	ofNoType, passed                  = inForm(10), inForm(11)
)

// play makes the scene; with a text, everything that can be named has that name.
func play(t *testing.T, dir, all string) *scene {
	t.Helper()
	name := func(plain string) string {
		if all != "" {
			plain = all
		}
		quoted := must(json.Marshal(plain))(t)
		return string(quoted)
	}
	var form []string
	for i, a := range [][2]string{{"Surname", "Text"}, {"Address", "TextArea"}, {"Title", `DropDown","options":[` + name("Ms") + `,` + name("Mr") + `],"x":"`}, {"Lender", `DropDown","options":[1,"`},
		{"Consent", "Checkbox"}, {"Born", "Date"}, {"Signed at", "DateTime"}, {"Children", "Number"}, {"Amount", "Currency"}, {"Of no type", ""}} {
		one := `{"id":"` + inForm(i+1) + `","name":` + name(a[0]) + `,"dataType":"` + a[1] + `"}`
		form = append(form, strings.Replace(one, `[1,""}`, `[1,""]}`, 1))
	}
	template := func(id, plain string, attributes ...string) string {
		return `{"id":"` + id + `","name":` + name(plain) + `,"activityAttributeTemplates":[` + strings.Join(attributes, ",") + `]}`
	}
	const sign, bank, identity = "00000000-0000-4000-8000-00000000000d", "00000000-0000-4000-8000-00000000000e", "00000000-0000-4000-8000-00000000000f"
	o := options(t, dir)
	o.Templates = []byte(`[` + strings.Join([]string{template(details, "Your details", form[5]), template(agreement, "Agreement", form[8]), template(sign, "Sign", form...),
		template(bank, "Bank"), template(identity, "Identity", `{"id":"`+passed+`","name":`+name("Passed")+`,"dataType":"Checkbox"}`)}, ",") + `]`)
	service := start(t, o)
	s := &scene{Service: service}
	cid := post(t, service, v1Clients+"?leadRedirect=true", `{"email":`+name("cid@example.com")+`}`)
	s.cid, s.cidsLink = cid["clientId"], pathOf(t, cid["redirectUrl"])
	post(t, service, v1Clients+"/"+s.cid+"/activities", `{"activityTemplateId":"`+identity+`","status":"Open"}`)
	complete(t, s, s.cidsLink, url.Values{passed: {"true"}})
	s.ann = post(t, service, v2+"/contacts?isAdministrator=true", `{"firstName":`+name("Ann")+`,"lastName":`+name("Archer")+`,"email":`+name("ann@example.com")+`}`)["contactId"]
	s.bob = post(t, service, v2+"/contacts", `{"name":{"first":`+name("Bob")+`},"tags":["x",{`+name("y")+`:2}]}`)["contactId"]
	claim := post(t, service, v2+"/claims", `{"administratorId":"`+s.ann+`","claimants":["`+s.ann+`","`+s.bob+`"],"claimName":`+name("Lloyds 17")+`}`)["claimId"]
	done := func(template, status, attribute string) string {
		return `{"templateId":"` + template + `","status":"` + status + `","workflowName":"x","workflowTemplateIdentifier":"x","attributes":[{"templateId":` + attribute + `}]}`
	}
	s.bank = post(t, service, v2+"/activities?contactId="+s.ann, opened(bank))["activityId"] // created first, and yet after what is completed
	post(t, service, v2+"/activities?contactId="+s.ann, done(details, "Submitted", `"`+aDay+`","dateTimeValue":"1980-05-01T00:00:00Z"`))
	post(t, service, v2+"/activities?claimId="+claim, done(agreement, "Accepted", `"`+anAmount+`","doubleValue":1234.50`))
	complete(t, s, pathOf(t, newLink(t, service, s.ann)), url.Values{})
	s.sign = post(t, service, v2+"/activities?claimId="+claim, opened(sign))["activityId"]
	s.bank = post(t, service, v2+"/activities?contactId="+s.ann, opened(bank))["activityId"]
	s.annsLink, s.bobsLink = pathOf(t, newLink(t, service, s.ann)), pathOf(t, newLink(t, service, s.bob))
	s.form = s.annsLink + "/" + s.sign
	return s
}

// all are pages of every kind, by what they are.
func (s *scene) all(t *testing.T) map[string]page {
	t.Helper()
	list := map[string]page{
		"errors":   browse(t, s, s.form, url.Values{aDay: {"<x-evil>"}, aText: {"<x-evil>"}, aPick: {"<x-evil>"}, anArea: {"</textarea><x-evil>"}}),
		"finished": browse(t, s, s.cidsLink, nil),
	}
	for name, path := range map[string]string{"journey": s.annsLink, "joint": s.bobsLink, "unknown": "/start/none", "list": s.Dashboard(),
		"front": "/", "client ann": s.Dashboard() + "/clients/" + s.ann, "client bob": s.Dashboard() + "/clients/" + s.bob, "client cid": s.Dashboard() + "/clients/" + s.cid,
		"no client": s.Dashboard() + "/clients/x", "no page": "/dashboard/x"} {
		list[name] = browse(t, s, path, nil)
	}
	return list
}

func TestJourney(t *testing.T) {
	t.Parallel()
	s := play(t, "", "")
	p := browse(t, s, s.annsLink, nil)
	steps := find(p.root, tag("li"))
	same(t, "steps", []string{"Your details Completed Born 1 May 1980", "Agreement Completed Lloyds 17 Amount 1234.50", "Bank Completed on this site, 1 Mar 2026, 12:00 UTC", "Bank Later"},
		texts(slices.Delete(slices.Clone(steps), 3, 4)))
	wantSteps(t, p, 3, 5, "Ann Archer", "Sign Your next step")
	same(t, "the form", s.form, attr(find(steps[3], tag("form"))[0], "action"))
	var inputs []string
	for _, n := range find(steps[3], tag("input", "textarea", "select")) {
		inputs = append(inputs, strings.TrimSpace(attr(n, "name")[34:]+" "+n.Data+" "+attr(n, "type")+" "+attr(n, "inputmode")))
	}
	same(t, "inputs", []string{"01 input text", "02 textarea", "03 select", "04 input text", "05 input checkbox", "06 input date",
		"07 input datetime-local", "08 input text decimal", "09 input text decimal", "10 input text"}, inputs)
	same(t, "options", []string{"Choose…", "Ms", "Mr"}, texts(find(steps[3], tag("option"))))
	wantPage(t, browse(t, s, s.bobsLink, nil), []string{"Lloyds 17", "Your next step"}, "1980")
	wantPage(t, browse(t, s, s.cidsLink, nil), []string{"Completed on this site", "Nothing is waiting for you"})
	wantPage(t, browse(t, s, "/", nil), []string{"stand-in for the claims intake service", "base_url: http://127.0.0.1:8080", "/funnel/v1", "claimsheet run -e local", "in the terminal"}, s.Dashboard())
	w := send(s, "GET", "/", "", "") // of a program
	if w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("a program gets %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
	url := post(t, s, v1Clients+"?leadRedirect=true", `{"email":"jane@example.com"}`)["redirectUrl"]
	wantPage(t, browse(t, s, pathOf(t, url), nil), []string{"Your claim begins at step 1"}, "Save")
}

func TestFormIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field, typed, shown, wrong string
	}{
		{aText, "  Müller-<b> ", "Müller-<b>", ""},
		{anArea, "1 High St\r\nYork\r\n", "1 High St York", ""},
		{aText, "a\xff", "a\ufffd", ""},
		{aPick, "Mr", "Mr", ""},
		{aPick, "Dr", "", "“Title” must be one of the options."},
		{aFree, "Lloyds", "Lloyds", ""},
		{ofNoType, "17", "17", ""},
		{aBox, "true", "Yes", ""},
		{aDay, "1980-02-29", "29 February 1980", ""},
		{aDay, "1981-02-29", "", "“Born” must be a date of the calendar, such as 1980-05-01."},
		{aDay, "01/02/1980", "", "“Born” must be a date of the calendar, such as 1980-05-01."},
		{aMoment, "2026-03-01T09:30", "1 March 2026, 09:30:00 UTC", ""},
		{aMoment, "2026-03-01T09:30:05", "1 March 2026, 09:30:05 UTC", ""},
		{aMoment, "2026-03-01", "", "“Signed at” must be a date and a time, such as 2026-03-01T09:30."},
		{aNumber, "-007", "-7", ""},
		{aNumber, "00.50", "0.50", ""},
		{anAmount, "1234.50", "1234.50", ""},
		{anAmount, "1,234.50", "", "“Amount” must be a number in digits and a point, such as 1234.50."},
		{anAmount, "1e3", "", "“Amount” must be a number in digits and a point, such as 1234.50."},
		{anAmount, strings.Repeat("9", 400), "", "“Amount” must be a number in digits and a point, such as 1234.50."},
		{aText, "   ", "", "Go back and fill in at least one field."},
		{passed, "of another template", "", "Go back and fill in at least one field."},
	} {
		s := play(t, "", "")
		p := browse(t, s, s.form, url.Values{c.field: {c.typed}})
		if c.wrong == "" {
			if got := p.header.Get("Location"); p.status != http.StatusSeeOther || got != s.annsLink {
				t.Errorf("%s %q: %d to %q, want 303 to the journey", c.field, c.typed, p.status, got)
			}
			p = browse(t, s, s.annsLink, nil)
			wantPage(t, p, []string{"Sign Completed on this site"})
			values, want := texts(find(find(p.root, tag("li"))[3], tag("dd"))), []string{"No", c.shown}
			if c.field == aBox {
				want = []string{"Yes"}
			}
			slices.Sort(values)
			slices.Sort(want)
			same(t, c.typed, want, values)
			continue
		}
		if p.status != http.StatusUnprocessableEntity || get(t, s, s.annsLink)["startsAt"] != "Sign" {
			t.Errorf("%s %q: %d", c.field, c.typed, p.status)
		}
		if !strings.Contains(text(p.root), c.wrong) {
			t.Errorf("%s %q: the page says %s, not %s", c.field, c.typed, text(p.root), c.wrong)
		}
	}
}

// Only the current step can be sent, and what could not be stored is said.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := play(t, dir, "")
	for _, c := range []struct {
		path, typed string
		want        int
		says        string
	}{
		{s.annsLink + "/" + s.bank, "x", http.StatusSeeOther, ""},
		{s.cidsLink + "/" + s.sign, "x", http.StatusSeeOther, ""},
		{"/start/nobody/" + s.sign, "x", http.StatusNotFound, "does not lead anywhere"},
		{s.form, strings.Repeat("x", 2<<20), http.StatusBadRequest, "too large"},
	} {
		p := browse(t, s, c.path, url.Values{aText: {c.typed}})
		if p.status != c.want || !strings.Contains(text(p.root), c.says) || get(t, s, s.annsLink)["startsAt"] != "Sign" {
			t.Errorf("%s: %d %s", c.path, p.status, text(p.root))
		}
	}
	s.Close()
	if p := browse(t, s, s.form, url.Values{aText: {"x"}}); p.status != http.StatusUnprocessableEntity || !strings.Contains(text(p.root), "could not be written") {
		t.Errorf("unwritten: %d %s", p.status, text(p.root))
	}
	same(t, "the current step", "Sign", get(t, s, s.annsLink)["startsAt"])
	again := open(t, dir) // an activity whose template is gone with other reference data stays as it is
	if p := browse(t, again, s.form, url.Values{}); p.status != http.StatusUnprocessableEntity || !strings.Contains(text(p.root), "--templates FILE") {
		t.Errorf("without its template: %d %s", p.status, text(p.root))
	}
	same(t, "the current step", "Sign", get(t, again, s.annsLink)["startsAt"])
}

// What clients complete is there for the others and after a restart.
func TestClientsCompleteActivities(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := play(t, dir, "")
	complete(t, s, s.bobsLink, url.Values{aText: {"Bobby"}})
	wantSteps(t, browse(t, s, s.annsLink, nil), 4, 5, "Sign Completed on this site", "Bobby", "Bank Your next step")
	same(t, "the redirect url leads a program to", "Bank", get(t, s, s.annsLink)["startsAt"])
	complete(t, s, s.annsLink, url.Values{})
	if p := browse(t, s, s.form, url.Values{aText: {"again"}}); p.status != http.StatusSeeOther {
		t.Errorf("the same form again: %d", p.status)
	}
	s.Close()
	again := open(t, dir)
	wantSteps(t, browse(t, again, s.annsLink, nil), 5, 5, "Nothing is waiting for you", "Sign Completed on this site", "Bobby")
	wantPage(t, browse(t, again, s.annsLink, nil), nil, "again")
	wantPage(t, browse(t, again, again.Dashboard()+"/clients/"+s.ann, nil), []string{"Entered by the client", "back-filled", "Bobby"}, "again")
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	s := play(t, "", "")
	same(t, "clients", []string{"Bob", "Ann Archer ann@example.com", "cid@example.com"},
		texts(find(browse(t, s, s.Dashboard(), nil).root, is("scope", "row"))))
	wantPage(t, browse(t, s, s.Dashboard()+"/clients/"+s.cid, nil),
		[]string{"Identity Entered by the client 1 Mar 2026, 12:00 UTC Passed Yes", "clientId " + s.cid, "caseId " + sandbox.CaseID})
	wantPage(t, browse(t, s, s.Dashboard()+"/clients/"+s.bob, nil),
		[]string{"name.first Bob", "tags[0] x", "tags[1].y 2", "Claim: Lloyds 17", "Accepted back-filled", "Open waits for the client"})
}

// A long list shows the newest clients and how many there are.
func TestLongList(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for i := range 1020 {
		post(t, s, v2+"/contacts", fmt.Sprintf(`{"name":"Client %04d"}`, i))
	}
	p := browse(t, s, s.Dashboard(), nil)
	wantPage(t, p, []string{"1020 clients, the newest 1000 below"})
	if seen := texts(find(p.root, is("scope", "row"))); len(seen) != 1000 || seen[0] != "Client 1019" {
		t.Errorf("%d clients, from %s", len(seen), seen[0])
	}
}

// C-10 of docs/security.md.
func TestC10_PagesTakeTextAsText(t *testing.T) {
	t.Parallel()
	const evil = `"'><x-evil onload=alert(1)></textarea></title><script>alert(1)</script>{{.}}`
	s := play(t, "", evil)
	list := s.all(t)
	complete(t, s, s.annsLink, url.Values{aText: {evil}})
	list["completed"] = browse(t, s, s.annsLink, nil)
	for name, p := range list {
		if bad := find(p.root, tag("x-evil", "script", "style", "iframe", "img", "object", "base")); len(bad) > 0 {
			t.Errorf("%s: <%s> is part of the page", name, bad[0].Data)
		}
		for _, n := range find(p.root, anyElement) {
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
			}
		}
		if shown := strings.Contains(text(p.root), "<script>alert(1)</script>"); !shown && !slices.Contains([]string{"unknown", "front", "list", "no client", "no page"}, name) {
			t.Errorf("%s: the text is not shown", name)
		}
	}
}

// C-10 of docs/security.md.
func TestC10_PagesHaveStrictHeaders(t *testing.T) {
	t.Parallel()
	for name, p := range play(t, "", "").all(t) {
		for header, want := range map[string]string{
			"Content-Security-Policy":    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"Cache-Control":              "no-store",
			"Referrer-Policy":            "same-origin",
			"X-Content-Type-Options":     "nosniff",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Content-Type":               "text/html; charset=utf-8",
		} {
			if got := p.header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
		for _, n := range find(p.root, tag("link", "a", "form")) {
			if to := attr(n, "href") + attr(n, "action"); !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "#") || strings.HasPrefix(to, "//") {
				t.Errorf("%s: leads to %s, want this address only", name, to)
			}
		}
	}
}

// C-10 of docs/security.md.
func TestC10_FormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		origin, site string
		want         int
	}{
		{"http://127.0.0.1:8080", "same-origin", http.StatusSeeOther},
		{"", "same-origin", http.StatusSeeOther},
		{"http://127.0.0.1:8080", "", http.StatusSeeOther},
		{"null", "", http.StatusForbidden},
		{"http://127.0.0.1:8081", "same-site", http.StatusForbidden},
		{"http://127.0.0.1:8080", "cross-site", http.StatusForbidden},
		{"http://evil.test", "", http.StatusForbidden},
	} {
		s := play(t, "", "")
		r := httptest.NewRequest("POST", "http://127.0.0.1:8080"+s.form, strings.NewReader(aText+"=Archer"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := ask(sandbox.Guard(s, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}), r)
		if completed := get(t, s, s.annsLink)["startsAt"] != "Sign"; w.Code != c.want || completed != (c.want == http.StatusSeeOther) {
			t.Errorf("Origin %q, Sec-Fetch-Site %q: %d, completed %t", c.origin, c.site, w.Code, completed)
		}
	}
}

// C-10 of docs/security.md.
func TestC10_TheDashboardsAddressIsASecret(t *testing.T) {
	t.Parallel()
	s := play(t, "", "")
	if other := open(t, "").Dashboard(); other == s.Dashboard() || len(other) != len("/dashboard/")+26 {
		t.Errorf("two starts have the addresses %s and %s", other, s.Dashboard())
	}
	for _, path := range []string{"/dashboard", "/dashboard/", "/dashboard/x", strings.ToLower(s.Dashboard()), s.Dashboard() + "/clients", "/dashboard/x/clients/" + s.ann} {
		if p := browse(t, s, path, nil); p.status == http.StatusOK || strings.Contains(text(p.root), "Archer") {
			t.Errorf("%s: %d %s", path, p.status, text(p.root))
		}
	}
	for name, p := range s.all(t) {
		if strings.HasPrefix(name, "client") || name == "list" {
			continue
		}
		for _, n := range find(p.root, tag("a", "form")) {
			if strings.Contains(attr(n, "href")+attr(n, "action"), "/dashboard/") {
				t.Errorf("%s leads to the dashboard", name)
			}
		}
	}
}
