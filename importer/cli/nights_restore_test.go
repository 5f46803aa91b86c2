package cli_test

import (
	"fmt"

	"claimsheet/apiclient/apitest"
)

// creating is a mapping without look-ups: every client is created.
const creating = "name: m\napi: v2\nclient:\n  key: E-mail\n  existing: create\n  fields: {email: {column: E-mail, type: Email}}\n"

// freshLinks is a mapping in which a known client gets a fresh link with a new claim.
const freshLinks = "name: loans\napi: v2\n" + clientPart + "claims: [{id: loan, key: Agreement no, name: \"Loan {Agreement no}\"}]\nlink: on_new_claim\n"

// The bodies of mappings whose names change.
const (
	v2Details = "\napi: v2\n" + clientPart + "workflow: {name: Batch, template_identifier: WF-1}\nactivities:" + detailsActivity
	v2Claims  = "\napi: v2\n" + clientPart + "claims: [{key: Agreement no, name: \"{Agreement no}\"}]\n"
)

// stored is what a lead of stepThree makes, n times.
func stored(n int) string {
	return fmt.Sprintf("client %d, claim %[1]d, activity %d, link %[1]d", n, 3*n)
}

// restoreCases are the cases of TestNights in which the ledger is lost, older or that of another place, or the mapping
// has another name.
var restoreCases = []nightCase{
	// A ledger that is new, though the service knows clients of the sheet.
	lostLedger(4, 4, ""), lostLedger(5, 2, ""), lostLedger(5, 3, "3 of the first 5"), lostLedger(25, 10, ""), lostLedger(25, 11, "11 of the first 20"),

	// The workbook in the place of the new one is of a run that the ledger does not know.
	behind("created, lost", "", "lose ledger"), behind("older", "", "restore backup"), behind("in doubt, lost", "link c2@example.com", "lose ledger"),
	{name: "a new ledger beside a workbook", mapping: creating, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, link 2"},
		{do: []string{"lose ledger"}, dry: true, flags: "--accept new-ledger", posts: "client 2, link 2", again: true},
		quiet,
	}},
	{name: "an older ledger learns from the workbook", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{rows: []string{"1-4"}, faults: faults{"activity c2@example.com Your details": {apitest.Answer(apitest.JSON(400, `{}`))}, "client c3@example.com": {apitest.Answer(apitest.JSON(400, `{}`))},
			"activity c4@example.com/Loan A-4 Agreement details": {created500}}, code: 4, posts: "?"},
		{do: []string{"save copy"}, code: 4, posts: "?"},
		{do: []string{"restore copy"}, code: 3},
		{rerun: true, flags: "--yes", code: 4, status: "unchanged, unchanged, unchanged, uncertain"},
	}},
	{name: "a run was killed and its ledger is lost", long: true, mapping: stepThree, ways: []string{"killed"}, orders: true, nights: []sheetNight{
		// The workbook of the night before says that a later run began; what that run created is unknown.
		{rows: []string{"1-2"}, posts: stored(2)},
		{rows: []string{"1-2", "8 A-8", "9 A-9"}, doubt: "claim c8@example.com/Loan A-8"},
		{do: []string{"lose ledger", "rerun -m MAPPING --yes DIR/leads.results.xlsx → 3 --accept lost-run", "rerun -m MAPPING --yes --dry-run DIR/leads.results.xlsx → 3 --accept lost-run",
			"rerun -m MAPPING --yes --accept new-ledger DIR/leads.results.xlsx → 3 --accept lost-run"}, flags: "--dry-run", code: 3},
		{code: 3},
		{idle: true, do: []string{"rerun -m MAPPING --yes --accept lost-run DIR/leads.results.xlsx"}},
	}},

	// Report has written the workbook of a run that was killed: the ledger knows all that it says.
	{name: "a killed run is reported", mapping: stepThree, ways: []string{"killed"}, nights: []sheetNight{
		{rows: []string{"1-2"}, doubt: "claim c2@example.com/Loan A-2"},
		{do: []string{"report"}, dry: true, code: 4, posts: "?"},
	}},
	{name: "a killed run is reported after another", long: true, mapping: stepThree, ways: []string{"killed"}, nights: []sheetNight{
		{input: "first.xlsx", rows: []string{"1 A-1"}, posts: stored(1)},
		{input: "second.xlsx", rows: []string{"1-2"}, doubt: "claim c2@example.com/Loan A-2"},
		{do: []string{"report"}, input: "third.xlsx", rows: []string{"1-2"}, dry: true, code: 4, posts: "?"},
		{input: "second.xlsx", rows: []string{"1-2"}, dry: true, code: 4, posts: "?"},
	}},

	// Each night has a sheet, and so a workbook, of its own name.
	{name: "a backup is restored, and the workbooks of two nights are run again", long: true, mapping: stepThree, ways: everyWay, orders: true, nights: []sheetNight{
		{input: "first.xlsx", rows: []string{"1 A-1"}, posts: stored(1)},
		{do: []string{"save backup"}, input: "second.xlsx", rows: []string{"1-4"}, doubt: "claim c2@example.com/Loan A-2"},
		{code: 4, posts: "?"}, // a run that was killed has no workbook
		{input: "third.xlsx", rows: []string{"9 A-9", "1-4"}, code: 4, posts: stored(1)},
		{idle: true, do: []string{"restore backup", "rerun -m MAPPING --yes DIR/second.results.xlsx → 3 third.results.xlsx",
			"rerun -m MAPPING --yes --dry-run DIR/second.results.xlsx → 3 third.results.xlsx",
			"rerun -m MAPPING --yes --dry-run DIR/third.results.xlsx → 3 [dry-run-ledger]",
			"rerun -m MAPPING --yes DIR/third.results.xlsx → 3 second.results.xlsx", "run -m MAPPING DIR/third.xlsx → 3 second.results.xlsx",
			"rerun -m MAPPING --yes DIR/third.results.xlsx → 3 second.results.xlsx",
			"rerun -m MAPPING --yes DIR/second.results.xlsx → 4",
			"rerun -m MAPPING --yes --dry-run DIR/third.results.xlsx → 4", "rerun -m MAPPING --yes --dry-run DIR/second.results.xlsx → 4"}},
		{input: "second.xlsx", rows: []string{"1-4"}, code: 4}, {input: "third.xlsx", rows: []string{"9 A-9", "1-4"}, code: 4},
	}},
	{name: "a restore is noticed", long: true, mapping: stepThree, promise: true, nights: []sheetNight{
		{input: "first.xlsx", rows: []string{"1 A-1"}, posts: stored(1)},
		{do: []string{"save backup"}, input: "second.xlsx", rows: []string{"1-2"}, posts: stored(1)},
		{do: []string{"restore backup"}, input: "leads.xlsx", rows: []string{"1-3"}, flags: "--dry-run", code: 3, says: []string{"[lost-run]"}},
		{code: 3, says: []string{"[lost-run]"}},
		{do: []string{"rerun -m MAPPING --yes DIR/second.results.xlsx"}, posts: stored(1)},
	}},
	{name: "workbooks disagree on a state", long: true, mapping: stepThree, nights: []sheetNight{
		{input: "second.xlsx", rows: []string{"1-2"}, faults: faults{"link c2@example.com": {created500}}, code: 4, posts: "?"},
		{do: []string{"settle --created https://example.com/found link"}, input: "third.xlsx", rows: []string{"1-2"}},
		{idle: true, do: []string{"lose ledger", "rerun -m MAPPING --yes DIR/third.results.xlsx", "rerun -m MAPPING --yes DIR/second.results.xlsx"}},
		{cells: []string{"2 redirectUrl = https://example.com/found"}}, // done in the newer one
	}},

	// The mapping is renamed.
	renamedMapping("activities", v2Details, ""), renamedMapping("a claim, in doubt", v2Claims, "claim c1@example.com/A-1"),
	{name: "renamed mapping: one more activity", long: true, mapping: "name: night" + v2Details, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, activity 2, link 2"},
		{mapping: with("name: evening"+v2Details, "activities:", "activities:\n  - {template: Handler review, assigned: true, status: Open}"), rows: []string{"1-3"},
			dry: true, code: 2, says: []string{"“night”", "--accept new-identity"}},
	}},
	{name: "renamed mapping: a claim, given up", long: true, mapping: "name: night" + v2Claims, nights: []sheetNight{
		{rows: []string{"1 A-1"}, faults: faults{"claim": {dropped}}, code: 4, posts: "?"},
		{do: []string{"settle --give-up claim/claim/A-1"}, mapping: "name: evening" + v2Claims, dry: true, code: 2, says: []string{"“night”", "--accept new-identity"}},
	}},
	{name: "another campaign is no renaming", long: true, mapping: "name: night" + v2Details, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, activity 2, link 2"},
		{mapping: "name: others" + v2Details, rows: []string{"8 A-8"}, posts: "client 1, activity 1, link 1"},
		{mapping: with("name: more"+v2Details, detailsActivity, "\n  - {template: Handler review, assigned: true, status: Open}"), rows: []string{"1-2"},
			posts: "activity 2, link 2", again: true},
		{mapping: "name: night" + v2Details},
	}},

	// A fresh link comes with a new claim of a known client.
	{name: "a fresh link", mapping: freshLinks, nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: "client 1, claim 1, link 1"},
		{rows: []string{"1 A-1", "1 A-2"}, dry: true, posts: "claim 1, link 1", again: true, cells: linkOf(2, 2)},
		{cells: linkOf(2, 2)},
		{rows: []string{"1 A-1", "1 ; Amount=5"}, code: 1, cells: linkOf(2, 2)}, // an invalid row shows what is known
		{rows: []string{"1 A-1", "1 A-2", "1 A-3"}, posts: "claim 1, link 1", cells: linkOf(3, 3)},
		{do: []string{"link c1@example.com"}, cells: linkOf(3, 4)},
		{do: []string{"lose ledger"}, rerun: true, flags: "--yes", cells: linkOf(3, 4)},
		{rerun: true, flags: "--yes", cells: linkOf(3, 4)},
		{rows: []string{"1 A-1", "1 A-4"}, posts: "claim 1, link 1", cells: linkOf(2, 5)},
	}},
	{name: "people who share an address, and a new ledger", mapping: byAgreement("reuse", ""), nights: []sheetNight{ // they are no lost ledger
		{knows: []string{"A-1 c1@example.com"}, rows: []string{"1 A-1", "2 A-2; E-mail=c1@example.com", "3 A-3; E-mail=c1@example.com", "4 A-4; E-mail=c1@example.com",
			"5 A-5; E-mail=c1@example.com", "6 A-6; E-mail=c1@example.com"}, flags: "--max-failures 100%", code: 1, posts: "?", status: "done, failed, failed, failed, failed, failed"},
	}},
	{name: "a fresh link in doubt", long: true, mapping: freshLinks, ways: everyWay, nights: []sheetNight{ // no later link waits for it
		{rows: []string{"1 A-1"}, posts: "client 1, claim 1, link 1"},
		{rows: []string{"1 A-1", "1 A-2"}, doubt: "link c1@example.com", again: true},
		{code: 4, cells: linkOf(2, 1)},
		{do: []string{"lose ledger"}, rerun: true, flags: "--yes", code: 4, cells: linkOf(2, 1)},
		{do: []string{"settle --not-created link/loan/A-2"}, posts: "link 1", cells: linkOf(1, 3)},
		{rows: []string{"1 A-1", "1 A-3"}, posts: "claim 1, link 1"},
	}},
}

// lostLedger is a case in which the service knows the first clients of the sheet, and the ledger none. The run is
// refused where it says something.
func lostLedger(clients, known int, says string) nightCase {
	n := sheetNight{rows: []string{fmt.Sprint("1-", clients)}, dry: true, posts: "?"}
	for i := range known {
		n.knows = append(n.knows, fmt.Sprintf("c%d@example.com c%[1]d@example.com", i+1))
	}
	if says != "" {
		n.code, n.says, n.posts = 3, []string{says}, ""
	}
	accepted := sheetNight{flags: "--accept new-ledger", posts: "?"}
	return nightCase{name: fmt.Sprint("a lost ledger: ", known, " of ", clients), long: true, mapping: stepThree, nights: []sheetNight{n, accepted}}
}

// behind is a case in which the ledger is lost, or a backup of the night before is put back, and the results workbook
// lies where the new one goes.
func behind(name, doubt, lost string) nightCase {
	c := nightCase{name: "a ledger behind its workbook: " + name, long: true, mapping: stepThree}
	second, code := sheetNight{do: []string{"save backup"}, rows: []string{"1-4", "77 A-77"}, doubt: doubt, posts: "?"}, 0
	c.nights = []sheetNight{{rows: []string{"1 A-1"}, posts: "?"}, second}
	if doubt != "" {
		c.ways, c.orders, code = everyWay, true, 4
		c.nights = append(c.nights, sheetNight{code: 4, posts: "?"}) // a run that was killed has no workbook
	}
	says := []string{"claimsheet rerun -m ", "--accept new-ledger"}
	c.nights = append(c.nights, sheetNight{do: []string{lost}, flags: "--dry-run", code: 3, says: says}, sheetNight{code: 3, says: says},
		sheetNight{flags: "--accept new-identity", code: 3, says: says}, sheetNight{rerun: true, flags: "--yes", code: code}, sheetNight{dry: true, code: code})
	return c
}

// renamedMapping is a case in which the mapping gets another name between two nights. What was done or is in doubt
// under the old name would be made again.
func renamedMapping(name, body, doubt string) nightCase {
	c := nightCase{name: "renamed mapping: " + name, long: true, mapping: "name: night" + body}
	first := sheetNight{rows: []string{"1-2"}, posts: "?"}
	if doubt != "" {
		c.ways, first.rows, first.doubt = everyWay, []string{"1 A-1"}, doubt
	}
	c.nights = []sheetNight{first, {mapping: "name: evening" + body, rows: []string{"3 A-3", "2 A-2", "1 A-1"}, dry: true, code: 2, says: []string{"“night”", "--accept new-identity"}}}
	if doubt == "" {
		c.nights = append(c.nights, sheetNight{flags: "--accept new-identity", posts: "?", again: true}, quiet)
	}
	return c
}

// linkOf are the rows of the first client, with the redirect url of a link of theirs.
func linkOf(rows, number int) (cells []string) {
	for i := range rows {
		cells = append(cells, fmt.Sprintf("%d redirectUrl = <link c1@example.com #%d>", i+1, number))
	}
	return cells
}
