package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestPlaces reads ids and urls from headers, plain texts and bare strings, and
// relative urls, as the environment says where they are.
func TestPlaces(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	v1 := "name: a\napi: v1\n" + clientPart
	for _, c := range []struct {
		name, mapping, environment string
		wire                       apitest.Wire
	}{
		{"headers", stepThree, `wire:
  contact_id: last-segment:header:Location
  claim_id: header:X-Claim-Id
  activity_id: last-segment:header:Location
  redirect_url: header:Location
  lookup_contact_id: /contactId`,
			apitest.Wire{ContactID: "header:Location", ClaimID: "header:X-Claim-Id", ActivityID: "header:Location", RedirectURL: "header:Location", LookupID: "/contactId"}},
		{"texts", stepThree, "wire: {contact_id: text, claim_id: text, activity_id: text, redirect_url: text}",
			apitest.Wire{ContactID: "text", ClaimID: "text", ActivityID: "text", RedirectURL: "text"}},
		{"bare strings", stepThree, `wire: {contact_id: "", claim_id: "", redirect_url: ""}`,
			apitest.Wire{ContactID: "string", ClaimID: "string", RedirectURL: "string"}},
		{"bare look-ups", stepThree, `wire: {lookup_contact_id: ""}`,
			apitest.Wire{ContactID: "/contactId", ClaimID: "/claimId", RedirectURL: "/redirectUrl", LookupID: "string"}},
		{"relative urls", stepThree, "",
			apitest.Wire{ContactID: "/contactId", ClaimID: "/claimId", RedirectURL: "/redirectUrl", Origin: "set below"}},
		{"version 1", v1, "wire: {client_id: header:X-Client, redirect_url: header:Location, lookup_client_id: text}",
			apitest.Wire{ClientID: "header:X-Client", RedirectURL: "header:Location", LookupID: "text"}},
		{"version 1, relative url", v1, "wire: {redirect_url: header:Location}",
			apitest.Wire{ClientID: "/clientId", RedirectURL: "header:Location", Origin: "set below"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.mapping, leads(3))
			s.service.Wire = c.wire
			s.service.Wire.DataType = "/dataType"
			if c.wire.Origin != "" {
				s.service.Wire.Origin = s.url
			}
			known := s.service.AddClient("c3@example.com", "c3@example.com", "")
			s.environment(c.environment)
			s.mustRun(0)
			s.checkIDs("c1@example.com")
			s.checkIDs("c2@example.com")
			if got := s.results()[2]["contactId"] + s.results()[2]["clientId"]; got != known {
				t.Errorf("the known client's id is %q, want %q", got, known)
			}
			s.checkPromise()
			if posts := s.mustRun(0).posts(); len(posts) > 0 {
				t.Errorf("the second run created %v", posts)
			}
		})
	}
}

// TestPlacesThatAreCorrected has the environment say first that ids and urls are
// elsewhere. Corrected, they are read from the answers that were kept, headers
// and all, and nothing is created again.
func TestPlacesThatAreCorrected(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		wire        apitest.Wire
		environment string
	}{
		"headers": {apitest.Wire{ContactID: "header:Location", ClaimID: "header:X-Claim", RedirectURL: "header:Location", LookupID: "/contactId"},
			"wire: {contact_id: 'last-segment:header:Location', claim_id: 'header:X-Claim', redirect_url: 'header:Location', lookup_contact_id: /contactId}"},
		"texts": {apitest.Wire{ContactID: "text", ClaimID: "text", RedirectURL: "text", LookupID: "/contactId"},
			"wire: {contact_id: text, claim_id: text, redirect_url: text, lookup_contact_id: /contactId}"},
		"relative urls": {apitest.Wire{ContactID: "/id", ClaimID: "/id", RedirectURL: "/url", LookupID: "/contactId", Origin: "set below"},
			"wire: {contact_id: /id, claim_id: /id, redirect_url: /url, lookup_contact_id: /contactId}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(1))
			s.service.Wire = c.wire
			s.service.Wire.DataType = "/dataType"
			if c.wire.Origin != "" {
				s.service.Wire.Origin = s.url
			}
			for range 3 { // each wrong place is found out by a run of its own
				s.run()
			}
			s.environment(c.environment)
			s.mustRun(0)
			s.checkIDs("c1@example.com")
			s.checkPromise()
		})
	}
}

// TestNobodyByContent takes the ways in which a service may say in an answer of
// 200 that it knows nobody.
func TestNobodyByContent(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		nobody            apitest.Reply
		notFound, pointer string
	}{
		"null id":       {apitest.JSON(200, `{"contactId":null}`), "{pointer: /contactId, equals: null}", "/contactId"},
		"no items":      {apitest.JSON(200, `{"items":[]}`), "{pointer: /items, empty: true}", "/items/0/id"},
		"found false":   {apitest.JSON(200, `{"found":false}`), "{pointer: /found, equals: false}", "/contactId"},
		"one of a list": {apitest.JSON(200, `{"found":false}`), "[{status: [404]}, {pointer: /found, equals: false}]", "/contactId"},
		"by a status":   {apitest.JSON(404, `{"code":"NOBODY"}`), "[{status: [404], pointer: /code, equals: NOBODY}]", "/contactId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, known := newKnownScene(t, "reuse", "")
			s.service.Nobody = c.nobody
			s.service.Wire.LookupID = c.pointer
			s.environment("wire: {lookup_contact_id: " + c.pointer + "}")
			if p := s.run(); strings.Contains(name, "status") == (p.code != 0) {
				t.Errorf("without a rule: exit code %d", p.code)
			}
			s.environment("wire: {lookup_contact_id: " + c.pointer + "}\nnot_found: " + c.notFound)
			s.mustRun(0)
			if made := s.service.Created(); len(made["client A-1"]) != 1 || len(made["client A-2"]) != 0 {
				t.Errorf("created %v", made)
			}
			if got := s.results()[1]["contactId"]; got != known {
				t.Errorf("contactId %q, want %q", got, known)
			}
		})
	}
}

// TestLinkWithoutABody asks for magic links without a body where the environment
// says so, in a run and by hand.
func TestLinkWithoutABody(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.environment("link_body: none")
	s.mustRun(2) // it belongs under wire
	s.environment("wire: {link_body: none}")
	calls := s.mustRun(0).calls
	if code, out := s.exec("link", "--environments", s.path("environments.yaml"), "c1@example.com"); code != 0 {
		t.Fatalf("link: exit code %d\n%s", code, out)
	}
	more, _ := s.service.Since(s.seen)
	links := 0
	for _, c := range append(calls, more...) {
		if c.Kind == "link" {
			links++
			if c.Body != "" || c.Header.Get("Content-Type") != "" {
				t.Errorf("the body is %q, of the type %q", c.Body, c.Header.Get("Content-Type"))
			}
		}
	}
	if links != 3 {
		t.Errorf("%d links were asked for, want 3", links)
	}
}

// TestArraysInPayloads sends arrays: a part of a field's name that is a number is
// a place in one, and an element of which every cell is empty is left out.
func TestArraysInPayloads(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, `
name: a
api: v2
client:
  key: E-mail
  lookup: {email: E-mail}
  fields:
    emails.0.address: {column: E-mail, type: Email}
    emails.0.primary: {value: "true", type: Checkbox}
    names.1: Address
    names.0: First name
    phones.0.number: DOB
    phones.1.number: {column: Mobile, type: Phone, region: GB}
    phones.1.uses.0: {value: mobile}
`, leads(1))
	s.service.KeyField, s.service.EmailField = "names.0", "emails.0.address"
	rows := leads(1)
	rows[0][3] = nil
	s.sheet(rows)
	first := s.mustRun(0)
	const want = `{"emails":[{"address":"c1@example.com","primary":true}],"names":["Ann1","1 High Street"],"phones":[{"number":"+447911123001","uses":["mobile"]}]}`
	for _, c := range first.calls {
		if c.Kind == "client" {
			if diff := cmp.Diff(want, c.Body); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
		}
	}
	if second := s.mustRun(0); len(second.posts()) > 0 || second.summary.Rows.Unchanged != 1 {
		t.Errorf("the second run created %v, rows %+v", second.posts(), second.summary.Rows)
	}
}
