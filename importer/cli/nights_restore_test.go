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
	behind("lost", "lose ledger"), behind("older", "restore backup"),
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
	{name: "a run was killed and its ledger is lost", long: true, mapping: stepThree, ways: []string{"killed"}, nights: []sheetNight{
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

	// Each night has a sheet, and so a workbook, of its own name.
	{name: "a backup is restored, and the workbooks of two nights are run again", long: true, mapping: stepThree, ways: everyWay, nights: []sheetNight{
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

	// The mapping is renamed.
	{name: "a renamed mapping", long: true, mapping: "name: night" + v2Claims, nights: []sheetNight{
		{rows: []string{"1-2"}, faults: faults{"every claim": {dropped}}, code: 4, posts: "client 2, claim 2"},
		{mapping: "name: evening" + v2Claims, rows: []string{"3 A-3", "2 A-2", "1 A-1"}, dry: true, code: 2, says: []string{"“night”", "--accept new-identity"}},
		{flags: "--accept new-identity", posts: "client 1, claim 3, link 3", again: true},
		quiet,
	}},
	{name: "another campaign is no renaming", long: true, mapping: "name: night" + v2Details, nights: []sheetNight{
		{rows: []string{"1-2"}, posts: "client 2, activity 2, link 2"},
		{mapping: "name: others" + v2Details, rows: []string{"8 A-8"}, posts: "client 1, activity 1, link 1"},
		{mapping: with("name: more"+v2Details, "activities:", "activities:\n  - {template: Handler review, assigned: true, status: Open}"), rows: []string{"1-2"},
			posts: "activity 4, link 2", again: true},
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
func behind(name, lost string) nightCase {
	says := []string{"claimsheet rerun -m ", "--accept new-ledger"}
	return nightCase{name: "a ledger behind its workbook: " + name, long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: stored(1)},
		{do: []string{"save backup"}, rows: []string{"1-4", "77 A-77"}, posts: stored(4)},
		{do: []string{lost}, flags: "--dry-run", code: 3, says: says}, {code: 3, says: says}, {flags: "--accept new-identity", code: 3, says: says},
		{rerun: true, flags: "--yes"}, {dry: true},
	}}
}

// linkOf are the rows of the first client, with the redirect url of a link of theirs.
func linkOf(rows, number int) (cells []string) {
	for i := range rows {
		cells = append(cells, fmt.Sprintf("%d redirectUrl = <link c1@example.com #%d>", i+1, number))
	}
	return cells
}
