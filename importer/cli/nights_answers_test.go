package cli_test

import "claimsheet/apiclient/apitest"

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
	{name: "a timezone is missing", long: true, mapping: with(stepThree, "sheet: {timezone: Europe/London}\n", ""), nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-2; Amount=many"}, code: 1, status: "invalid", cells: []string{
			"1 Error ~ timezone", "2 What to do = Correct the cell, or the mapping where Error says so, and run again."}},
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

	// Redirects: the run sends nothing more. A service that has done the work may answer 303 too.
	{name: "a redirect", mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: faults{"claim c2@example.com/Loan A-2": {apitest.CreateThen(apitest.Reply{Status: 303, Header: elsewhere})}}, flags: "--concurrency 1", code: 3,
			posts: "client 2, claim 2, activity 4, link 1", status: "done, uncertain, not started, not started", says: []string{"HTTP 303", "check base_url"}},
		{faults: faults{"claim c3@example.com/Loan A-3": {apitest.Answer(apitest.Reply{Status: 307, Header: elsewhere})}}, flags: "--concurrency 1", code: 3,
			posts: "client 1, claim 1, activity 1", status: "unchanged, uncertain, not started, not started", says: []string{"HTTP 307", "check base_url"}},
		{code: 4, posts: "client 1, claim 2, activity 5, link 2", status: "unchanged, uncertain, done, done"},
	}},

	// A service that asks for time.
	{name: "a refusal, and the client is created meanwhile", long: true, mapping: byAgreement("reuse", ""), orders: true, nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{"client A-2": {apitest.Busy(429, 0)}}, appears: "c2@example.com", posts: "client 2, link 2", status: "done", calls: []string{"2×/by-email/c2%40"}},
		quiet,
	}},
	{name: "busy for too long: a look-up", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: faults{"every lookup": {apitest.Busy(429, 3600)}}, code: 3, status: "not started", says: []string{"asks to wait for 1h0m0s; run again then"}},
		{posts: stored(4)},
	}},
	{name: "busy for too long: a claim", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: faults{"every claim": {apitest.Busy(503, 3600)}}, flags: "--concurrency 1", code: 3, posts: "?",
			status: "uncertain, not started, not started, not started", says: []string{"asks to wait for 1h0m0s; run again then"}},
		{code: 4, posts: stored(3)},
	}},

	// N-8 of docs/security.md: with credentials that are not taken, each worker sends one request at most, and the run ends.
	{name: "N-8: no credentials", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-60"}, faults: faults{`every lookup not ^(c1@|nobody\.)`: {apitest.Answer(apitest.JSON(401, `{}`))}}, flags: "--concurrency 16 --accept new-ledger",
			code: 3, posts: stored(1), says: []string{"HTTP 401"}, also: func(s *scene, p played) {
				if refused := arrived(p).Lookup - 2; refused < 1 || refused > 16 {
					s.t.Errorf("%d requests were refused with a 401, want 1 to 16", refused)
				}
			}},
	}},

	// C-2 of docs/security.md: a cell's text is sent as it is, and printed nowhere. What a file's text means is shown at the doors of sheet and convert.
	{name: "C-2: texts that other programs obey", mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1 A-1; Address={{.Env}} {E-mail}", "2 A-2; Address=${HOME} $(s3cr3t) `s3cr3t`", `3 A-3; Address="},{"x":"`, "4 A-4; Address==1+1", "5 A-5; Address=s3cr3t%s%n%d\u202e",
			"6 A-6; Address=s3cr3t_x001B_[31m"}, flags: "--max-failures 100%", code: 1, posts: stored(5), status: "done, done, done, done, done, invalid", says: []string{"!s3cr3t", "!\x1b"},
			calls: []string{`"{{.Env}} {E-mail}"`, "\"${HOME} $(s3cr3t) `s3cr3t`\"", `"\"},{\"x\":\""`, `"=1+1"`, "\"s3cr3t%s%n%d\u202e\""}},
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

var elsewhere = map[string]string{"Location": "/elsewhere"}
