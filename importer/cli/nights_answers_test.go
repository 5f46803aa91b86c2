package cli_test

import (
	"fmt"
	"slices"

	"claimsheet/apiclient/apitest"
)

// answerCases are the cases of TestNights in which the service refuses, redirects, is busy, or gives answers that say
// too little.
var answerCases = []nightCase{
	// Answers that lack an id or a url.
	{name: "an answer without an id, until the pointer is corrected", mapping: stepThree, promise: true,
		wire: func(wire *apitest.Wire) { wire.ContactID = "/data/contactId" }, env: "wire: {lookup_contact_id: /contactId}", nights: []sheetNight{
			{rows: []string{"1 A-1"}, faults: lagging, code: 4, posts: "client 1"},
			{env: "wire: {contact_id: /data/contactId, lookup_contact_id: /contactId}", faults: lagging, dry: true, posts: "claim 1, activity 3, link 1",
				status: "done", cells: []string{"1 contactId = <client c1@example.com>"}},
		}},

	// Refusals.
	{name: "refused claims", mapping: stepThree, promise: true, env: "errors:\n  - {status: 422, pointer: /code, matches: ^POSTCODE$, means: failed, hint: Ask the client for the postcode.}",
		nights: []sheetNight{
			{rows: []string{"1-5"}, faults: faults{"claim c2@example.com/Loan A-2": {refusal(400)}, "claim c3@example.com/Loan A-3": {refusal(422)}, "claim c4@example.com/Loan A-4": {refusal(413)}},
				code: 1, posts: "?", status: "done, failed, failed, failed, done", errors: []string{"", "…it is unknown", "…it is unknown", "…it is unknown", ""},
				cells: []string{"3 What to do = Ask the client for the postcode."},
				says:  []string{"3×): failed at the ", "Results!3 (source row 3): failed at the ", "HTTP 422 Unprocessable Entity", "!it is unknown"}},
			{posts: "claim 3, activity 6, link 3", status: "unchanged, done, done, done, unchanged"},
			quiet,
		}},
	{name: "a question is refused", long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"every templates": {apitest.Answer(apitest.Reply{Status: 301})}}, code: 3,
			says: []string{"reading the activity templates got HTTP 301 Moved Permanently [no-service]\n  hint: the service redirects: check base_url\n"}},
		{faults: faults{"every lookup": {apitest.Answer(apitest.JSON(401, `{}`))}}, flags: "--dry-run", code: 3,
			says: []string{"the look-up by e-mail got HTTP 401 Unauthorized; check the environment's auth [no-service]\n"}},
	}},
	{name: "--no-lookup", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, flags: "--dry-run --no-lookup", calls: []string{"1×GET", "GET /funnel/v2/activity-templates\n"}, says: []string{`"client":3,`, `"planned":3}`}},
	}},

	// Redirects. A service that has done the work may answer 302 or 303 too.
	redirected(307, "claim c2@example.com/Loan A-2"), redirected(303, "claim c2@example.com/Loan A-2"),

	// A service that asks for time.
	{name: "busy for too long: a claim", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: faults{"every claim": {apitest.Busy(503, 3600)}}, flags: "--concurrency 1", code: 3, posts: "?",
			status: "uncertain, not started, not started, not started", says: []string{"asks to wait for 1h0m0s; run again then"}},
		{code: 4, posts: stored(3)},
	}},

	// Where answers have ids and urls.
	{name: "numbers", mapping: stepThree, promise: true, wire: func(wire *apitest.Wire) {
		*wire = apitest.Wire{ContactID: "/data/person/id", ClaimID: "/data/claim/id", ActivityID: "/data/activity/id", RedirectURL: "/links/redirect/0",
			LookupID: "/found/0/id", DataType: "/meta/type", Numeric: true}
	}, env: "wire: {contact_id: /data/person/id, claim_id: /data/claim/id, activity_id: /data/activity/id, redirect_url: /links/redirect/0, " +
		"lookup_contact_id: /found/0/id, data_type: /meta/type}",
		nights: []sheetNight{{knows: []string{"c2@example.com c2@example.com"}, rows: []string{"1-2", "1 A-9"}, posts: "?", status: "done",
			cells: []string{"2 contactId = <client c2@example.com>", "step c1@example.com activity/Your details@client ~ done <activity c1@example.com Your details>"}}}},
}

// refusal is an answer with a code and the service's words.
func refusal(status int) apitest.Fault {
	return apitest.Answer(apitest.JSON(status, `{"code":"POSTCODE","message":"it is unknown"}`))
}

// redirected is a case in which a request of the second client is redirected: the run ends, sends nothing more, and is
// refused no further. A step that the service may have carried out is uncertain and is never sent again; the next run
// sends any other.
func redirected(status int, step string) nightCase {
	reply := apitest.Reply{Status: status, Header: map[string]string{"Location": "/elsewhere"}}
	done := status == 303
	fault, own := apitest.Answer(reply), "not started"
	if done {
		fault, own = apitest.CreateThen(reply), "uncertain"
	}
	return nightCase{name: fmt.Sprint("redirected: ", status, " ", step), long: status == 303, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: faults{step: {fault}}, flags: "--concurrency 1", code: 3, posts: "?", status: "done, " + own + ", not started, not started",
			says: []string{fmt.Sprint("HTTP ", status), "check base_url"}, also: func(s *scene, p played) {
				if last := p.calls[len(p.calls)-1]; last.Step != step {
					s.t.Errorf("%s %s was sent after the redirect", last.Method, last.Path)
				}
				s.checkPromise()
			}},
		{code: map[bool]int{true: 4}[done], posts: "?", also: func(s *scene, p played) {
			if slices.Contains(p.steps(), step) == done {
				s.t.Errorf("sent again: %q", p.steps())
			}
		}},
	}}
}
