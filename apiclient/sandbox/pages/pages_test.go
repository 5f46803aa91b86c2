package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"claimsheet/apiclient/sandbox/pages"
)

// store is a store of given clients; the token of a client is "to-" and its id.
type store struct {
	clients []pages.Client
	fails   error
	done    map[string]json.RawMessage // what Complete was given last
}

func (s *store) Clients() []pages.Client { return s.clients }

func (s *store) Client(id string) (pages.Client, bool) {
	i := slices.IndexFunc(s.clients, func(c pages.Client) bool { return c.ID == id })
	if i < 0 {
		return pages.Client{}, false
	}
	return s.clients[i], true
}

func (s *store) Holder(token string) (pages.Client, bool) {
	return s.Client(strings.TrimPrefix(token, "to-"))
}

func (s *store) Complete(_, _ string, values map[string]json.RawMessage) error {
	s.done = values
	return s.fails
}

// every is an attribute of each data type.
func every() []pages.Attribute {
	return []pages.Attribute{
		{ID: "text", Name: "Surname", DataType: "Text"},
		{ID: "area", Name: "Address", DataType: "TextArea"},
		{ID: "pick", Name: "Title", DataType: "DropDown", Options: []string{"Ms", "Mr"}},
		{ID: "free", Name: "Lender", DataType: "DropDown"},
		{ID: "box", Name: "Consent", DataType: "Checkbox"},
		{ID: "day", Name: "Born", DataType: "Date"},
		{ID: "moment", Name: "Signed at", DataType: "DateTime"},
		{ID: "number", Name: "Children", DataType: "Number"},
		{ID: "money", Name: "Amount", DataType: "Currency"},
		{ID: "any", Name: "Of no type"},
	}
}

func noon(day int) time.Time { return time.Date(2026, 3, day, 12, 0, 0, 0, time.UTC) }

// sample is two clients who share a claim, of one run, and one of an earlier run
// who has completed a step.
func sample() *store {
	ann := pages.Person{ID: "ann", Data: json.RawMessage(`{"firstName":"Ann","lastName":"Archer","email":"ann@example.com"}`)}
	bob := pages.Person{ID: "bob", Data: json.RawMessage(`{"name":{"first":"Bob"},"tags":["x",{"y":2}]}`)}
	cid := pages.Person{ID: "cid", Data: json.RawMessage(`{"email":"cid@example.com"}`)}
	const early, late = "claimsheet/dev run/early", "claimsheet/dev run/late"
	loan := pages.Claim{ID: "loan", Name: "Lloyds 17", Administrator: ann, Claimants: []pages.Person{ann, bob}, Created: noon(2)}
	details := pages.Step{ID: "details", Template: "Your details", Status: "Submitted", Created: noon(2),
		Attributes: []pages.Attribute{{ID: "day", Name: "Born", DataType: "Date", Value: json.RawMessage(`"1980-05-01T00:00:00Z"`)}}}
	agreement := pages.Step{ID: "agreement", Template: "Agreement", Status: "Accepted", ClaimID: "loan", Created: noon(2),
		Attributes: []pages.Attribute{{ID: "money", Name: "Amount", DataType: "Currency", Value: json.RawMessage(`1234.50`)}}}
	sign := pages.Step{ID: "sign", Template: "Sign", Status: "Open", Open: true, ClaimID: "loan", Created: noon(2), Attributes: every()}
	bank := pages.Step{ID: "bank", Template: "Bank", Status: "Open", Open: true, Created: noon(2)}
	own := pages.Step{ID: "own", Template: "Identity", Status: "Open", Created: noon(1), EnteredBy: &cid, Entered: noon(3),
		Attributes: []pages.Attribute{{ID: "box", Name: "Passed", DataType: "Checkbox", Value: json.RawMessage(`true`)}}}
	return &store{clients: []pages.Client{
		{ID: "cid", Version: "v1", CaseID: "case-7", Data: cid.Data, Created: noon(1), By: early, Steps: []pages.Step{own}},
		{ID: "ann", Version: "v2", Administrator: true, Data: ann.Data, Created: noon(2), By: late, Token: "to-ann",
			Claims: []pages.Claim{loan}, Steps: []pages.Step{details, agreement, sign, bank}},
		{ID: "bob", Version: "v2", Data: bob.Data, Created: noon(2), By: late, Claims: []pages.Claim{loan}, Steps: []pages.Step{agreement, sign}},
	}}
}

// page is a parsed answer.
type page struct {
	status int
	header http.Header
	root   *html.Node
}

func ask(t *testing.T, h http.Handler, path string) page {
	t.Helper()
	return parse(t, h, httptest.NewRequest("GET", "http://127.0.0.1:8080"+path, nil))
}

// submit sends a form as a browser does.
func submit(t *testing.T, h http.Handler, path string, form url.Values) page {
	t.Helper()
	r := httptest.NewRequest("POST", "http://127.0.0.1:8080"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://127.0.0.1:8080")
	return parse(t, h, r)
}

func parse(t *testing.T, h http.Handler, r *http.Request) page {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	root, err := html.Parse(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return page{w.Code, w.Header(), root}
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

func class(name string) func(*html.Node) bool {
	return func(n *html.Node) bool { return slices.Contains(strings.Fields(attr(n, "class")), name) }
}

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

// all are pages of every kind, by what they are.
func all(t *testing.T, s *store) map[string]page {
	t.Helper()
	h := pages.New(s)
	list := map[string]page{
		"journey":  ask(t, h, "/start/to-"+s.clients[1].ID),
		"errors":   submit(t, h, "/start/to-"+s.clients[1].ID+"/"+s.clients[1].Steps[2].ID, url.Values{"day": {"<x-evil>"}, "text": {"<x-evil>"}, "pick": {"<x-evil>"}, "area": {"</textarea><x-evil>"}}),
		"finished": ask(t, h, "/start/to-"+s.clients[0].ID+"?sent="+s.clients[0].Steps[0].ID),
		"unknown":  ask(t, h, "/start/none"),
		"list":     ask(t, h, h.Dashboard()+"?q="+url.QueryEscape(`<x-evil>"'`)),
		"all":      ask(t, h, h.Dashboard()),
		"front":    ask(t, h, "/"),
	}
	for _, c := range s.clients {
		list["client "+c.ID] = ask(t, h, h.Dashboard()+"/clients/"+url.PathEscape(c.ID))
	}
	return list
}

func TestJourney(t *testing.T) {
	t.Parallel()
	h := pages.New(sample())
	p := ask(t, h, "/start/to-ann")
	steps := find(p.root, tag("li"))
	same(t, "steps", []string{
		"Your details Completed Born 1 May 1980",
		"Agreement Completed Lloyds 17 Amount 1234.50",
	}, texts(steps[:2]))
	if got := text(steps[3]); len(steps) != 4 || got != "Bank Later" {
		t.Errorf("%d steps, the last is %q", len(steps), got)
	}
	if got := text(find(p.root, class("joint"))[0]); got != "“Lloyds 17” is a joint claim with Bob." {
		t.Errorf("joint claim: %q", got)
	}
	if forms := find(p.root, tag("form")); len(forms) != 1 || !slices.Contains(ancestors(forms[0]), steps[2]) || attr(forms[0], "action") != "/start/to-ann/sign" {
		t.Errorf("%d forms, want one, in the first Open step", len(forms))
	}
	var inputs []string
	for _, n := range find(steps[2], tag("input", "textarea", "select")) {
		inputs = append(inputs, strings.TrimSpace(attr(n, "name")+" "+n.Data+" "+attr(n, "type")+" "+attr(n, "inputmode")))
	}
	same(t, "inputs", []string{"text input text", "area textarea", "pick select", "free input text", "box input checkbox", "day input date",
		"moment input datetime-local", "number input text decimal", "money input text decimal", "any input text"}, inputs)
	same(t, "options", []string{"Choose…", "Ms", "Mr"}, texts(find(steps[2], tag("option"))))

	if got := text(ask(t, h, "/start/to-bob").root); !strings.Contains(got, "joint claim with Ann Archer") || strings.Contains(got, "1980") {
		t.Errorf("the other claimant sees %s\nwant the joint claim, and nothing that is Ann's alone", got)
	}
	if got := text(ask(t, h, "/start/to-cid").root); !strings.Contains(got, "by you on") || !strings.Contains(got, "Nothing is waiting for you") {
		t.Errorf("a client who has completed everything sees %s", got)
	}
}

func ancestors(n *html.Node) []*html.Node { return slices.Collect(n.Ancestors()) }

func TestFormIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field, typed, want, wrong string
	}{
		{"text", "  Müller-<b> ", `"Müller-\u003cb\u003e"`, ""},
		{"area", "1 High St\r\nYork\r\n", `"1 High St\nYork"`, ""},
		{"text", "a\xff", "\"a\ufffd\"", ""},
		{"pick", "Mr", `"Mr"`, ""},
		{"pick", "Dr", "", "“Title” must be one of the options."},
		{"free", "Lloyds", `"Lloyds"`, ""},
		{"any", "17", `"17"`, ""},
		{"day", "1980-02-29", `"1980-02-29T00:00:00Z"`, ""},
		{"day", "1981-02-29", "", "“Born” must be a date of the calendar, such as 1980-05-01."},
		{"day", "01/02/1980", "", "“Born” must be a date of the calendar, such as 1980-05-01."},
		{"moment", "2026-03-01T09:30", `"2026-03-01T09:30:00Z"`, ""},
		{"moment", "2026-03-01T09:30:05", `"2026-03-01T09:30:05Z"`, ""},
		{"moment", "2026-03-01", "", "“Signed at” must be a date and a time, such as 2026-03-01T09:30."},
		{"number", "-007", `-7`, ""},
		{"number", "00.50", `0.50`, ""},
		{"money", "1234.50", `1234.50`, ""},
		{"money", "1,234.50", "", "“Amount” must be a number in digits and a point, such as 1234.50."},
		{"money", "1e3", "", "“Amount” must be a number in digits and a point, such as 1234.50."},
		{"money", strings.Repeat("9", 400), "", "“Amount” must be a number in digits and a point, such as 1234.50."},
		{"text", "   ", "", "Fill in at least one field."},
	} {
		s := sample()
		p := submit(t, pages.New(s), "/start/to-ann/sign", url.Values{c.field: {c.typed}})
		if c.wrong == "" {
			same(t, fmt.Sprintf("%s %q", c.field, c.typed), map[string]string{c.field: c.want, "box": "false"}, asTexts(s.done))
			if got := p.header.Get("Location"); p.status != http.StatusSeeOther || got != "/start/to-ann?sent=sign" {
				t.Errorf("%s %q: %d to %q, want 303 to the journey", c.field, c.typed, p.status, got)
			}
			continue
		}
		if p.status != http.StatusUnprocessableEntity || s.done != nil {
			t.Errorf("%s %q: %d, completed with %v", c.field, c.typed, p.status, s.done)
		}
		summary := find(p.root, class("summary"))[0]
		link := find(summary, tag("a"))[0]
		same(t, "summary", c.wrong, text(link))
		in := find(p.root, func(n *html.Node) bool { return "#"+attr(n, "id") == attr(link, "href") })
		if len(in) != 1 || attr(in[0], "name") != c.field {
			t.Errorf("%s %q: the summary leads to %s, want the field", c.field, c.typed, attr(link, "href"))
		} else if c.typed != "   " && attr(in[0], "aria-invalid") != "true" {
			t.Errorf("%s %q: the field is not marked", c.field, c.typed)
		} else if in[0].Data == "input" && attr(in[0], "value") != c.typed {
			t.Errorf("%s %q: the field has %q now", c.field, c.typed, attr(in[0], "value"))
		}
	}
}

func asTexts(values map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for name, v := range values {
		out[name] = string(v)
	}
	return out
}

// A form with nothing but boxes can be sent with none ticked, and one without fields as
// it is.
func TestFormsThatMayBeEmpty(t *testing.T) {
	t.Parallel()
	for name, attributes := range map[string][]pages.Attribute{"boxes": {every()[4]}, "none": nil} {
		s := sample()
		s.clients[1].Steps[2].Attributes = attributes
		if p := submit(t, pages.New(s), "/start/to-ann/sign", nil); p.status != http.StatusSeeOther || s.done == nil {
			t.Errorf("%s: %d", name, p.status)
		}
	}
}

func TestTickedBox(t *testing.T) {
	t.Parallel()
	s := sample()
	submit(t, pages.New(s), "/start/to-ann/sign", url.Values{"box": {"true"}})
	same(t, "values", map[string]string{"box": "true"}, asTexts(s.done))
}

// Only the current step can be sent; what the store says is shown.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	form := url.Values{"text": {"Archer"}}
	for _, c := range []struct {
		path  string
		fails error
		want  int
		text  string
	}{
		{"/start/to-ann/bank", nil, http.StatusSeeOther, ""},
		{"/start/to-ann/details", nil, http.StatusSeeOther, ""},
		{"/start/to-cid/own", nil, http.StatusSeeOther, ""},
		{"/start/to-nobody/sign", nil, http.StatusNotFound, "does not lead anywhere"},
		{"/start/to-ann/sign", pages.ErrNotCurrent, http.StatusSeeOther, ""},
		{"/start/to-ann/sign", fmt.Errorf("the disk is full"), http.StatusUnprocessableEntity, "the disk is full"},
	} {
		s := sample()
		s.fails = c.fails
		p := submit(t, pages.New(s), c.path, form)
		if p.status != c.want || !strings.Contains(text(p.root), c.text) || strings.Contains(p.header.Get("Location"), "sent") {
			t.Errorf("%s, %v: %d %s", c.path, c.fails, p.status, text(p.root))
		}
		if c.fails == nil && s.done != nil {
			t.Errorf("%s: completed with %v", c.path, s.done)
		}
	}
	if p := submit(t, pages.New(sample()), "/start/to-ann/sign", url.Values{"text": {strings.Repeat("x", 2<<20)}}); p.status != http.StatusBadRequest {
		t.Errorf("a form of 2 MiB: %d, want 400", p.status)
	}
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	h := pages.New(sample())
	p := ask(t, h, h.Dashboard())
	var figures []string
	for _, div := range find(find(p.root, class("figures"))[0], tag("div")) {
		figures = append(figures, text(div))
	}
	same(t, "figures", []string{"Clients 3", "Claims 1", "Activities 5", "With an open step 2", "Completed by clients 1"}, figures)
	for query, want := range map[string][]string{
		"":                  {"Bob", "Ann Archer ann@example.com", "cid@example.com"},
		"?q=LLOYDS+17":      {"Bob", "Ann Archer ann@example.com"},
		"?q=archer+1234.50": {"Ann Archer ann@example.com"},
		"?q=1+may":          {"Ann Archer ann@example.com"},
		"?q=nobody":         nil,
		"?page=99":          {"Bob", "Ann Archer ann@example.com", "cid@example.com"},
	} {
		p := ask(t, h, h.Dashboard()+query)
		same(t, query, want, texts(find(p.root, func(n *html.Node) bool { return attr(n, "scope") == "row" })))
	}
	cid := text(ask(t, h, h.Dashboard()+"/clients/cid").root)
	for _, want := range []string{"Identity Entered by the client cid@example.com, 3 Mar 2026, 12:00 UTC Passed Yes", "clientId cid", "caseId case-7", "By early"} {
		if !strings.Contains(cid, want) {
			t.Errorf("the page of a client lacks %q: %s", want, cid)
		}
	}
	bob := text(ask(t, h, h.Dashboard()+"/clients/bob").root)
	for _, want := range []string{"name.first Bob", "tags[1].y 2", "Claim: Lloyds 17", "Joint claim with Ann Archer", "Accepted back-filled", "Open waits for the client"} {
		if !strings.Contains(bob, want) {
			t.Errorf("the page of a claimant lacks %q: %s", want, bob)
		}
	}
}

// A long list comes in pages that keep the search.
func TestPagesOfTheList(t *testing.T) {
	t.Parallel()
	s := &store{}
	for i := range 120 {
		s.clients = append(s.clients, pages.Client{ID: fmt.Sprint("id-", i), Data: json.RawMessage(fmt.Sprintf(`{"name":"Client %03d"}`, i)), Created: noon(1)})
	}
	h := pages.New(s)
	path, seen := h.Dashboard()+"?q=client", []string{}
	for path != "" {
		p := ask(t, h, path)
		seen = append(seen, texts(find(p.root, func(n *html.Node) bool { return attr(n, "scope") == "row" }))...)
		path = ""
		for _, a := range find(p.root, func(n *html.Node) bool { return attr(n, "rel") == "next" }) {
			path = attr(a, "href")
			if !strings.Contains(path, "q=client") {
				t.Fatalf("the next page is %s", path)
			}
		}
	}
	if len(seen) != 120 || seen[0] != "Client 119" || seen[119] != "Client 000" {
		t.Errorf("%d clients, from %s to %s", len(seen), seen[0], seen[len(seen)-1])
	}
	if got := text(ask(t, h, "/nothing").root); strings.Contains(got, "Client 0") {
		t.Error("an unknown page shows clients")
	}
	if got := text(ask(t, pages.New(&store{}), "/").root); !strings.Contains(got, "stand-in for the claims intake service") {
		t.Errorf("the front page: %s", got)
	}
}

// C-10 of docs/security.md.
func TestC10_PagesTakeTextAsText(t *testing.T) {
	t.Parallel()
	const evil = `"'><x-evil onload=alert(1)></textarea></title><script>alert(1)</script>{{.}}`
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	who := pages.Person{ID: "cid", Data: json.RawMessage(`{"name":` + string(quoted) + `,` + string(quoted) + `:` + string(quoted) + `}`)}
	var attributes, values []pages.Attribute
	for _, a := range every() {
		a.Name, a.Options = evil, nil
		if a.ID == "pick" {
			a.Options = []string{evil}
		}
		attributes = append(attributes, a)
		a.Value = quoted
		values = append(values, a)
	}
	s := sample()
	s.fails = fmt.Errorf("%s", evil)
	for i := range s.clients {
		c := &s.clients[i]
		c.Data, c.By, c.CaseID, c.Version, c.Token = who.Data, evil, evil, evil, evil
		for j := range c.Claims {
			c.Claims[j].Name, c.Claims[j].Claimants = evil, []pages.Person{{ID: evil, Data: who.Data}}
		}
		for j := range c.Steps {
			step := &c.Steps[j]
			step.Template, step.Status, step.Attributes = evil, evil, values
			if step.Open {
				step.Attributes = attributes
			}
			if step.EnteredBy != nil {
				step.EnteredBy = &who
			}
		}
	}
	list := all(t, s)
	list["refused"] = submit(t, pages.New(s), "/start/to-ann/sign", url.Values{"text": {evil}})
	for name, p := range list {
		if bad := find(p.root, tag("x-evil", "script", "style", "iframe", "img", "object", "base")); len(bad) > 0 {
			t.Errorf("%s: <%s> is part of the page", name, bad[0].Data)
		}
		for _, n := range find(p.root, func(*html.Node) bool { return true }) {
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
			}
		}
		if shown := strings.Contains(text(p.root), "<script>alert(1)</script>"); !shown && !slices.Contains([]string{"unknown", "front", "list"}, name) {
			t.Errorf("%s: the text is not shown", name)
		}
	}
}

// C-10 of docs/security.md.
func TestC10_PagesHaveStrictHeaders(t *testing.T) {
	t.Parallel()
	for name, p := range all(t, sample()) {
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
		{"", "", http.StatusForbidden},
		{"null", "", http.StatusForbidden},
		{"https://127.0.0.1:8080", "", http.StatusForbidden},
		{"http://127.0.0.1:8081", "same-site", http.StatusForbidden},
		{"http://127.0.0.1:8080", "cross-site", http.StatusForbidden},
		{"http://evil.test", "", http.StatusForbidden},
		{"", "none", http.StatusForbidden},
	} {
		s := sample()
		r := httptest.NewRequest("POST", "http://127.0.0.1:8080/start/to-ann/sign", strings.NewReader("text=Archer"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if got := parse(t, pages.New(s), r).status; got != c.want || (s.done != nil) != (c.want == http.StatusSeeOther) {
			t.Errorf("Origin %q, Sec-Fetch-Site %q: %d, completed with %v", c.origin, c.site, got, s.done)
		}
	}
}

// C-10 of docs/security.md.
func TestC10_TheDashboardsAddressIsASecret(t *testing.T) {
	t.Parallel()
	s := sample()
	h := pages.New(s)
	if other := pages.New(s).Dashboard(); other == h.Dashboard() || len(other) != len("/dashboard/")+26 {
		t.Errorf("two starts have the addresses %s and %s", other, h.Dashboard())
	}
	for _, path := range []string{"/dashboard", "/dashboard/", "/dashboard/x", strings.ToLower(h.Dashboard()), h.Dashboard() + "/clients", "/dashboard/x/clients/ann"} {
		if p := ask(t, h, path); p.status != http.StatusNotFound || strings.Contains(text(p.root), "Archer") {
			t.Errorf("%s: %d %s", path, p.status, text(p.root))
		}
	}
	for name, p := range all(t, s) {
		if strings.HasPrefix(name, "client") || name == "list" || name == "all" {
			continue
		}
		for _, n := range find(p.root, tag("a", "form")) {
			if strings.Contains(attr(n, "href")+attr(n, "action"), "/dashboard/") {
				t.Errorf("%s leads to the dashboard", name)
			}
		}
	}
}

// What screen readers and keyboards need, on every page.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	titles := map[string]string{}
	for name, p := range all(t, sample()) {
		if n := find(p.root, tag("html"))[0]; attr(n, "lang") != "en" {
			t.Errorf("%s: no language", name)
		}
		titles[name] = text(find(p.root, tag("title"))[0])
		if len(find(p.root, tag("main"))) != 1 || len(find(p.root, tag("h1"))) != 1 {
			t.Errorf("%s: want one main and one h1", name)
		}
		level, ids := 0, map[string]*html.Node{}
		for _, n := range find(p.root, func(*html.Node) bool { return true }) {
			if id := attr(n, "id"); id != "" {
				if ids[id] != nil {
					t.Errorf("%s: the id %s is used twice", name, id)
				}
				ids[id] = n
			}
			if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
				if next := int(n.Data[1] - '0'); next > level+1 {
					t.Errorf("%s: h%d “%s” follows h%d", name, next, text(n), level)
				} else {
					level = next
				}
			}
		}
		labels := map[string]bool{}
		for _, n := range find(p.root, tag("label")) {
			labels[attr(n, "for")] = text(n) != ""
		}
		for _, n := range find(p.root, func(*html.Node) bool { return true }) {
			if tag("input", "select", "textarea")(n) && !labels[attr(n, "id")] {
				t.Errorf("%s: <%s name=%s> has no label", name, n.Data, attr(n, "name"))
			}
			refs := strings.Fields(attr(n, "aria-labelledby") + " " + attr(n, "aria-describedby") + " " + attr(n, "for"))
			if fragment, ok := strings.CutPrefix(attr(n, "href"), "#"); ok {
				refs = append(refs, fragment)
			}
			for _, ref := range refs {
				if ids[ref] == nil {
					t.Errorf("%s: <%s> refers to %s, which is not there", name, n.Data, ref)
				}
			}
			if tag("a", "button")(n) && text(n) == "" {
				t.Errorf("%s: a <%s> without text", name, n.Data)
			}
		}
	}
	if !strings.HasPrefix(titles["errors"], "Error: ") || titles["all"] == titles["client ann"] {
		t.Errorf("titles: %v", titles)
	}
}
