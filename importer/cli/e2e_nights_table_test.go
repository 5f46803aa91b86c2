package cli_test

import (
	"fmt"
	"strings"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger"
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

// byLead keys clients by a column of the sheet's own, so that two of them can have one
// address.
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

// The leads L1 and L2 have one e-mail address; that of L1 is corrected later.
const (
	l1          = "1 A-1; First name=L1"
	l2          = "2 A-2; First name=L2; E-mail=c1@example.com"
	l1Corrected = "1 A-1; First name=L1; E-mail=right@example.com"
	l1More      = "1 A-9; First name=L1"
)

var (
	byLeadV1     = "name: m\napi: v1\n" + clientPart
	created500   = apitest.CreateThen(apitest.JSON(500, `{}`))
	failed500    = apitest.Answer(apitest.JSON(500, `{}`))
	unknown404   = apitest.Answer(apitest.JSON(404, `{}`))
	forbidden403 = apitest.Answer(apitest.JSON(403, `{}`))
	refused422   = apitest.Answer(apitest.JSON(422, `{}`))
	conflict409  = apitest.Answer(apitest.JSON(409, `{}`))
	lagging      = faults{"every lookup": {notFound}}
	notCreated   = []string{"not created"}
)

// underAnotherName writes an environments file in which the service has another name.
func underAnotherName(s *scene, _ played) {
	write(s.t, s.path("environments.yaml"), "default: other\nenvironments: {other: {base_url: '"+s.url+"', case_id: "+caseID+"}}\n")
}

var nightCases = []nightCase{
	// Whose an address is while a creation is in doubt.
	{name: "an address in doubt", mapping: byLead, ways: everyWay, orders: true, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1, l2}, dry: true, code: 1, steps: []string{"claim L1/A-1", "link L1"}, posts: "claim 1, link 1", status: "done, failed",
			errors: []string{"", "…“L1”"}, cells: []string{"2 contactId ="}},
		{rows: []string{l2, l1}, dry: true, code: 1, status: "failed, unchanged", errors: []string{"…“L1”", ""}, cells: []string{"2 contactId = <client L1>"}},
	}},
	{name: "an address in doubt whose row is gone", long: true, mapping: byLead, ways: everyWay, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l2}, dry: true, code: 1, status: "failed", errors: []string{"…“L1”"}, cells: []string{"1 contactId =", "1 What to do ~ claimsheet settle"}},
		{do: []string{"settle --created <client L1> L1:client"}, rows: []string{l2, l1}, dry: true, code: 1, posts: "claim 1, link 1",
			steps: []string{"claim L1/A-1", "link L1"}, status: "failed, done", errors: []string{"…“L1”", ""}, cells: []string{"2 contactId = <client L1>"}},
	}},
	{name: "an address in doubt, settled as not created", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1, l2}, dry: true, code: 4, status: "uncertain, failed"},
		{do: []string{"settle --not-created L1:client"}, dry: true, code: 1, posts: "client 1, claim 1, link 1", steps: []string{"client L1", "claim L1/A-1", "link L1"}},
	}},
	{name: "an address in doubt, settled as not created, the newcomer above", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l2, l1}, dry: true, code: 4, status: "failed, uncertain"},
		{do: []string{"settle --not-created L1:client"}, dry: true, code: 1, posts: "client 1, claim 1, link 1", steps: []string{"client L2", "claim L2/A-2", "link L2"}},
	}},
	{name: "an address in doubt, settled as not created, the newcomer alone", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l2}, dry: true, code: 1, status: "failed"},
		{do: []string{"settle --not-created L1:client"}, dry: true, posts: "client 1, claim 1, link 1", steps: []string{"client L2", "claim L2/A-2", "link L2"}},
	}},
	{name: "the address of a client who is done", long: true, mapping: byLead, orders: true, phones: true, nights: []sheetNight{
		{rows: []string{l1}, posts: "client 1, claim 1, link 1"},
		{rows: []string{l1, l2, l1More}, dry: true, code: 1, posts: "claim 1", steps: []string{"claim L1/A-9"}, status: "unchanged, failed, done", errors: []string{"", "…“L1”", ""}},
		{dry: true, code: 1, status: "unchanged, failed, unchanged", errors: []string{"", "…“L1”", ""}},
		{rows: []string{l2}, dry: true, code: 1, status: "failed", errors: []string{"…“L1”"}},
	}},
	{name: "the address of a client who has a claim in doubt", long: true, mapping: byLead, ways: everyWay, orders: true, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "claim L1/A-1"},
		{rows: []string{l1, l2, l1More}, dry: true, code: 4, status: "uncertain, failed, uncertain", errors: []string{"…", "…“L1”", "…"}},
		{dry: true, code: 4, status: "uncertain, failed, uncertain", errors: []string{"…", "…“L1”", "…"}},
		{rows: []string{l2}, dry: true, code: 1, status: "failed", errors: []string{"…“L1”"}},
	}},
	{name: "an id in doubt that another client has", long: true, mapping: byLead, ways: append(notCreated, everyWay...), orders: true, nights: []sheetNight{
		{rows: []string{l1}, posts: "client 1, claim 1, link 1"},
		{rows: []string{l1, "2 A-2; First name=L2"}, doubt: "client L2"},
		{faults: faults{"every lookup c2@example.com": {apitest.Answer(apitest.JSON(200, `{"contactId":"<client L1>"}`))}},
			rows: []string{l1, "2 A-2; First name=L2"}, dry: true, code: 4, status: "unchanged, uncertain", errors: []string{"", "…“L1”"}, cells: []string{"2 contactId ="}},
		{faults: faults{"every lookup c2@example.com": {apitest.Answer(apitest.JSON(200, `{"contactId":"<client L1>"}`))}},
			rows: []string{"2 A-2; First name=L2"}, dry: true, code: 4, status: "uncertain", errors: []string{"…“L1”"}, cells: []string{"1 contactId ="}},
	}},
	{name: "a creation that shows late in the same run", long: true, mapping: byLead, workers: true, nights: []sheetNight{
		{rows: []string{l1, l2}, faults: faults{"client L1": {created500}, "lookup c1@example.com": {notFound, notFound, notFound, notFound}},
			code: 4, posts: "client 1", status: "uncertain, failed", cells: []string{"2 contactId ="}},
	}},
	{name: "a creation that shows late in the same run, one worker", long: true, mapping: byLead, nights: []sheetNight{
		{rows: []string{l1, l2}, faults: faults{"client L1": {created500}, "lookup c1@example.com": {notFound, notFound, notFound, notFound}},
			flags: "--concurrency 1", code: 4, posts: "client 1", status: "uncertain, failed", cells: []string{"2 contactId ="}},
	}},
	{name: "two creations in doubt with one address", long: true, mapping: byLead, ways: everyWay, orders: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{idle: true, also: doubtsL2},
		{rows: []string{l1, l2}, dry: true, code: 4, posts: "claim 1, link 1", steps: []string{"claim L1/A-1", "link L1"}, status: "done, uncertain", errors: []string{"", "…“L1”"}},
	}},
	{name: "a shared address, the link refused", mapping: byAgreement("reuse", ""), workers: true, nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-2; E-mail=c1@example.com"}, faults: faults{"every lookup": {notFound}, "link A-1": {refused422}}, code: 1, posts: "client 1, link 1", status: "failed, failed"},
	}},
	{name: "a shared address, busy, then uncertain", long: true, mapping: byAgreement("reuse", ""), workers: true, nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-2; E-mail=c1@example.com"}, faults: faults{"every lookup": {notFound}, "client A-1": {apitest.Busy(429, 0), created500}},
			code: 4, posts: "client 2", status: "uncertain, failed"},
	}},
	{name: "a shared address, a conflict", long: true, mapping: byAgreement("reuse", ""), workers: true, nights: []sheetNight{
		{rows: []string{"1 A-1", "2 A-2; E-mail=c1@example.com"}, faults: faults{"every lookup": {notFound}, "every client A-1": {conflict409}},
			code: 4, posts: "client 1", status: "uncertain, failed"},
	}},
	{name: "a shared phone number", long: true, mapping: byAgreement("reuse", ""), nights: []sheetNight{
		{rows: []string{"1-4", "5 A-5; E-mail=; Mobile=07911 123002", "6 A-6"}, dry: true, code: 1, posts: "client 5, link 5", status: "done, done, done, done, failed, done"},
	}},
	{name: "a lost ledger after refusals", long: true, mapping: byAgreement("reuse", ""), nights: []sheetNight{
		{rows: []string{"1-8"}, posts: "client 8, link 8"},
		{do: []string{"lose ledger", "lose workbook"}, mapping: byAgreement("fail", ""), code: 1},
		{mapping: byAgreement("reuse", ""), code: 3},
	}},
	{name: "refusals in a row count only without a success between them", mapping: byAgreement("skip", ""), nights: []sheetNight{
		{rows: []string{"1-30"}, knows: knownLeads(30), flags: "--concurrency 1", code: 1, faults: faults{"lookup c5@example.com": {forbidden403},
			"lookup c15@example.com": {forbidden403}, "lookup c25@example.com": {forbidden403}}, says: []string{`"skipped":27,`, `"failed":3,`}},
	}},
	{name: "doubts are counted by step", long: true, mapping: stepThree, env: "repeatable: [link]", nights: []sheetNight{
		{rows: []string{"1-6"}, faults: faults{"every link c1@example.com": {created500}, "every link c2@example.com": {created500}}, flags: "--concurrency 2",
			code: 4, posts: "?", status: "uncertain, uncertain, done, done, done, done", again: true},
	}},

	// The address was corrected since.
	{name: "corrected, created", long: true, mapping: byLead, ways: everyWay, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1Corrected}, dry: true, posts: "claim 1, link 1", steps: []string{"claim L1/A-1", "link L1"}, status: "changed", errors: []string{"…“"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, status: "changed"},
	}},
	{name: "corrected, created long ago", long: true, mapping: byLead, ways: everyWay[1:], phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, rows: []string{l1Corrected}, dry: true, posts: "claim 1, link 1", steps: []string{"claim L1/A-1", "link L1"}, status: "changed", errors: []string{"…“"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, status: "changed"},
	}},
	{name: "corrected, created, and another is known", long: true, mapping: byLead, ways: everyWay, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{knows: []string{"other right@example.com +447911999999"}, rows: []string{l1Corrected}, dry: true, code: 4, status: "uncertain", errors: []string{"…the corrected one"},
			cells: []string{"1 Error ~ <client other>"}, calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, code: 4, status: "uncertain", errors: []string{"…the corrected one"}},
	}},
	{name: "corrected, not created", long: true, mapping: byLead, ways: notCreated, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1Corrected}, dry: true, code: 4, status: "uncertain", errors: []string{"…finds nobody yet"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{knows: []string{"other right@example.com +447911999999"}, dry: true, code: 4, status: "uncertain", errors: []string{"…finds nobody yet"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, code: 4, status: "uncertain", errors: []string{"…finds nobody yet"}},
	}},
	{name: "corrected, not created long ago", long: true, mapping: byLead, ways: notCreated, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, rows: []string{l1Corrected}, dry: true, posts: "client 1, claim 1, link 1", steps: []string{"client L1", "claim L1/A-1", "link L1"}, status: "done",
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, status: "unchanged"},
	}},
	{name: "corrected, not created long ago, and another is known", long: true, mapping: byLead, ways: notCreated, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, knows: []string{"other right@example.com +447911999999"}, rows: []string{l1Corrected}, dry: true, posts: "claim 1, link 1",
			steps: []string{"claim other/A-1", "link other"}, status: "changed", errors: []string{"…“"},
			calls: []string{"/by-email/c1%40example.com", "/by-email/right%40example.com"}},
		{dry: true, status: "changed"},
	}},
	{name: "corrected, settled as created", mapping: byLead, ways: everyWay, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1Corrected}, faults: lagging, code: 4},
		{do: []string{"settle --created <client L1> L1:client"}, dry: true, posts: "claim 1, link 1", steps: []string{"claim L1/A-1", "link L1"}},
	}},
	{name: "corrected, settled as not created", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{rows: []string{l1Corrected}, faults: lagging, code: 4},
		{do: []string{"settle --not-created L1:client"}, dry: true, posts: "client 1, claim 1, link 1", steps: []string{"client L1", "claim L1/A-1", "link L1"}},
	}},
	{name: "the address before the correction", long: true, mapping: byLead, ways: everyWay, orders: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, rows: []string{l1Corrected}, faults: faults{"every lookup c1@example.com": {forbidden403}}, code: 4},
		{rows: []string{l1Corrected, l2}, dry: true, code: 1, posts: "claim 1, link 1", steps: []string{"claim L1/A-1", "link L1"}, status: "changed, failed", errors: []string{"…", "…“L1”"}},
	}},
	{name: "the address before the correction, the newcomer alone", long: true, mapping: byLead, ways: everyWay, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, rows: []string{l1Corrected}, faults: faults{"every lookup c1@example.com": {forbidden403}}, code: 4},
		{rows: []string{l2}, dry: true, code: 1, status: "failed", errors: []string{"…“L1”"}},
	}},
	{name: "the address is emptied, created", long: true, mapping: byLead, ways: everyWay, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, rows: []string{"1 A-1; First name=L1; E-mail=; Mobile="}, dry: true, posts: "claim 1, link 1", steps: []string{"claim L1/A-1", "link L1"}},
		{dry: true},
	}},
	{name: "the address is emptied, not created", long: true, mapping: byLead, ways: notCreated, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{ripe: true, rows: []string{"1 A-1; First name=L1; E-mail=; Mobile="}, dry: true, code: 4},
		{dry: true, code: 4},
	}},
	{name: "a phone number in the national format", long: true, mapping: sendingPhones("national"), ways: notCreated, orders: true, nights: phoneNights},
	{name: "a phone number in the international format", long: true, mapping: sendingPhones("international"), ways: notCreated, orders: true, nights: phoneNights},
	{name: "a phone number in the format e164", long: true, mapping: sendingPhones("e164"), ways: notCreated, orders: true, nights: phoneNights},

	// The base url of the service.
	{name: "a base url is spelt otherwise, version 1", long: true, mapping: byLeadV1, nights: append([]sheetNight{{rows: []string{"1-2"}, posts: "client 2"}}, spellings...)},
	{name: "a base url is spelt otherwise, version 2", long: true, mapping: stepThree,
		nights: append([]sheetNight{{rows: []string{"1-2"}, posts: "client 2, claim 2, activity 6, link 2"}}, spellings...)},
	{name: "a ledger has another spelling of the base url", long: true, mapping: "name: links\napi: v2\n" + clientPart, nights: []sheetNight{
		{rows: []string{"1 A-1"}, flags: "--dry-run"},
		{idle: true, also: otherSpelling},
		{dry: true, status: "unchanged", calls: []string{"!GET"}},
		{status: "unchanged", calls: []string{"!GET"}},
	}},
	{name: "an address in doubt under another spelling of the base url", long: true, mapping: byLead, ways: everyWay, orders: true, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{at: "spelling 3", rows: []string{l1, l2}, dry: true, code: 1, posts: "claim 1, link 1", steps: []string{"claim L1/A-1", "link L1"}, status: "done, failed", errors: []string{"", "…“L1”"}},
		{at: "spelling 1", dry: true, code: 1, status: "unchanged, failed", errors: []string{"", "…“L1”"}},
	}},
	{name: "an address in doubt at another base url", long: true, mapping: byLead, ways: everyWay, orders: true, phones: true, nights: []sheetNight{
		{rows: []string{l1}, doubt: "client L1"},
		{at: "second", rows: []string{l1, l2}, dry: true, code: 3, says: []string{"--accept same-service"}},
		{dry: true, flags: "--accept same-service", code: 4, status: "uncertain, failed", errors: []string{"…", "…“L1”"}},
		{dry: true, code: 4, status: "uncertain, failed", errors: []string{"…", "…“L1”"}},
	}},
	{name: "a base url changes, version 1", long: true, mapping: byLeadV1, workers: true, nights: movedNights("client 3")},
	{name: "a base url changes, version 2", long: true, mapping: stepThree, workers: true, nights: movedNights("client 3, claim 3, activity 9, link 3")},
	{name: "a service moves", mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"link c3@example.com": {created500}}, code: 4, posts: "client 3, claim 3, activity 9, link 3"},
		{idle: true, do: []string{"history --yes --forget c2@example.com"}},
		{at: "second", flags: "--accept same-service", code: 4},
		{do: []string{"settle --created https://example.com/found link"}, status: "unchanged, skipped, unchanged"},
		{rerun: true},
	}},
	{name: "commands at a base url that no run knows", long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, faults: faults{"link c3@example.com": {created500}}, code: 4, posts: "client 3, claim 3, activity 9, link 3"},
		{idle: true, at: "second", do: []string{"settle → 3 [service-changed]", "settle --give-up link → 3 [service-changed]", "history → 3 [service-changed]",
			"history c1@example.com → 3 [service-changed]", "history --yes --forget c1@example.com → 3 [service-changed]", "link c1@example.com → 3 [service-changed]",
			"report → 3 [service-changed]"}},
		{flags: "--accept new-service", posts: "client 3, claim 3, activity 9, link 3"},
		{idle: true, do: []string{"settle → nothing is uncertain"}},
		{idle: true, at: "first", do: []string{"settle → 4 c3@example.com"}},
	}},
	{name: "a workbook from before the move", long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1-3"}, posts: "client 3, claim 3, activity 9, link 3"},
		{at: "second", do: []string{"lose ledger"}, rerun: true, flags: "--yes", code: 2, says: []string{"put the base url back", "!run the sheet itself"}},
		{at: "first", rerun: true, flags: "--yes"},
	}},
}

// doubtsL2 writes into the ledger that L2 may have been created with the address of L1.
func doubtsL2(s *scene, _ played) {
	s.remember(ledger.StepID{ClientKey: ledger.ClientKey{Environment: s.url, Space: "by-lead", Client: "L2"}, Step: "client"},
		ledger.Event{To: ledger.Intent, Kind: ledger.KindClient, Digest: "d",
			Data: []byte(`{"mapping":"by-lead","values":[{"name":"email","field":"stringValue","value":"c1@example.com"}],` +
				`"lookup":{"email":"c1@example.com","asked":["email c1@example.com"]},"addresses":["email c1@example.com"]}`)},
		ledger.Event{To: ledger.Uncertain})
}

// otherSpelling writes into the ledger that a client is done, under another spelling of the
// base url.
func otherSpelling(s *scene, _ played) {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: s.spelled()[0], Space: "email", Client: "c1@example.com"}, Step: "client"}
	done := ledger.Event{To: ledger.Done, Via: ledger.ViaAnswer}
	s.remember(id, ledger.Event{To: ledger.Intent, Kind: ledger.KindClient, ID: "c-1"}, done)
	id.Mapping, id.Step = "links", "link"
	s.remember(id, ledger.Event{To: ledger.Intent, Kind: ledger.KindLink, URL: "https://example.com/l"}, done)
}

// knownLeads are the first clients of leads, keyed by agreement, as sheetNight.knows has them.
func knownLeads(n int) (list []string) {
	for _, row := range leads(n) {
		list = append(list, fmt.Sprint(row[6], " ", row[0]))
	}
	return list
}

// sendingPhones is byLead with a format in which phone numbers are sent.
func sendingPhones(format string) string {
	return with(byLead, "    phone: {column: Mobile, type: Phone, region: GB}", "    phone: {column: Mobile, type: Phone, region: GB, format: "+format+"}")
}

// phoneNights: L1, who may have been created, is known by the e-mail address; L2 comes with
// the phone number of L1 and no e-mail address.
var phoneNights = []sheetNight{
	{rows: []string{l1}, doubt: "client L1"},
	{rows: []string{l1, "2 A-2; First name=L2; E-mail=; Mobile=07911 123001"}, dry: true, code: 4, status: "uncertain, failed", errors: []string{"…", "…“L1”"}},
	{rows: []string{"2 A-2; First name=L2; E-mail=; Mobile=07911 123001"}, dry: true, code: 1, status: "failed", errors: []string{"…“L1”"}},
}

// spellings are nights in which nothing is sent, however the base url is spelt.
var spellings = []sheetNight{
	{at: "spelling 0", dry: true, status: "unchanged", also: underAnotherName}, {dry: true, status: "unchanged"},
	{at: "spelling 1", dry: true, status: "unchanged", also: underAnotherName}, {dry: true, status: "unchanged"},
	{at: "spelling 2", dry: true, status: "unchanged", also: underAnotherName}, {dry: true, status: "unchanged"},
	{at: "spelling 3", dry: true, status: "unchanged", also: underAnotherName}, {dry: true, status: "unchanged"},
	{at: "spelling 4", dry: true, status: "unchanged", also: underAnotherName}, {dry: true, status: "unchanged"},
	{at: "spelling 5", dry: true, status: "unchanged", also: underAnotherName}, {dry: true, status: "unchanged"},
}

// movedNights: under the same name of an environment there may be the same service at another
// address, or another service.
func movedNights(posts string) []sheetNight {
	both := []string{"--accept same-service", "--accept new-service"}
	return []sheetNight{
		{rows: []string{"1-3"}, posts: posts},
		{at: "second", dry: true, code: 3, says: both},
		{flags: "--accept new-ledger", code: 3, says: both},
		{flags: "--accept new-identity", code: 3, says: both},
		{idle: true, do: []string{"doctor -m MAPPING → 3 fail  ledger: the base url was <service first>"}},
		{flags: "--accept same-service", dry: true, status: "unchanged"},
		{do: []string{"doctor -m MAPPING → !  ledger: "}, status: "unchanged"},
		{at: "first", status: "unchanged"},
		{at: "second", status: "unchanged"},
		{at: "third", code: 3},
		{flags: "--accept new-service", dry: true, posts: posts, status: "done"},
		{status: "unchanged"},
		{at: "second", code: 3},
		{flags: "--accept same-service", code: 2, says: []string{"service-known"}},
		{flags: "--accept same-service --accept new-service", code: 2},
	}
}
