package cli_test

import (
	"fmt"
	"strings"

	"claimsheet/apiclient/apitest"
)

// with is a mapping in which each first text of a pair is replaced by the second.
func with(mapping string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(mapping, pairs[i]) {
			panic(fmt.Sprintf("the mapping has no %q", pairs[i]))
		}
		mapping = strings.Replace(mapping, pairs[i], pairs[i+1], 1)
	}
	return mapping
}

// byLead keys clients by a column of the sheet's own, so that two of them can have one address.
const byLead = `
name: by-lead
api: v2
client:
  key: First name
  lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB}}
  fields:
    ref: First name
    email: {column: E-mail, type: Email}
    phone: {column: Mobile, type: Phone, region: GB}
claims: [{key: Agreement no, name: "{Agreement no}"}]
`

// byAgreement keys clients by their agreement, so that the cells of e-mail and phone may be empty or shared.
func byAgreement(existing, more string) string {
	return fmt.Sprintf(`
name: known
api: v2
client:
  key: Agreement no
  existing: %s
  lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB, format: e164}%s}
  fields:
    ref: Agreement no
    email: {column: E-mail, type: Email}
    phone: {column: Mobile, type: Phone, region: GB, format: e164}
`, existing, more)
}

// joint is a mapping whose claims have a partner as a claimant, and are administered by a contact that the environment
// has.
const joint = `
name: joint
api: v2
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, firstName: First name}
contacts:
  - id: partner
    when: has("Partner")
    key: Partner
    lookup: {email: Partner}
    administrator: false
    fields: {email: {column: Partner, type: Email}, firstName: Partner name}
claims:
  - {key: Agreement no, name: "Loan {Agreement no}", claimants: [client, partner], administrator: {id: "file:broker"}}
workflow: {name: Batch, template_identifier: WF-1}
activities:
  - {template: Agreement details, on: claim, attributes: {Agreement number: Agreement no}}
`

// The leads L1 and L2 have one e-mail address; that of L1 is corrected later.
const (
	l1          = "1 A-1; First name=L1"
	l2          = "2 A-2; First name=L2; E-mail=c1@example.com"
	l1Corrected = "1 A-1; First name=L1; E-mail=right@example.com"
	l1More      = "1 A-9; First name=L1"
)

var (
	byEmailV1   = "name: m\napi: v1\n" + clientPart
	created500  = apitest.CreateThen(apitest.JSON(500, `{}`))
	failed500   = apitest.Answer(apitest.JSON(500, `{}`))
	unknown404  = apitest.Answer(apitest.JSON(404, `{}`))
	dropped     = apitest.CreateThenDrop()
	refused422  = apitest.Answer(apitest.JSON(422, `{}`))
	conflict409 = apitest.Answer(apitest.JSON(409, `{}`))
	lagging     = faults{"every lookup": {notFound}}
	notCreated  = []string{"not created"}
)

// nightCases are the cases of TestNights; the functions and mappings that they name are below.
var nightCases = []nightCase{
	// Whose an address is while a creation is in doubt.
	{name: "an address in doubt", mapping: byLead, ways: everyWay, orders: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1, l2}, dry: true, code: 1, steps: "claim L1/A-1, link L1", status: "done, failed",
			errors: []string{"", "…“L1”"}, cells: []string{"2 contactId ="}},
		{rows: []string{l2, l1}, dry: true, code: 1, status: "failed, unchanged", errors: []string{"…“L1”", ""},
			cells: []string{"2 contactId = <client L1>"}},
	}},
	{name: "an address in doubt, settled as not created", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1, l2}, dry: true, code: 4, status: "uncertain, failed"},
		{do: []string{"settle --not-created L1:client"}, dry: true, code: 1, steps: "client L1, claim L1/A-1, link L1"},
	}},
	{name: "the address of a client who is done", long: true, mapping: byLead, orders: true, nights: []sheetNight{
		{rows: []string{l1}, posts: "client 1, claim 1, link 1"},
		{rows: []string{l1, l2, l1More}, dry: true, code: 1, steps: "claim L1/A-9", status: "unchanged, failed, done",
			errors: []string{"", "…“L1”", ""}},
		{dry: true, code: 1, status: "unchanged, failed, unchanged", errors: []string{"", "…“L1”", ""}},
		{rows: []string{l2}, dry: true, code: 1, status: "failed", errors: []string{"…“L1”"}},
	}},
	{name: "an id in doubt that another client has", long: true, mapping: byLead, ways: append(notCreated, everyWay...), orders: true,
		nights: []sheetNight{
			{rows: []string{l1}, posts: "client 1, claim 1, link 1"},
			{rows: []string{l1, "2 A-2; First name=L2"}, doubt: "client L2"},
			{faults: faults{"every lookup c2@example.com": {apitest.Answer(apitest.JSON(200, `{"contactId":"<client L1>"}`))}},
				rows: []string{l1, "2 A-2; First name=L2"}, dry: true, code: 4, status: "unchanged, uncertain", errors: []string{"", "…“L1”"},
				cells: []string{"2 contactId ="}},
			{faults: faults{"every lookup c2@example.com": {apitest.Answer(apitest.JSON(200, `{"contactId":"<client L1>"}`))}},
				rows: []string{"2 A-2; First name=L2"}, dry: true, code: 4, status: "uncertain", errors: []string{"…“L1”"},
				cells: []string{"1 contactId ="}},
		}},

	// The address was corrected since.
	{name: "corrected, created", long: true, mapping: byLead, ways: everyWay, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1Corrected}, dry: true, steps: "claim L1/A-1, link L1", status: "changed", errors: []string{"…“"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, status: "changed"},
	}},
	{name: "corrected, created, and another is known", long: true, mapping: byLead, ways: everyWay, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{knows: []string{"other right@example.com +447911999999"}, rows: []string{l1Corrected}, dry: true, code: 4, status: "uncertain",
			errors: []string{"…the corrected one"},
			cells:  []string{"1 Error ~ <client other>"}, calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, code: 4, status: "uncertain", errors: []string{"…the corrected one"}},
	}},
	{name: "corrected, not created", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1Corrected}, dry: true, code: 4, status: "uncertain", errors: []string{"…finds nobody yet"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{knows: []string{"other right@example.com +447911999999"}, dry: true, code: 4, status: "uncertain", errors: []string{"…finds nobody yet"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, code: 4, status: "uncertain", errors: []string{"…finds nobody yet"}},
	}},
	{name: "corrected, not created long ago", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, rows: []string{l1Corrected}, dry: true, steps: "client L1, claim L1/A-1, link L1", status: "done",
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, status: "unchanged"},
	}},
	{name: "corrected, settled as created", mapping: byLead, ways: everyWay, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1Corrected}, faults: lagging, code: 4},
		{do: []string{"settle --created <client L1> L1:client"}, dry: true, steps: "claim L1/A-1, link L1"},
	}},

	// The base url of the service.
	{name: "a base url changes", long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, posts: stored(3)},
		{at: "second", dry: true, code: 3, says: []string{"--accept same-service", "--accept new-service"}},
		{flags: "--accept new-ledger", code: 3}, {flags: "--accept new-identity", code: 3},
		{idle: true, do: []string{"doctor -m MAPPING → 3 fail  ledger: the base url was <service first>"}},
		{flags: "--accept same-service", dry: true, status: "unchanged"},
		{do: []string{"doctor -m MAPPING → !  ledger: "}, status: "unchanged"},
		{at: "first", status: "unchanged"}, {at: "second", status: "unchanged"}, {at: "third", code: 3},
		{flags: "--accept new-service", dry: true, posts: stored(3), status: "done"}, {status: "unchanged"},
		{at: "second", code: 3}, {flags: "--accept same-service", code: 2, says: []string{"service-known"}},
		{flags: "--accept same-service --accept new-service", code: 2},
	}},
	{name: "a service moves", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"link c3@example.com": {created500}}, code: 4, posts: "client 3, claim 3, activity 9, link 3"},
		{idle: true, do: []string{"history --yes --forget c2@example.com"}},
		{at: "second", flags: "--accept same-service", code: 4},
		{do: []string{"settle --created https://example.com/found link"}, status: "unchanged, skipped, unchanged"},
		{rerun: true},
	}},
	{name: "commands at a base url that no run knows", long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"link c3@example.com": {created500}}, code: 4, posts: "client 3, claim 3, activity 9, link 3"},
		{idle: true, at: "second",
			do: []string{"settle → 3 [service-changed]", "settle --give-up link → 3 [service-changed]", "history → 3 [service-changed]",
				"history c1@example.com → 3 [service-changed]", "history --yes --forget c1@example.com → 3 [service-changed]",
				"link c1@example.com → 3 [service-changed]", "report → 3 [service-changed]"}},
		{flags: "--accept new-service", posts: "client 3, claim 3, activity 9, link 3"},
		{idle: true, do: []string{"settle → nothing is uncertain"}},
		{idle: true, at: "first", do: []string{"settle → 4 c3@example.com"}},
	}},

	// Ids that the sheet gives.
	{name: "ids of the sheet", mapping: with(idsKnown, "  key: E-mail\n", "  key: E-mail\n  existing_activities: skip\n"), nights: []sheetNight{
		{knows: []string{"c1@example.com elsewhere@example.com", "claim c1@example.com/Loan A-1", "x@example.com x@example.com"},
			rows: []string{"1 A-1; Contact ID=<client c1@example.com>; Claim ID=<claim c1@example.com/Loan A-1>", "1 A-2", "2 B-1"},
			dry:  true, posts: "client 1, claim 2, activity 5, link 2", status: "done"},
		{status: "unchanged", cells: []string{"1 contactId = <client c1@example.com>", "2 contactId = <client c1@example.com>",
			"1 claimIds = <claim c1@example.com/Loan A-1>", "2 claimIds ~ !<claim c1@example.com/Loan A-1>"}},
		{idle: true, do: []string{"history c1@example.com → 2×known_id, the sheet gives its id"}},
		{do: []string{"lose ledger"}, rerun: true, flags: "--yes", status: "unchanged",
			cells: []string{"1 contactId = <client c1@example.com>", "2 contactId = <client c1@example.com>",
				"1 claimIds = <claim c1@example.com/Loan A-1>", "2 claimIds ~ !<claim c1@example.com/Loan A-1>"}},
		{rows: []string{"1 A-1; Contact ID=<client x@example.com>; Claim ID=<claim c1@example.com/Loan A-1>", "1 A-2", "2 B-1"}, code: 1,
			cells: []string{"1 Import status = failed", "1 contactId = <client c1@example.com>", "1 Failed step = client", "1 Error ~ <client x@example.com>",
				"1 What to do ~ into the cell"}},
	}},

	// What is done differs from what is wanted now.
	{name: "the mapping wants another status", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, claim 2, activity 6, link 2"},
		{mapping: with(stepThree, "status: Accepted", "status: Submitted"), rows: []string{"1-2", "2 A-9"}, says: []string{"1×" + mappingChanged},
			errors: []string{"", "", "held back: “Agreement details” was sent as Accepted, and the mapping now wants it as Submitted"}},
	}},
	{name: "a changed row", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, claim 2, activity 6, link 2"},
		{rows: []string{"1 A-1", "2 A-2; Amount=99.95"}, status: "unchanged, changed", errors: []string{"", "…H3"}},
	}},

	// A 409.
	{name: "a conflict after a doubt", long: true, mapping: stepThree, nights: []sheetNight{ // the first attempt may have created it
		{rows: []string{"1-3"}, faults: faults{"claim c2@example.com/Loan A-2": {created500}}, code: 4, posts: "?"},
		{do: []string{"settle --not-created c2@example.com:claim/loan/A-2"},
			faults: faults{"claim c2@example.com/Loan A-2": {apitest.Answer(apitest.JSON(409, `{"message":"it exists"}`))}}, code: 4,
			steps: "claim c2@example.com/Loan A-2", status: "unchanged, uncertain, unchanged",
			errors: []string{"", "…an earlier attempt may have created it: it exists", ""}},
		{code: 4, status: "unchanged, uncertain, unchanged"},
	}},
	{name: "a conflict over a new client, found", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"client c2@example.com": {conflict409}}, appears: "c2@example.com",
			posts: "client 3, claim 3, activity 9, link 3", status: "done"},
		quiet,
	}},
	{name: "a conflict over a new client, not found", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"client c2@example.com": {conflict409}},
			code: 4, posts: "client 3, claim 2, activity 6, link 2", status: "done, uncertain, done", errors: []string{"", "…409", ""}},
		{code: 4, status: "unchanged, uncertain, unchanged"},
	}},
	{name: "a busy service", mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"claim c2@example.com/Loan A-2": {apitest.Busy(429, 0)}},
			posts: "client 3, claim 4, activity 9, link 3", status: "done"},
		quiet,
	}},

	// Keys.
	{name: "similar keys: case and a blank, leading zeros, decimals, a hyphen", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1 A-1", "2 Z0077", "3 78", "4 AB7", "5 AG-7", "6 19"}, posts: stored(6)},
		{rows: []string{"1 a 1", "2 z77", "3 78.0", "4 AB‑7", "5 AG-07", "6 19.00"}, dry: true, code: 1, says: []string{"6×[similar-key]", "!A-1", "!Z0077"},
			status: "invalid", errors: []string{"…“A-1”", "…“Z0077”", "…“78”", "…“AB7”", "…“AG-7”", "…“19”"}},
		{dry: true, flags: "--accept similar-key", posts: "claim 6, activity 6"},
	}},
	{name: "a claim in doubt holds new ones", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{"claim c1@example.com/Loan A-1": {dropped}}, code: 4, posts: "client 2, claim 2, activity 4, link 1"},
		{rows: []string{"1 B-9", "2 A-2"}, dry: true, code: 4, status: "uncertain, unchanged", errors: []string{"…“A-1” is in doubt", ""}},
		{rows: []string{"2 A-2"}, says: []string{`"uncertainSteps":1,`}},
		{do: []string{"settle --not-created claim/loan/A-1"}, rows: []string{"1 B-9", "2 A-2"}, dry: true, posts: "claim 1, activity 2, link 1"},
	}},
	{name: "a column is sorted alone", long: true, mapping: byLead, nights: []sheetNight{
		{rows: []string{"1-3"}, posts: "client 3, claim 3, link 3"},
		{rows: []string{"1 B-1; E-mail=c2@example.com", "2 B-2; E-mail=c1@example.com", "3 A-3"}, dry: true, code: 1,
			status: "invalid, invalid, unchanged",
			says:   []string{"[address-taken]", "!Ann"}, errors: []string{"…“Ann1”", "…", ""}, cells: []string{"1 Error ~ “Ann2”"}},
	}},
	{name: "a client who was given up keeps the address", long: true, mapping: byLead, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"client Ann1": {dropped}, "every lookup": {notFound}}, code: 4, posts: "client 1"},
		{do: []string{"settle --give-up Ann1:client"}, rows: []string{"1 A-1; First name=Lead 9"}, code: 1, status: "failed", errors: []string{"…“Ann1” has the same e-mail address"}},
	}},
	{name: "claims have other clients", long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-12"}, posts: "client 12, claim 12, activity 36, link 12"},
		{rows: []string{"1 A-6", "2 A-7", "3 A-8", "4 A-9", "5 A-10", "6 A-11", "7 A-12", "8 A-1", "9 A-2", "10 A-3", "11 A-4", "12 A-5"},
			dry: true, code: 2,
			says: []string{"12 of the first 12 new claims", "[claims-moved]"}},
		{dry: true, flags: "--accept claims-moved", posts: "claim 12, activity 12"},
	}},
	{name: "the key of a client was corrected", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, posts: "client 3, claim 3, activity 9, link 3"},
		{rows: []string{"1 A-1", "2 A-2; E-mail=other@example.com", "3 A-3"}, dry: true, says: []string{"1 of the first 1 new claims", "made again for these: ", "[claims-moved]"},
			posts: "client 1, claim 1, activity 3, link 1"},
	}},

	// The mapping's identity.
	{name: "two mappings with the same claims", long: true, mapping: "name: a" + v2Claims, nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: "client 1, claim 1, link 1"},
		{mapping: "name: b" + v2Claims, code: 2},
		{flags: "--accept new-identity", posts: "claim 1, link 1", again: true},
		{mapping: "name: b" + v2Claims, status: "unchanged"},
		{mapping: "name: a" + v2Claims, status: "unchanged"},
		{mapping: "name: b" + v2Claims, status: "unchanged"},
		{rows: []string{"1-2"}, posts: "client 1, claim 1, link 1"},
		{mapping: "name: a" + v2Claims, code: 2, says: []string{"[new-identity]"}},
	}},
	{name: "another case of version 1", mapping: byEmailV1, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "?"},
		{mapping: byEmailV1 + "claim_type: loans\n", env: "claim_types: {loans: {case_id: 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12}}", dry: true, code: 2,
			says: []string{"“m” has run before in another case", "[new-identity]"}},
		{flags: "--accept new-identity", posts: "?", again: true}, quiet,
	}},
	{name: "another version of the interface", mapping: with(byEmailV1, "v1", "v2"), nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, link 2"},
		{mapping: byEmailV1, dry: true, code: 2, says: []string{"“m” has run before with api: v2", "[new-identity]"}},
		{flags: "--accept new-identity", posts: "?", again: true}, quiet,
		{mapping: with(byEmailV1, "v1", "v2"), status: "unchanged"}, // it is known under both now
	}},
	{name: "one key in two key spaces", long: true, mapping: byAgreement("reuse", ""), nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: "client 1, link 1"},
		{mapping: with(byAgreement("reuse", ""), "name: known", "name: other"), flags: "--accept new-identity", code: 1,
			errors: []string{"the client of this key in the key space “known”, not in “other”, has the same e-mail address"}},
	}},

	// An answer that another step has.
	{name: "taken: a claim", mapping: stepThree, orders: true, nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: "?", status: "done"},
		{rows: []string{"1 A-1", "2 A-2", "3 A-3"}, faults: faults{"claim c2@example.com/Loan A-2": {taken(`{"claimId":"<claim c1@example.com/Loan A-1>"}`)}}, code: 4, posts: "?",
			cells: []string{"1 Import status = unchanged", "2 Import status = uncertain", "2 Error ~ c1@example.com", "step c2@example.com claim/loan/A-2 = uncertain"}},
		{rows: []string{"1 A-1", "2 A-2", "3 A-3"}, dry: true, code: 4, cells: []string{"2 Import status = uncertain", "2 Error ~ c1@example.com"}},
		{do: []string{"settle --created <claim c2@example.com/Loan A-2> c2@example.com:claim/loan/A-2"}, posts: "activity 2, link 1"},
	}},
	{name: "taken: links", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: "?", status: "done"},
		{rows: []string{"1-3"}, faults: faults{"link c2@example.com": {taken(`{"redirectUrl":"<link c1@example.com>"}`)}, "link c3@example.com": {taken(`{"redirectUrl":"<link c1@example.com>"}`)}},
			code: 3, posts: "?", says: []string{"in a row what other steps have already"},
			cells: []string{"1 Import status = unchanged", "2 Import status = uncertain", "2 Error ~ c1@example.com", "2 Error ~ !<link c1@example.com>"}},
		{dry: true, code: 4, cells: []string{"2 Import status = uncertain"}},
	}},
	{name: "taken: a url of version 1", long: true, mapping: byEmailV1, nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: "?", status: "done"},
		{rows: []string{"1-2"}, faults: faults{"client c2@example.com": {taken(`{"clientId":"c0000000-0000-4000-8000-999999999999","redirectUrl":"<url client c1@example.com>"}`)}},
			code: 4, posts: "?", cells: []string{"2 Import status = uncertain", "2 Error ~ c1@example.com", "2 Error ~ !<url client c1@example.com>"}},
	}},

	// Every call of a client.
	{name: "step three", mapping: with(stepThree, "{id: loan,", "{id: loan, create: first,"), nights: []sheetNight{{rows: []string{"1 A-1"}, posts: stored(1), calls: []string{`GET /funnel/v2/activity-templates
GET /funnel/v2/contacts/by-email/nobody.RANDOM%40example.com
GET /funnel/v2/contacts/by-email/c1%40example.com
POST /funnel/v2/contacts?isAdministrator=true {"email":"c1@example.com","firstName":"Ann1","phone":"+447911123001"}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT1"],"claimName":"Loan A-1"}
POST /funnel/v2/activities?contactId=CLIENT1 {"templateId":"10000000-0000-4000-8000-000000000001","status":"Submitted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"11000000-0000-4000-8000-000000000001","dateTimeValue":"1980-05-01T00:00:00Z"},{"templateId":"11000000-0000-4000-8000-000000000002","stringValue":"1 High Street"},{"templateId":"11000000-0000-4000-8000-000000000003","boolValue":true}]}
POST /funnel/v2/activities?claimId=CLAIM2 {"templateId":"10000000-0000-4000-8000-000000000002","status":"Accepted","workflowName":"Batch","workflowTemplateIdentifier":"WF-1","attributes":[{"templateId":"12000000-0000-4000-8000-000000000001","stringValue":"A-1"},{"templateId":"12000000-0000-4000-8000-000000000002","doubleValue":1250.5},{"templateId":"12000000-0000-4000-8000-000000000003","dateTimeValue":"2026-03-31T08:30:00Z"}]}
POST /funnel/v2/activities?contactId=CLIENT1 {"templateId":"10000000-0000-4000-8000-000000000003","status":"Open","workflowName":"Batch","workflowTemplateIdentifier":"WF-1"}
POST /funnel/v2/contacts/CLIENT1/magic-link {}
`}}}},
	{name: "step three of version 1", mapping: "name: b\napi: v1\n" + clientPart + "activities:\n  - {template: Your details, attributes: {Home address: Address}}" + signActivity,
		nights: []sheetNight{{rows: []string{"1 A-1"}, posts: "client 1, activity 2", calls: []string{`POST /funnel/v1/cases/` + caseID + `/clients?leadRedirect=true {"email":"c1@example.com","firstName":"Ann1","phone":"+447911123001"}
POST /funnel/v1/cases/` + caseID + `/clients/CLIENT1/activities {"activityTemplateId":"10000000-0000-4000-8000-000000000003","status":"Open"}
POST /funnel/v1/cases/` + caseID + `/clients/CLIENT1/activities {"activityTemplateId":"10000000-0000-4000-8000-000000000001","status":"Submitted","attributes":[{"activityAttributeTemplateId":"11000000-0000-4000-8000-000000000002","stringValue":"1 High Street"}]}
`}}}},

	// The same sheet again, or a part of it.
	{name: "a second run", mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-3", "1 A-9"}, posts: "client 3, claim 4, activity 10, link 3", status: "done"},
		{status: "unchanged", says: []string{`"rows":{"total":4,`}, cells: []string{"4 contactId = <client c1@example.com>", "4 claimIds = <claim c1@example.com/Loan A-9>",
			"4 redirectUrl = <link c1@example.com>", "4 Error =", "4 What to do =", "4 Source row = 5"}},
	}},
	{name: "some of the clients", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3", "1 A-9"}, flags: "--limit 1", posts: "client 1, claim 2, activity 4, link 1", status: "done, skipped, skipped, done"},
		{flags: "--only C3@Example.com", posts: "client 1, claim 1, activity 3, link 1", status: "skipped, skipped, done, skipped",
			// What is left out this time keeps its lines in the sheet Steps.
			cells: []string{"step c1@example.com link ~ done", "step c1@example.com claim/loan/A-9 ~ done", "step c3@example.com link ~ done"}},
		{posts: "client 1, claim 1, activity 3, link 1", status: "unchanged, done, unchanged, unchanged",
			also: func(s *scene, _ played) { s.checkPromise() }},
	}},

	// Clients whom the service knows.
	{name: "existing: reuse", mapping: byAgreement("reuse", ""), nights: []sheetNight{
		{knows: knownA2, rows: []string{"1-3"}, posts: "client 2, link 3", status: "done", cells: []string{"2 contactId = <client A-2>"},
			calls: []string{"/by-email/c2%40", `!"ref":"A-2"`}},
		quiet,
	}},
	{name: "existing: skip", mapping: byAgreement("skip", ""), nights: []sheetNight{
		{knows: knownA2, rows: []string{"1-3"}, posts: "client 2, link 2", status: "done, skipped, done",
			cells: []string{"2 contactId = <client A-2>"}, calls: []string{"/by-email/c2%40", "!<client A-2>"}},
		{status: "unchanged, skipped, unchanged"},
	}},
	{name: "existing: fail", mapping: byAgreement("fail", ""), nights: []sheetNight{
		{knows: knownA2, rows: []string{"1-3"}, code: 1, posts: "client 2, link 2", status: "done, failed, done",
			cells: []string{"2 contactId = <client A-2>"}, calls: []string{"/by-email/c2%40", "!<client A-2>"}},
		{code: 1, status: "unchanged, failed, unchanged"},
	}},
	{name: "existing: create", mapping: byAgreement("create", ""), nights: []sheetNight{
		{knows: knownA2, rows: []string{"1-3"}, posts: "client 3, link 3", status: "done", calls: []string{"!/by-", `1×"ref":"A-2"`}},
		quiet,
	}},
	{name: "a known client of version 1", long: true, mapping: "name: b\napi: v1\n" + clientPart + "activities:" + detailsActivity,
		nights: []sheetNight{
			{knows: []string{"c2@example.com c2@example.com"}, rows: []string{"1-2"}, posts: "client 1, activity 2", status: "done",
				says:  []string{`"withoutLink":1,`},
				cells: []string{"2 clientId = <client c2@example.com>", "2 redirectUrl =", "2 What to do ~ redirect url"}},
		}},
	{name: "the command that a dry run names", mapping: campaign(signActivity), nights: []sheetNight{
		{rows: []string{"1 A-1"}, do: []string{"run -m MAPPING --dry-run --accept new-identity --accept new-ledger DIR/leads.xlsx → --accept new-identity --accept new-ledger"}, flags: "--dry-run"},
	}},
	{name: "unclear look-ups", mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-5"}, faults: faults{"every lookup c2@example.com": {apitest.Answer(apitest.HTML(404))}, "every lookup c3@example.com": {failed500},
			"every lookup c4@example.com": {apitest.Answer(apitest.JSON(404, `{"error":"no such path"}`))}}, code: 1, posts: stored(2), status: "done, failed, failed, failed, done"},
		{posts: stored(3), status: "unchanged, done, done, done, unchanged"},
	}},
	{name: "one id for two keys, known before", long: true, mapping: byAgreement("reuse", ""), nights: []sheetNight{
		{knows: []string{"A-2 c2@example.com"}, rows: []string{"1-2", "3 A-3; E-mail=c2@example.com"}, flags: "--concurrency 1", code: 1, posts: "client 1, link 2",
			status: "done, done, failed", errors: []string{"", "", "…A-2"}},
	}},
	{name: "two clients with one e-mail address", long: true, mapping: byAgreement("reuse", ""), nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-2; E-mail=c1@example.com"}, faults: faults{"every lookup": {notFound}}, flags: "--concurrency 1",
			dry: true, code: 1, posts: "client 1, link 1",
			errors: []string{"", "the client of the key “A-1” has the same e-mail address"},
			cells:  []string{"2 What to do = If they are one person, give the rows one client key; if not, correct the address."}},
	}},

	// Problems of the service, and of the ledger.
	{name: "the ledger is gone", mapping: creating, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, link 2"},
		{do: []string{"lose ledger.db", "lose workbook"}, dry: true, code: 3, says: []string{"[ledger-missing]"}},
		{code: 3, says: []string{"[ledger-missing]"}, also: func(s *scene, _ played) {
			if left := s.glob(".claimsheet/ledger.db"); len(left) > 0 {
				s.t.Errorf("a new ledger is there: %v", left)
			}
		}},
		{idle: true, do: []string{"history → 3 [ledger-missing]", "report → 3 [ledger-missing]", "settle → 3 [ledger-missing]", "copy-ledger --to DIR/copy.db → 3 [ledger-missing]"}},
		{flags: "--accept ledger-missing", posts: "client 2, link 2", again: true},
	}},
	{name: "a killed run has made no ledger", mapping: creating, nights: []sheetNight{
		{do: []string{"make ledger.db.lock"}, rows: []string{"1 A-1"}, posts: "client 1, link 1"},
	}},
	{name: "a damaged ledger", long: true, mapping: creating, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, link 2", also: func(s *scene, _ played) {
			data := readText(s.t, s.path(".claimsheet/ledger.db"))
			write(s.t, s.path(".claimsheet/ledger.db"), strings.Replace(data, "c2@example.com", "d2@example.com", 1))
		}},
		{idle: true, do: []string{"doctor → 3 [ledger-damaged]", "copy-ledger → 2", "copy-ledger a.db → 2", "copy-ledger --to DIR/a.db b.db → 2"}},
	}},
	{name: "the format of a probe", mapping: with(stepThree, "{email: E-mail}", "{phone: {column: Mobile, type: Phone, region: DE}}"), nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{`every lookup not ^\+49\d+$`: {apitest.Answer(apitest.JSON(400, `{}`))}}, posts: stored(2)},
	}},
	{name: "a probe is refused", mapping: with(stepThree, "{email: E-mail}", "{phone: {column: Mobile, type: Phone, format: raw}}"), nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{`every lookup not ^07911 123\d{3}$`: {apitest.Answer(apitest.JSON(400, `{}`))}}, code: 1,
			cells: []string{"1 Error ~ HTTP 400", "1 Error ~ +447700900", "1 What to do ~ invented", "1 What to do ~ not_found"}},
		{env: "not_found: {status: [404]}", faults: faults{`every lookup not ^07911 123\d{3}$`: {apitest.Answer(apitest.JSON(400, `{}`))}}, posts: stored(2), calls: []string{"!7700900"}},
	}},

	// A campaign grows.
	grown("appended", append(born, consentActivity), "“consent”"),
	grown("an open one", append(born, "\n  - {template: Handler review, assigned: true, status: Open}\n"), "no new link"),
	{name: "an activity has another id after some nights", long: true, mapping: campaign(bornActivity, signActivity), nights: []sheetNight{
		{rows: []string{"1-3"}, posts: "?"}, {mapping: campaign(signActivity), posts: "?"},
		{mapping: campaign("\n  - {template: Your details, id: birthday, attributes: {Date of birth: DOB}}\n", signActivity), dry: true, code: 2, says: []string{"[new-identity]", "“born”"}},
		{flags: "--accept new-identity", posts: "?", again: true}, {},
	}},

	// Further contacts.
	{name: "a shared contact", mapping: joint, nights: []sheetNight{
		{rows: []string{"a@ | Ann | A-1 | p@ | Poe", "b@ | Bob | B-1 | |", "b@ | Bob | B-2 | P@ | Poe", "c@ | Cid | C-1 | q@ |"},
			dry: true, flags: "--concurrency 1",
			posts: "client 5, claim 4, activity 4, link 3", status: "done", cells: []string{"step a@example.com contact/email/p@example.com = done <client p@example.com>",
				"step b@example.com contact/email/p@example.com = done <client p@example.com>"},
			calls: []string{`1×POST /funnel/v2/contacts {"email":"p@`, `
POST /funnel/v2/contacts?isAdministrator=true {"email":"a@example.com","firstName":"Ann"}
GET /funnel/v2/contacts/by-email/p%40example.com
POST /funnel/v2/contacts {"email":"p@example.com","firstName":"Poe"}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT2","CLIENT3"],"claimName":"Loan A-1"}
`}},
		{status: "unchanged", cells: []string{"2 contacts =", "3 contacts = partner: <client p@example.com>"}},
		{do: []string{"lose ledger"}, rerun: true, flags: "--yes", status: "unchanged"},
	}},
	{name: "an activity on a contact", mapping: with(joint, "activities:\n", "link: never\nactivities:\n  - {template: Your details, on: partner, attributes: {Home address: Partner name}}\n"), nights: []sheetNight{
		{rows: []string{"a@ | Ann | A-1 | |", "b@ | Bob | B-1 | p@ | Poe", "c@ | Cid | C-1 | P@ | Poe", "d@ | Dot | D-1 | p@ | Poe", "e@ | Eve | E-1 | q@ | Quo"}, flags: "--dry-run",
			says: []string{`"requests":{"client":7,"claim":5,"activity":7,"link":0,"lookup":8,"templates":1}`}},
		{faults: faults{`every with "stringValue":"Quo"`: {dropped}}, flags: "--concurrency 1", code: 4, posts: "client 7, claim 5, activity 7",
			status: "done, done, done, done, uncertain",
			says:   []string{`"requests":{"client":7,"claim":5,"activity":7,"link":0,"lookup":8,"templates":1}`, `"withoutLink":0,`}, calls: []string{`1×"Poe"}]`},
			cells: []string{"5 Failed step = activity/Your details@contact/email/q@example.com"}},
		{do: []string{"settle --created q@example.com:activity/Your·details@contact"},
			rows:  []string{"f@ | Fay | F-1 | p@ | Poe", "e@ | Eve | E-1 | q@ | Quo"},
			posts: "client 1, claim 1, activity 1"},
		{do: []string{"lose ledger"}, rerun: true, flags: "--yes"},
		{},
	}},
	failedContact("refused", refused422, 1, "failed"),
	failedContact("uncertain", failed500, 4, "uncertain", "settle --not-created P@example.com:client", "settle --undo p@example.com:client", "settle --not-created p@example.com:client"),
	{name: "a contact in doubt", long: true, mapping: with(joint, "key: E-mail\n", "key: First name\n"), ways: everyWay, orders: true,
		nights: []sheetNight{
			{rows: []string{"a@ | L1 | A-1 | p@ | Poe"}, doubt: "client p@example.com"},
			{rows: []string{"a@ | L1 | A-1 | p@ | Poe", "p@ | L9 | P-1 | |"}, flags: "--max-failures 100%", code: 1, posts: "claim 1, activity 1, link 1",
				status: "done, failed", cells: []string{"2 contactId ="}},
		}},
	{name: "the name of a contact", long: true,
		mapping: with(joint, "    key: Partner\n    lookup: {email: Partner}\n", "    key: Partner name\n    lookup: {email: Partner}\n"),
		nights: []sheetNight{
			{rows: []string{"a@ | Ann | A-1 | p@ | Poe Lee", "b@ | Bob | B-1 | p@ | Poe Lee"},
				faults: faults{"client p@example.com": {dropped}, "every lookup": {notFound}}, code: 4, posts: "client 3",
				cells: []string{"1 Failed step = contact/joint:partner/Poe Lee", "step a@example.com contact/joint:partner/Poe Lee ~ "}},
			{do: []string{"settle → 4 client of the client Poe Lee, a contact “partner”\n", "settle --give-up Poe·Lee:client", "settle --undo Poe·Lee:client",
				"settle --created <client p@example.com> Poe·Lee:client"}, posts: "claim 2, activity 2, link 2"},
			{do: []string{"lose ledger"}, rerun: true, flags: "--yes", status: "unchanged",
				cells: []string{"step a@example.com contact/joint:partner/Poe Lee ~ "}},
		}},
	{name: "a contact is erased", long: true, mapping: joint, nights: []sheetNight{
		{rows: []string{"a@ | Ann | A-1 | p@ | Poe"}, posts: "client 2, claim 1, activity 1, link 1"},
		{do: []string{"history --forget p@example.com --yes"},
			rows:  []string{"a@ | Ann | A-1 | p@ | Poe", "a@ | Ann | A-2 | p@ | Poe", "b@ | Bob | B-1 | |"},
			posts: "client 1, claim 1, activity 1, link 1", status: "skipped, skipped, done", cells: []string{"1 claimIds = <claim broker@example.com/Loan A-1>", "2 What to do ~ the contact “partner” was erased"}, also: func(s *scene, _ played) {
				for _, file := range s.glob(".claimsheet/ledger.db*") {
					if strings.Contains(readText(s.t, file), "p@example.com") {
						s.t.Errorf("%s holds the address of the erased contact", file)
					}
				}
			}},
	}},
}

// idsKnown is stepThree with ids of clients and claims that the sheet may give.
var (
	contactIDs = with(stepThree, "  key: E-mail\n", "  key: E-mail\n  known_id: Contact ID\n")
	idsKnown   = with(contactIDs, "key: Agreement no,", "key: Agreement no, known_id: Claim ID,")
)

// mappingChanged is how the line begins that says, once, that the mapping made what is done differ.
const mappingChanged = "the mapping now asks for something other than what was sent"

// failedContact is a case in which a contact of two clients is not created; another claim of one of them goes on. After
// commands the next night does the rest.
func failedContact(name string, f apitest.Fault, code int, status string, do ...string) nightCase {
	return nightCase{name: "a contact is " + name, mapping: joint, nights: []sheetNight{
		{rows: []string{"a@ | Ann | A-1 | p@ | Poe", "a@ | Ann | A-2 | |", "b@ | Bob | B-1 | p@ | Poe"},
			faults: faults{"every client p@example.com": {f}}, flags: "--max-failures 100%",
			code: code, posts: "client 3, claim 1, activity 1", calls: []string{`1×{"email":"p@example.com"`}, status: status + ", not started, " + status,
			cells: []string{"1 Failed step = contact/email/p@example.com", "1 claimIds =", "2 Failed step =", "2 claimIds = <claim broker@example.com/Loan A-2>",
				"3 Failed step = contact/email/p@example.com", "3 claimIds ="}},
		{do: do, posts: "client 1, claim 2, activity 2, link 2"},
	}}
}

// taken creates a thing and answers with what another has.
func taken(answer string) apitest.Fault { return apitest.CreateThen(apitest.JSON(201, answer)) }

// knownA2 is a client whom the service knows.
var knownA2 = []string{"A-2 C2@example.com +447911123002"}

// campaign is a mapping of version 2 over the scenes' sheet with these activities, in this order.
func campaign(activities ...string) string {
	return `
name: campaign
api: v2
sheet: {timezone: Europe/London}
` + clientPart + `
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
activities:` + strings.Join(activities, "")
}

// The first three back-fill one template.
const (
	bornActivity    = "\n  - {template: Your details, id: born, attributes: {Date of birth: DOB}}\n"
	consentActivity = "\n  - {template: Your details, id: consent, attributes: {Consent to contact: Opt in}}\n"
	signActivity    = "\n  - {template: Sign your claim, status: Open}\n"
)

// born are the activities of a campaign before it grows.
var born = []string{bornActivity, agreementActivity, signActivity}

// grown is a case in which a mapping that has run for some clients gets one more activity.
func grown(name string, then []string, says string) nightCase {
	return nightCase{name: "grown: " + name, long: true, mapping: campaign(born...), nights: []sheetNight{
		{rows: []string{"1-5"}, posts: "client 5, claim 5, activity 15, link 5"},
		{mapping: campaign(then...), dry: true, again: true, calls: []string{"!/by-"}, says: []string{"[grown]", says, "5 known clients"}, posts: "activity 5"},
		{says: []string{"![grown]"}},
	}}
}
