package cli_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// linked makes clients, each with a claim, an activity on it and a link.
const linked = "name: loans\napi: v2\n" + clientPart + "claims: [{id: loan, key: Agreement no, name: \"Loan {Agreement no}\"}]\nworkflow: {name: Loans, template_identifier: WF-1}\n" +
	"activities:\n  - {template: Agreement details, on: loan, attributes: {Agreement number: Agreement no}}\n"

// eachKind leaves a step of each kind in doubt.
var eachKind = faults{"claim c1@example.com/Loan A-1": {failed500}, "activity c2@example.com/Loan A-2 Agreement details": {failed500},
	"link c3@example.com": {failed500}, "client c4@example.com": {failed500}}

// deskCases are the cases of TestNights in which a person settles steps, asks for links, or looks up what happened.
var deskCases = []nightCase{
	{name: "steps of each kind are settled as created", mapping: linked, nights: []sheetNight{
		{rows: []string{"1 A-1", "1 B-1", "2-4"}, faults: eachKind, flags: "--concurrency 1", code: 4, status: "uncertain, not started, uncertain, uncertain, uncertain",
			// What depends on a step in doubt waits; other claims of the client, and other clients, go on.
			steps: "client c1@example.com, claim c1@example.com/Loan A-1, claim c1@example.com/Loan B-1, activity c1@example.com/Loan B-1 Agreement details, " +
				"client c2@example.com, claim c2@example.com/Loan A-2, activity c2@example.com/Loan A-2 Agreement details, " +
				"client c3@example.com, claim c3@example.com/Loan A-3, activity c3@example.com/Loan A-3 Agreement details, link c3@example.com, client c4@example.com"},
		{idle: true, env: "wire: {activity_id: /activityId}", do: []string{"settle → 4 3×--created ID "}}, // an activity's answer has an id, too
		{env: "-", knows: []string{"claim c1@example.com/Loan A-1", "c4@example.com c4@example.com"}, do: []string{
			"settle --created <claim c1@example.com/Loan A-1> claim/loan/A-1", "settle --created activity/Agreement·details@loan/A-2",
			"settle --created https://claims.example.com/go/found c3@example.com:link", "settle --created <client c4@example.com> c4@example.com:client"},
			flags: "--concurrency 1", steps: "activity c1@example.com/Loan A-1 Agreement details, link c1@example.com, link c2@example.com, " +
				"claim c4@example.com/Loan A-4, activity c4@example.com/Loan A-4 Agreement details, link c4@example.com",
			cells: []string{"1 claimIds = <claim c1@example.com/Loan A-1>", "4 redirectUrl = https://claims.example.com/go/found", "5 contactId = <client c4@example.com>"}},
		{status: "unchanged", do: []string{"history C1@example.com → done: claim/loan/A-1  id <claim c1@example.com/Loan A-1> of the mapping loans\n", "history c1@example.com → !https://",
			"history c1@example.com → 1×HTTP 500 Internal Server Error\n", "history c1@example.com → 1×  done       you decided that it was created\n",
			"history c1@example.com → 1×  uncertain  run "}},
	}},
	{name: "steps of each kind are given up", long: true, mapping: linked, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: eachKind, flags: "--concurrency 1", code: 4, posts: "?"},
		{do: []string{"settle --give-up claim/loan/A-1 activity/Agreement·details@loan/A-2 c3@example.com:link c4@example.com:client"}, code: 1, status: "failed"},
		{code: 1, status: "failed", also: func(s *scene, _ played) { s.must(0, "settle") }},
	}},
	{name: "a name that two steps have", long: true, mapping: linked, nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-1"}, faults: faults{"every claim": {failed500}}, code: 4, posts: "client 2, claim 2"},
		{do: []string{"settle --not-created claim/loan/A-1 → 2 [ambiguous-step]", "settle --not-created c2@example.com:claim/loan/A-1"}, code: 4,
			posts: "claim 1, activity 1, link 1"},
	}},
	{name: "a wrong id is corrected", long: true, mapping: linked, nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{"claim c2@example.com/Loan A-2": {dropped}}, code: 4, posts: "?"},
		{do: []string{"settle --created <claim c1@example.com/Loan A-1> claim/loan/A-2 → 2 [id-taken]",
			"settle --created <client c2@example.com> claim/loan/A-2 → 2 [id-taken]", "settle --created A-2 --give-up claim/loan/A-2 → 2 [late-flag]",
			"settle --created b0000000-0000-4000-8000-00000000dead claim/loan/A-2"},
			faults: faults{"every with 00dead": {unknown404}}, code: 1, posts: "?"},
		{do: []string{"settle --undo c2@example.com:claim/loan/A-2", "settle --created <claim c2@example.com/Loan A-2> c2@example.com:claim/loan/A-2"}, posts: "activity 1, link 1",
			cells: []string{"2 claimIds = <claim c2@example.com/Loan A-2>"}},
		{idle: true, do: []string{"settle --created b0000000-0000-4000-8000-00000000beef claim/loan/A-2 → 2 [unknown-step]", "settle --undo claim/loan/A-2 → 2 [built-on]"}},
	}},
	{name: "a decision is taken back", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{"claim c2@example.com/Loan A-2": {dropped}}, code: 4, posts: "?"},
		{idle: true, do: []string{"settle --undo claim/loan/A-2 → 2 there is no decision to undo: word 1 after the flags",
			"settle --undo c2@example.com:claim/loan/A-2 → 2 [not-decided]"}},
		{do: []string{"settle --give-up claim/loan/A-2 → --undo c2@example.com:claim/loan/A-2", "settle --undo claim/loan/A-1 → 2",
			"settle --undo claim/loan/A-2", "settle → 4 claim/loan/A-2"}, code: 4},
		{do: []string{"history c2@example.com → 1×  you undid the decision", "settle --created <claim c2@example.com/Loan A-2> claim/loan/A-2"}, posts: "activity 2, link 1"},
		{idle: true, do: []string{"settle --undo claim/loan/A-2 → 2 [built-on]"}},
	}},
	{name: "a step of a case is settled", long: true, mapping: byEmailV1, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"client": {failed500}}, code: 4, posts: "client 1"},
		{env: "claim_types: {loans: {case_id: 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12}}", // the list is of every case
			do:    []string{"settle → 4 client of the client c1@example.com", "settle --created c0000000-0000-4000-8000-000000000077 client"},
			cells: []string{"1 clientId = c0000000-0000-4000-8000-000000000077"}},
	}},
	{name: "contacts in results", long: true, mapping: ledByBrokers, nights: []sheetNight{
		{rows: ofContacts, posts: "?", cells: contactsShown}, {dry: true, cells: contactsShown},
		{idle: true, also: func(s *scene, _ played) {
			if diff := cmp.Diff(column(s.results(), "contacts"), column(readSheet(s.t, s.report(), "Results"), "contacts")); diff != "" {
				s.t.Errorf("a report (-results +report):\n%s", diff)
			}
		}},
		{edit: []string{"contactId 5 = somebody-else"}, rerun: true, code: 2, says: []string{"[id-conflict]"}},
		{rows: append([]string{"a@ | Ann | | p@ | Poe | x@", "a@ | Ann | | q@ | Quo |"}, ofContacts[2:]...), flags: "--only a@example.com --max-failures 100%", code: 1, cells: contactsShown},
		{do: []string{"lose ledger"}, rerun: true, flags: "--yes --max-failures 100%", code: 1, cells: contactsShown},
	}},
	{name: "what is said of others when a client is erased", mapping: byAgreement("reuse", ""), nights: []sheetNight{ // that a row was refused because of the client
		{rows: []string{"1 Customer-A"}, posts: "client 1, link 1"},
		{rows: []string{"1 Customer-A", "3 Customer-C"}, faults: faults{"every lookup c3@example.com": {apitest.Answer(apitest.JSON(200, `{"contactId":"<client Customer-A>"}`))}},
			code: 1, errors: []string{"", "…“Customer-A”"}},
		{idle: true, do: []string{"history --forget Customer-A --yes"}, also: func(s *scene, _ played) {
			if left := s.leaks("Customer-A"); len(left) > 0 {
				s.t.Errorf("after the erasure there are left: %q", left)
			}
		}},
	}},
	{name: "who may not be erased", long: true, mapping: linked, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"claim": {failed500}}, code: 4, posts: "?"},
		{idle: true, do: []string{"history --forget c1@example.com --yes → 2 [client-undecided]", "history --forget c1@example.com --yes → 2 !c1@example.com",
			"history --forget c9@example.com --yes → 2 [unknown-client]", "history --forget c9@example.com --yes → 2 !c9@example.com"}},
	}},

	// Fresh links by command.
	{name: "a fresh link is asked for", mapping: linked, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, claim 2, activity 2, link 2"},
		{do: []string{"link C2@example.com email:c1@example.com → c2@example.com\t"}, again: true,
			cells: []string{"1 redirectUrl = <link c1@example.com #2>", "2 redirectUrl = <link c2@example.com #2>"}},
	}},
	{name: "a first link is made by a run", mapping: linked, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"claim": {refused422}}, code: 1, posts: "?"},
		{idle: true, again: true, do: []string{"link c1@example.com → 2 [link-waits]"}},
		{rows: []string{"1 A-1"}, posts: "claim 1, activity 1, link 1"},
	}},
	{name: "a link in doubt is not asked for again", mapping: linked, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"link": {failed500}}, code: 4, posts: "?"},
		{do: []string{"link c1@example.com → 2 [link-waits]"}, code: 4},
		{do: []string{"settle --not-created link"}, posts: "link 1", cells: []string{"1 redirectUrl = <link c1@example.com>"}},
	}},
	linkTrouble("no answer", failed500, 4, "c2@example.com\t", "a fresh link may or may not have been made: HTTP 500"),
	linkTrouble("unauthorised", apitest.Answer(apitest.JSON(401, `{}`)), 3, "!\t", "no fresh link was made: HTTP 401"),
	{name: "whose link is meant", long: true, mapping: linked, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, claim 2, activity 2, link 2"},
		{mapping: "name: leads\napi: v2\nclient: {key: First name, existing: create, fields: {email: E-mail}}\nlink: never\n", rows: []string{"7 A-7; First name=c1@example.com"}, posts: "client 1"},
		{mapping: with(linked, "name: loans", "name: cars", "key: Agreement no", "key: Amount"), rows: []string{"2 A-2"}, posts: "?", again: true},
		{mapping: linked, rows: []string{"1-2"}, do: []string{"link -m MAPPING c1@example.com → 2 email, leads", "link -m MAPPING leads:c1@example.com → 2 [link-waits]",
			"link c2@example.com → c2@example.com\t", "link → 2 [usage]", "link c1@example.com c9@example.com → 2 [unknown-client]"}},
	}},
}

// linkTrouble is a case in which a fresh link is not made. The others are asked for unless none will fare better, the client keeps
// the old one until there is another, and another may be asked for.
func linkTrouble(name string, f apitest.Fault, code int, out, history string) nightCase {
	first := "every link c1@example.com"
	return nightCase{name: "no fresh link: " + name, long: true, mapping: linked, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, claim 2, activity 2, link 2"},
		{again: true, faults: faults{first: {f}}, do: []string{fmt.Sprintf("link c1@example.com c2@example.com → %d %s", code, out)},
			cells: []string{"1 redirectUrl = <link c1@example.com>"}},
		{faults: faults{first: {f}}, do: []string{fmt.Sprintf("link c1@example.com → %d !example.com", code), "settle → nothing is uncertain", "history c1@example.com → " + history},
			cells: []string{"1 redirectUrl = <link c1@example.com>"}},
		{do: []string{"link c1@example.com → c1@example.com\t"}, cells: []string{"1 redirectUrl = <link c1@example.com #2>"}},
	}}
}

// ledByBrokers is joint with a broker, whose address is in the column Contact ID, as the administrator of some claims.
var ledByBrokers = joint[:strings.Index(joint, "claims:")] + `  - {id: broker, key: Contact ID, when: has("Contact ID"), lookup: {email: Contact ID}, fields: {email: {column: Contact ID, type: Email}}}
claims:
  - {id: led, key: Agreement no, when: has("Contact ID"), name: "Loan {Agreement no}", claimants: [client, partner], administrator: broker}
  - {id: own, key: Agreement no, when: not has("Contact ID"), name: "Loan {Agreement no}", claimants: [client, partner]}
` + joint[strings.Index(joint, "workflow:"):]

// contactsShown are the contacts that the rows ofContacts name, in the order of the mapping.
var (
	ofContacts    = []string{"a@ | Ann | A-1 | p@ | Poe | x@", "a@ | Ann | A-2 | q@ | Quo |", "b@ | Bob | B-1 | | |", "c@ | Cid | C-1 | P@ | Poe |"}
	contactsShown = []string{"1 contacts = partner: <client p@example.com>, broker: <client x@example.com>", "2 contacts = partner: <client q@example.com>",
		"3 contacts =", "4 contacts = partner: <client p@example.com>"}
)

// firstRun is a night after which the amount of the third client is not a number, and it is not known whether the claim
// of the fourth was created.
var firstRun = sheetNight{rows: []string{"1 A-1; Note=mine", "2 A-2", "3 A-3; Amount=ask", "4 A-4"}, faults: faults{"claim c4@example.com/Loan A-4": {dropped}}, code: 4, posts: "?",
	status: "done, done, invalid, uncertain"}

const (
	corrects = "Amount 4 = 250.25"
	decides  = "c4@example.com claim/loan/A-4: Settle = "
)

// edited is a case in which the results of firstRun are edited and run again.
func edited(name string, edits []string, n sheetNight, more ...sheetNight) nightCase {
	n.rerun, n.edit = true, edits
	return nightCase{name: "edited: " + name, long: true, mapping: stepThree, nights: append([]sheetNight{firstRun, n}, more...)}
}

// withoutLedger is a case in which the ledger is lost, and the workbook is edited and run again.
func withoutLedger(name string, edits []string, n sheetNight, more ...sheetNight) nightCase {
	n.do = []string{"lose ledger.db"}
	return edited("without the ledger: "+name, edits, n, more...)
}

// rerunCases are the cases of TestNights in which a person edits the results.
var rerunCases = []nightCase{
	edited("created", []string{decides + "created <claim c4@example.com/Loan A-4>"}, sheetNight{code: 1, posts: "activity 2, link 1",
		status: "unchanged, unchanged, invalid, done", cells: []string{"4 claimIds = <claim c4@example.com/Loan A-4>"}}),
	edited("not created", []string{decides + "  NOT  created "}, sheetNight{code: 1, posts: "claim 1, activity 2, link 1", again: true, status: "unchanged, unchanged, invalid, done"}),
	// A word in the column Settle that cannot be followed, or an id that contradicts the ledger: its cell is named, and nothing at all is done.
	edited("a decision that cannot be followed", []string{corrects, decides + "created <claim c1@example.com/Loan A-1>"}, sheetNight{code: 2, says: []string{"Steps!", "[id-taken]"}}),
	edited("the id of a step that contradicts the ledger", []string{corrects, "c4@example.com client: Id = ID-1"}, sheetNight{dry: true, code: 2, says: []string{"[id-conflict]", "Steps!E", "!ID-1"}}),
	edited("an id that contradicts the ledger", []string{corrects, "contactId 5 = ID-1"}, sheetNight{dry: true, code: 2, says: []string{"[id-conflict]", "Results!L5", "!ID-1", "!example.com"}}),

	withoutLedger("taken over", []string{corrects}, sheetNight{flags: "--yes", code: 4, posts: stored(1), status: "unchanged, unchanged, done, uncertain"},
		sheetNight{rerun: true, code: 4, status: "unchanged, unchanged, unchanged, uncertain"}),
	withoutLedger("not without a word", nil, sheetNight{code: 3, says: []string{"claimsheet rerun --yes -m "}}, sheetNight{rerun: true, flags: "--yes --dry-run", code: 3, says: []string{"[dry-run-ledger]"}}),
	withoutLedger("a line is gone", []string{"delete Steps 3"}, sheetNight{flags: "--yes", code: 2, says: []string{"[steps-missing]"}}),
	edited("a decision in a workbook that is refused", []string{decides + "not created", "contactId 2 = somebody-else"},
		sheetNight{code: 2, says: []string{"[id-conflict]"}}, sheetNight{rerun: true, edit: []string{"contactId 2 = <client c1@example.com>"},
			code: 1, posts: "claim 1, activity 2, link 1", again: true, status: "unchanged, unchanged, invalid, done"}),
	// What is missing is sent, whatever was edited besides.
	edited("sorted, without a row, and ids erased", []string{corrects, "delete Results 2", "contactId 2 =", "claimIds 2 =", "c2@example.com client: Id =", "sort Results", "sort Steps"},
		sheetNight{code: 4, posts: stored(1), status: "done, uncertain, unchanged", cells: slices.Concat(shown(1, 3), shown(2, 4)[:3], shown(3, 2))}),
	edited("our columns deleted", []string{corrects, "drop Import status", "drop contactId", "drop claimIds", "drop redirectUrl", "drop Failed step", "drop Error", "drop What to do"},
		sheetNight{code: 4, posts: stored(1), status: "unchanged, unchanged, done, uncertain", cells: slices.Concat(shown(1, 1), shown(2, 2), shown(3, 3), shown(4, 4)[:3])}),
	{name: "edited: the workflow has the name of the sheet", mapping: with(stepThree, "name: Batch", `name: "{sheet}"`), nights: []sheetNight{
		firstRun, {rerun: true, edit: []string{corrects}, dry: true, code: 4, posts: stored(1), calls: []string{`"workflowName":"Sheet1"`, `!"workflowName":"Results"`}},
	}},

	// A key is edited, though its things were made: refused each time, until it is put back, or the cells are cleared for a new client.
	edited("a conflict stands", []string{corrects}, sheetNight{code: 4, posts: stored(1)},
		sheetNight{rerun: true, edit: []string{"E-mail 2 = c9@example.com"}, code: 2, says: []string{"[id-conflict]"}},
		sheetNight{rerun: true, edit: []string{"E-mail 2 = c1@example.com"}, code: 4, status: "unchanged, unchanged, unchanged, uncertain"},
		sheetNight{rerun: true, edit: []string{"E-mail 2 = c9@example.com"}, flags: "--only c3@example.com", code: 2, says: []string{"[id-conflict]"}},
		sheetNight{rerun: true, edit: []string{"Import status 2 =", "contactId 2 =", "claimIds 2 ="}, code: 4, posts: stored(1), again: true}),
	{name: "edited after an erasure", long: true, mapping: stepThree, nights: []sheetNight{ // the row is another client's now
		{rows: []string{"1 A-1"}, posts: stored(1)},
		{do: []string{"history --forget c1@example.com --yes"}, rerun: true},
		{edit: []string{"contactId 2 = <client c1@example.com>", "E-mail 2 = bob@example.com"}, rerun: true, code: 2, says: []string{"[id-conflict]"}},
	}},
}

// shown are the cells of a row that has what was made for a client of stepThree; the last two are of a claim and a link.
func shown(row, client int) []string {
	return []string{
		fmt.Sprintf("%d Agreement no = A-%d", row, client), fmt.Sprintf("%d Source row = %d", row, client+1), fmt.Sprintf("%d contactId = <client c%d@example.com>", row, client),
		fmt.Sprintf("%d claimIds = <claim c%d@example.com/Loan A-%[2]d>", row, client), fmt.Sprintf("%d redirectUrl = <link c%d@example.com>", row, client),
	}
}
