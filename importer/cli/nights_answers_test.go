package cli_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

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
	{name: "a timezone is missing", long: true, mapping: with(stepThree, "sheet: {timezone: Europe/London}\n", ""), nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-2; Amount=many"}, code: 1, status: "invalid", cells: []string{
			"1 What to do = Name the timezone of the sheet in the mapping (sheet: {timezone: …}) and run again.", "2 What to do = Correct the cell and run again."}},
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

	// Answers that leave open whether anything was created.
	ambiguousStep("client K", "0", "uncertain, uncertain"), ambiguousStep("claim K/Loan A", "01245", "uncertain, not started"),
	ambiguousStep("activity K/Loan A Agreement details", "012345", "uncertain, not started"), ambiguousStep("activity K Sign your claim", "0123456", "uncertain, uncertain"),
	ambiguousStep("link K", "01234567", "uncertain, uncertain"),

	// Redirects. A service that has done the work may answer 302 or 303 too.
	redirected(302, "client c2@example.com"), redirected(307, "claim c2@example.com/Loan A-2"), redirected(303, "claim c2@example.com/Loan A-2"),

	// A service that asks for time.
	{name: "a refusal, and the client is created meanwhile", long: true, mapping: byAgreement("reuse", ""), orders: true, workers: true, nights: []sheetNight{
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
	done := status == 302 || status == 303
	fault, own := apitest.Answer(reply), "not started"
	if done {
		fault, own = apitest.CreateThen(reply), "uncertain"
	}
	return nightCase{name: fmt.Sprint("redirected: ", status, " ", step), long: status != 302, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: faults{step: {fault}}, flags: "--concurrency 1", code: 3, posts: "?", status: "done, " + own + ", not started, not started",
			says: []string{fmt.Sprint("HTTP ", status), "check base_url"}, also: func(s *scene, p played) {
				if last := p.calls[len(p.calls)-1]; last.Step != step {
					s.t.Errorf("%s %s was sent after the redirect", last.Method, last.Path)
				}
				s.checkPromise()
			}},
		{code: map[bool]int{true: 4}[done && !strings.HasPrefix(step, "client ")], posts: "?", also: func(s *scene, p played) {
			if slices.Contains(p.steps(), step) == done {
				s.t.Errorf("sent again: %q", p.steps())
			}
		}},
	}}
}

// ambiguous are the ways in which a creating call may end that leave open whether anything was created. Those that are
// marked carry an answer that only lacks an id, which an activity need not have.
var ambiguous = []struct {
	name   string
	fault  apitest.Fault
	onlyID bool
}{
	{"created, then 500", apitest.CreateThen(apitest.JSON(500, `{"message":"oops"}`)), false},
	{"500, not created", apitest.Answer(apitest.JSON(500, `{"message":"oops"}`)), false},
	{"created, then 503", apitest.CreateThen(apitest.JSON(503, `{}`)), false},
	{"created, then closed", apitest.CreateThenDrop(), false},
	{"closed, not created", apitest.DropBefore(), false},
	{"body cut", apitest.CreateThenCut(), false},
	{"2xx without an id", apitest.CreateThen(apitest.JSON(201, `{"status":"ok"}`)), true},
	{"2xx with an empty id", apitest.CreateThen(apitest.JSON(201, `{"contactId":"","claimId":null,"redirectUrl":""}`)), true},
	{"HTML 200", apitest.CreateThen(apitest.HTML(200)), false},
	{"408", apitest.CreateThen(apitest.JSON(408, `{}`)), false},
}

// ambiguousStep is a case in which a step of every client but the first and the last ends in one of the ambiguous ways:
// the step is uncertain and never sent again, unless it is a client's and a look-up finds the client; what depends on
// it waits, other claims of the client and all other clients go on. sent are the numbers of the steps that are sent.
func ambiguousStep(step, sent, status string) nightCase {
	// The clients have the claims A and B; K stands for the client's key.
	all := []string{"client K", "activity K Your details", "claim K/Loan A", "activity K/Loan A Agreement details",
		"claim K/Loan B", "activity K/Loan B Agreement details", "activity K Sign your claim", "link K"}
	n := sheetNight{faults: faults{}, code: 4, posts: "?", flags: "--max-failures 100%"} // ten in doubt may come in a row
	want, statuses := map[string]string{}, []string{}
	add := func(client int, steps, status string) {
		n.rows, statuses = append(n.rows, fmt.Sprint(client, " A"), fmt.Sprint(client, " B")), append(statuses, status)
		key := fmt.Sprintf("c%d@example.com", client)
		for _, number := range steps {
			want[key] += strings.Replace(all[number-'0'], "K", key, 1) + "\n"
		}
	}
	add(1, "01234567", "done, done")
	for i, way := range ambiguous {
		switch {
		case way.onlyID && strings.HasPrefix(step, "activity "):
			continue
		case step == "client K" && !strings.Contains(way.name, "not created"): // a look-up finds the client
			add(i+2, "01234567", "done, done")
		default:
			add(i+2, sent, status)
		}
		n.faults[strings.Replace(step, "K", fmt.Sprintf("c%d@example.com", i+2), 1)] = []apitest.Fault{way.fault}
	}
	add(99, "01234567", "done, done")
	n.status = strings.Join(statuses, ", ")
	n.also = func(s *scene, p played) {
		got := map[string]string{}
		for _, c := range p.calls {
			if c.Method != "GET" {
				got[c.Client] += c.Step + "\n"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			s.t.Errorf("steps (-want +got):\n%s", diff)
		}
	}
	return nightCase{name: "ambiguous: " + step, long: !strings.HasPrefix(step, "cl"), mapping: stepThree, promise: true, nights: []sheetNight{n, {code: 4}}}
}
