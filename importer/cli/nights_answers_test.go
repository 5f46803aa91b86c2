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
	{name: "an answer without an id, with a url", long: true, mapping: byEmailV1, wire: elsewhereV1, env: "wire: {client_id: /clientId}", promise: true,
		nights: []sheetNight{
			{rows: []string{"1-2"}, posts: "client 2", status: "done", cells: []string{"1 redirectUrl = <url client c1@example.com>"}},
			{cells: []string{"1 redirectUrl = <url client c1@example.com>", "2 redirectUrl = <url client c2@example.com>", "1 What to do ="}},
		}},
	{name: "an answer without an id, with a url elsewhere", long: true, mapping: byEmailV1, wire: elsewhereV1,
		env: "wire: {client_id: /clientId, redirect_url: /url}", promise: true, nights: []sheetNight{
			{rows: []string{"1-2"}, code: 3, posts: "client 1", status: "done, not started", cells: []string{"1 redirectUrl =",
				"1 What to do = The service's answer held no redirect url where wire.redirect_url points; correct that and run again."}},
			{env: "wire: {client_id: /clientId}", posts: "client 1",
				cells: []string{"1 redirectUrl = <url client c1@example.com>", "2 redirectUrl = <url client c2@example.com>", "1 What to do ="}},
		}},
	{name: "one url and no ids", long: true, mapping: byEmailV1, promise: true, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"every client": {loginPage}}, flags: "--concurrency 1", code: 3, posts: "client 3",
			status: "done, uncertain, uncertain"},
		{cells: []string{"1 redirectUrl ~ /login", "2 redirectUrl =", "3 redirectUrl ="}},
	}},
	hinted("by a rule", "claim c1@example.com/Loan A-1", failed500, 4, "Call the desk.", "Look in the service whether the claim exists."),
	hinted("a promise", "activity c1@example.com Your details", apitest.Answer(apitest.JSON(202, `{}`)), 4,
		"if the service's operator confirms that it is always done", "Look in the service"),

	// Refusals.
	refusedSteps("claim N/Loan A-#"), refusedSteps("link N"), refusedSteps("client N"), refusedSteps("activity N/Loan A-# Agreement details"),
	{name: "a timezone is missing", long: true, mapping: with(stepThree, "sheet: {timezone: Europe/London}\n", ""), nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-2; Amount=many"}, code: 1, status: "invalid", cells: []string{
			"1 What to do = Name the timezone of the sheet in the mapping (sheet: {timezone: …}) and run again.", "2 What to do = Correct the cell and run again."}},
	}},
	unauthorised("templates", ""), unauthorised("lookup", ""), unauthorised("client", "client 1"), unauthorised("claim", "client 1, claim 1, activity 1"),
	{name: "a question is refused", long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"every templates": {apitest.Answer(apitest.Reply{Status: 301})}}, code: 3,
			says: []string{"reading the activity templates got HTTP 301 Moved Permanently [no-service]\n  hint: the service redirects: check base_url\n"}},
		{faults: faults{"every templates": {apitest.Answer(apitest.JSON(200, `"`+strings.Repeat("x", 64<<20)+`"`))}}, code: 3,
			says: []string{"reading the activity templates: HTTP 200 OK, but the answer is larger than 64 MiB [no-service]\n"}},
		{faults: faults{"every lookup": {apitest.Answer(apitest.JSON(401, `{}`))}}, flags: "--dry-run", code: 3,
			says: []string{"the look-up by e-mail got HTTP 401 Unauthorized; check the environment's auth [no-service]\n"}},
	}},
	{name: "--no-lookup", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, flags: "--dry-run --no-lookup", calls: []string{"1×GET", "GET /funnel/v2/activity-templates\n"}, says: []string{`"client":3,`, `"planned":3}`}},
		{flags: "--no-lookup", code: 2},
	}},

	// Answers that leave open whether anything was created.
	ambiguousStep("client K", "0", "uncertain, uncertain"), ambiguousStep("claim K/Loan A", "01245", "uncertain, not started"),
	ambiguousStep("activity K/Loan A Agreement details", "012345", "uncertain, not started"), ambiguousStep("activity K Sign your claim", "0123456", "uncertain, uncertain"),
	ambiguousStep("link K", "01234567", "uncertain, uncertain"),

	// Redirects. A service that has done the work may answer 302 or 303 too.
	redirected(301, "client c2@example.com"), redirected(302, "client c2@example.com"), redirected(307, "claim c2@example.com/Loan A-2"),
	redirected(303, "claim c2@example.com/Loan A-2"), redirected(308, "activity c2@example.com Your details"),
	redirected(302, "activity c2@example.com Your details"), redirected(301, "link c2@example.com"), redirected(303, "link c2@example.com"),
	redirectedQuestion(303, "templates"), redirectedQuestion(308, "templates"), redirectedQuestion(302, "lookup c1@example.com"), redirectedQuestion(307, "lookup c1@example.com"),
	{name: "a redirect by a rule", mapping: stepThree, env: "errors: [{status: 303, means: failed, hint: Call the desk.}]", nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"claim c2@example.com/Loan A-2": {apitest.Answer(apitest.Reply{Status: 303})}}, code: 1, posts: "?",
			status: "done, failed, done"},
	}},

	// A service that asks for time.
	{name: "busy once", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"lookup": {apitest.Busy(429, 0)}, "templates": {apitest.Busy(429, 0)}, "claim": {apitest.Busy(429, 0)}},
			posts: "client 1, claim 2, activity 3, link 1", status: "done"},
	}},
	{name: "a refusal, and the client is created meanwhile", long: true, mapping: byAgreement("reuse", ""), orders: true, workers: true, nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{"client A-2": {apitest.Busy(429, 0)}}, appears: "c2@example.com", posts: "client 2, link 2", status: "done", calls: []string{"2×/by-email/c2%40"}},
		quiet,
	}},
	tooLong("templates", 429), tooLong("lookup", 429), tooLong("claim", 429), tooLong("templates", 503), tooLong("lookup", 503), tooLong("claim", 503),

	// Where answers have ids and urls.
	{name: "numbers", mapping: stepThree, promise: true, wire: func(wire *apitest.Wire) {
		*wire = apitest.Wire{ContactID: "/data/person/id", ClaimID: "/data/claim/id", ActivityID: "/data/activity/id", RedirectURL: "/links/redirect/0",
			LookupID: "/found/0/id", DataType: "/meta/type", Numeric: true}
	}, env: "wire: {contact_id: /data/person/id, claim_id: /data/claim/id, activity_id: /data/activity/id, redirect_url: /links/redirect/0, " +
		"lookup_contact_id: /found/0/id, data_type: /meta/type}",
		nights: []sheetNight{{knows: []string{"c2@example.com c2@example.com"}, rows: []string{"1-2", "1 A-9"}, posts: "?", status: "done",
			cells: []string{"2 contactId = <client c2@example.com>", "step c1@example.com activity/Your details@client ~ done <activity c1@example.com Your details>"}}}},
	{name: "headers, until the places are corrected", long: true, mapping: stepThree, promise: true, env: "wire: {lookup_contact_id: /contactId}",
		wire: func(wire *apitest.Wire) {
			wire.ContactID, wire.ClaimID, wire.RedirectURL, wire.LookupID = "header:Location", "header:X-Claim", "header:Location", "/contactId"
		}, nights: []sheetNight{
			{rows: []string{"1 A-1"}, code: 4, posts: "?"}, {code: 4}, // a look-up finds the client, and each other wrong place is found out by a step
			{env: "wire: {contact_id: 'header:Location', claim_id: 'header:X-Claim', redirect_url: 'header:Location', lookup_contact_id: /contactId}",
				posts: "?", status: "done", cells: []string{"1 contactId = <client c1@example.com>", "1 redirectUrl = <link c1@example.com>"}},
		}},
	{name: "a link without a body", long: true, mapping: stepThree, nights: []sheetNight{
		{env: "link_body: none", rows: []string{"1-2"}, code: 2}, // it belongs under wire
		{env: "wire: {link_body: none}", posts: "?", calls: []string{"2×/magic-link\n"}},
	}},
}

var (
	loginPage = apitest.CreateThen(apitest.JSON(201, `{"redirectUrl":"https://portal.example.com/login"}`))
)

// elsewhereV1 answers the creation of a client with its id in another place.
func elsewhereV1(wire *apitest.Wire) { wire.ClientID, wire.LookupID = "/data/clientId", "/clientId" }

// hinted is a case with an answer of which a rule of the environment, or what is known of such an answer, says what to
// do. That stands before the usual advice, and settle shows it on a later day.
func hinted(how, step string, f apitest.Fault, code int, hint, usual string) nightCase {
	return nightCase{name: "hint: " + how, long: true, mapping: stepThree, env: "errors: [{status: 500, means: uncertain, hint: Call the desk.}]", nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{step: {f}}, code: code, posts: "?", cells: []string{"1 What to do ~ " + hint, "1 What to do ~ " + usual}},
		{code: 4, cells: []string{"1 Error ~ " + hint}},
		{idle: true, do: []string{"settle → 4 " + hint}},
	}}
}

// stepOf is a step of the client with a number, which N and # in its name stand for.
func stepOf(step string, n int) string {
	return strings.NewReplacer("N", fmt.Sprintf("c%d@example.com", n), "#", fmt.Sprint(n)).Replace(step)
}

// refusedSteps is a case in which a step of four clients is refused, each with another status: it has failed, the
// service's words stand beside the row, and the next run sends it, and what waited for it.
func refusedSteps(step string) nightCase {
	statuses := []int{400, 422, 409, 413}
	if step == "client N" {
		statuses[2] = 400 // a conflict over a client is settled by a look-up
	}
	first := sheetNight{rows: []string{"1-6"}, faults: faults{}, code: 1, posts: "?", status: "done, failed, failed, failed, failed, done",
		says: []string{"4×): failed at the ", "Results!3 (source row 3): failed at the ", "HTTP 422 Unprocessable Entity\n", "!the postcode is unknown"}}
	for i, status := range statuses {
		first.faults[stepOf(step, i+2)] = []apitest.Fault{apitest.Answer(apitest.JSON(status, `{"message":"the postcode is unknown"}`))}
		first.cells = append(first.cells, fmt.Sprint(i+2, " Error ~ the postcode is unknown"))
	}
	second := sheetNight{posts: "?", status: "unchanged, done, done, done, done, unchanged", also: func(s *scene, p played) {
		for name := range first.faults {
			if !slices.Contains(p.steps(), name) {
				s.t.Errorf("%s was not sent again", name)
			}
		}
	}}
	return nightCase{name: "refused: " + step, long: !strings.HasPrefix(step, "claim"), mapping: stepThree, promise: true, nights: []sheetNight{first, second, quiet}}
}

// unauthorised is a case in which a request gets a 401: the run stops at once, and no other client is begun; what was
// sent is known.
func unauthorised(what, posts string) nightCase {
	first := sheetNight{rows: []string{"1-6"}, faults: faults{what: {apitest.Answer(apitest.JSON(401, `{"message":"who are you?"}`))}}, code: 3, posts: posts,
		says: []string{"401"}}
	if what != "templates" {
		first.status, first.cells = "not started", []string{"1 Error ~ check the environment's auth"}
	}
	return nightCase{name: "unauthorised: " + what, long: true, mapping: stepThree, promise: true, nights: []sheetNight{first, {posts: "?", status: "done"}}}
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

// redirectedQuestion is a case in which a GET is redirected: the run ends before anything is created.
func redirectedQuestion(status int, what string) nightCase {
	n := sheetNight{rows: []string{"1-3"}, faults: faults{"every " + what: {apitest.Answer(apitest.Reply{Status: status})}}, code: 3,
		says: []string{fmt.Sprint("HTTP ", status), "check base_url"}}
	if what != "templates" {
		n.status = "not started"
	}
	return nightCase{name: fmt.Sprint("redirected: ", status, " ", what), long: true, mapping: stepThree, nights: []sheetNight{n}}
}

// tooLong is a case in which the service asks for more than a quarter of an hour: it is left alone until the next run.
// What it refused for that has not failed; what may have been created is uncertain.
func tooLong(kind string, status int) nightCase {
	first := sheetNight{rows: []string{"1-4"}, faults: faults{"every " + kind: {apitest.Busy(status, 3600)}}, flags: "--concurrency 1", code: 3, posts: "?",
		says: []string{"asks to wait for 1h0m0s; run again then"}}
	next := sheetNight{posts: "?"}
	switch {
	case kind == "claim" && status == 503:
		first.status, next.code = "uncertain, not started, not started, not started", 4
	case kind != "templates":
		first.status = "not started"
	}
	return nightCase{name: fmt.Sprint("busy for too long: ", kind, " ", status), long: true, mapping: stepThree, promise: true, nights: []sheetNight{first, next}}
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
	n := sheetNight{faults: faults{}, code: 4, posts: "?"}
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
