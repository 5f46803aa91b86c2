package cli_test

import (
	"fmt"
	"strings"
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

// refusedDecision is a case with a word in the column Settle that cannot be followed: its cell is named, and nothing at
// all is done.
func refusedDecision(name, edit, code string) nightCase {
	return edited("a decision: "+name, []string{corrects, edit}, sheetNight{code: 2, says: []string{"Steps!", code}})
}

// tampered is a case with an id or a key that contradicts the ledger: its client is held back, and only that one.
func tampered(name, says string, edits ...string) nightCase {
	return edited("tampered: "+name, append(edits, corrects), sheetNight{code: 1, posts: stored(1), status: "unchanged, unchanged, done, invalid",
		says: []string{"[id-conflict]", says, "!ID-1", "!example.com"}})
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
	edited("given up", []string{decides + "give up"}, sheetNight{code: 1, status: "unchanged, unchanged, invalid, failed"}),
	refusedDecision("not a word", decides+"perhaps", "[unknown-decision]"), refusedDecision("another claim's id", decides+"created <claim c1@example.com/Loan A-1>", "[id-taken]"),
	tampered("a client's id", "Results!L5", "contactId 5 = ID-1"), tampered("the id of a step", "Steps!E", "c4@example.com client: Id = ID-1"),
	tampered("the client key", "Results!L5", "E-mail 5 = c9@example.com"),

	withoutLedger("taken over", []string{corrects}, sheetNight{flags: "--yes", code: 4, posts: stored(1), status: "unchanged, unchanged, done, uncertain"},
		sheetNight{rerun: true, code: 4, status: "unchanged, unchanged, unchanged, uncertain"}),
	withoutLedger("not without a word", nil, sheetNight{code: 3, says: []string{"claimsheet rerun --yes -m "}}, sheetNight{rerun: true, flags: "--yes --dry-run", code: 3, says: []string{"[dry-run-ledger]"}}),
	withoutLedger("a line is gone", []string{"delete Steps 3"}, sheetNight{flags: "--yes", code: 2, says: []string{"[steps-missing]"}}),
	withoutLedger("an id is gone", []string{"claimIds 2 =", "c1@example.com claim/loan/A-1: Id ="}, sheetNight{flags: "--yes", code: 4,
		status: "uncertain, unchanged, invalid, uncertain"}),
	missing("sorted", []string{"sort Results", "sort Results", "sort Results", "sort Steps"}, 4, 1, 2, 3), missing("a row deleted", []string{"delete Results 2"}, 2, 3, 4),
	missing("our columns deleted", []string{"drop Import status", "drop contactId", "drop claimIds", "drop redirectUrl", "drop Failed step", "drop Error", "drop What to do"}, 1, 2, 3, 4),
	missing("ids erased", []string{"contactId 2 =", "claimIds 2 =", "contactId 3 =", "claimIds 3 =", "c1@example.com client: Id ="}, 1, 2, 3, 4),
	edited("a text is cut", []string{corrects, "First name 4 = " + cutText}, sheetNight{code: 4, says: []string{"holds an error", "!LLL"}, cells: []string{"3 Import status = invalid", "3 First name = " + cutText}}),
	{name: "edited: the workflow has the name of the sheet", mapping: with(stepThree, "name: Batch", `name: "{sheet}"`), nights: []sheetNight{
		firstRun, {rerun: true, edit: []string{corrects}, dry: true, code: 4, posts: stored(1), calls: []string{`"workflowName":"Sheet1"`, `!"workflowName":"Results"`}},
	}},

	conflicting("the client key", stored(1), "contactId 2 =; claimIds 2 =", "E-mail 2 = c1@example.com", "E-mail 2 = c9@example.com"),
	conflicting("the claim key, emptied at first", "claim 1, activity 1", "claimIds 2 =", "Agreement no 2 = A-1", "Agreement no 2 =", "Agreement no 2 = A-9"),
	edited("another client's key, without the ledger", append([]string{"sort Results"}, leadCells(5, 2)...), sheetNight{code: 4},
		sheetNight{do: []string{"lose ledger.db"}, rerun: true, flags: "--yes", code: 4, cells: []string{"1 redirectUrl = <link c2@example.com>"}}),
	{name: "edited after an erasure", long: true, mapping: stepThree, nights: []sheetNight{ // the row is another client's now
		{rows: []string{"1 A-1"}, posts: stored(1)},
		{do: []string{"history --forget c1@example.com --yes"}, edit: []string{"E-mail 2 = bob@example.com"}, rerun: true, code: 1,
			cells: []string{"1 contactId =", "1 claimIds =", "1 redirectUrl ="}},
	}},
}

// cutText is a text of the sheet that is too long for a cell of a workbook, as the results have it.
var cutText = strings.Repeat("L", 32767-len([]rune(cutMark))) + cutMark

const cutMark = "… [cut here: a cell of a workbook cannot hold more]"

// missing is a case in which only the third client is sent, whatever was edited besides. clients are those of the rows
// then.
func missing(name string, edits []string, clients ...int) nightCase {
	n := sheetNight{code: 4, posts: stored(1)}
	var status []string
	for i, client := range clients {
		for _, cell := range []string{"Agreement no = A-%[2]d", "Source row = %[3]d", "contactId = <client c%[2]d@example.com>", "claimIds = <claim c%[2]d@example.com/Loan A-%[2]d>",
			"redirectUrl = <link c%[2]d@example.com>"}[:map[bool]int{true: 3, false: 5}[client == 4]] {
			n.cells = append(n.cells, fmt.Sprintf("%d "+cell, i+1, client, client+1))
		}
		status = append(status, []string{"unchanged", "unchanged", "done", "uncertain"}[client-1])
	}
	n.status = strings.Join(status, ", ")
	c := edited("what is missing: "+name, append([]string{corrects}, edits...), n)
	c.long = name != "sorted" && name != "ids erased"
	return c
}

// leadCells are edits that make of a row that of another client.
func leadCells(row, client int) (edits []string) {
	for i, value := range lead(client, "")[:5] {
		edits = append(edits, fmt.Sprintf("%s %d = %v", header[i], row, value))
	}
	return edits
}

// conflicting is a case in which a key of the first row is edited, though its things were made: the row is refused each
// time, and keeps what it shows, until the key is put back, or the cells are cleared for a new client or claim.
func conflicting(name, made, clear, back string, changes ...string) nightCase {
	c := edited("a conflict stands: "+name, []string{corrects}, sheetNight{code: 4, posts: stored(1)})
	for _, edit := range changes {
		c.nights = append(c.nights, sheetNight{rerun: true, edit: []string{edit}, code: 4})
	}
	stands := sheetNight{rerun: true, code: 4, says: []string{"[id-conflict]"}, cells: []string{"1 Import status = invalid", "1 contactId = <client c1@example.com>",
		"1 claimIds = <claim c1@example.com/Loan A-1>", "1 redirectUrl = <link c1@example.com>"}}
	c.nights = append(c.nights, stands, stands, sheetNight{rerun: true, flags: "--limit 2", code: 1}, sheetNight{rerun: true, flags: "--only c3@example.com"},
		sheetNight{rerun: true, edit: []string{back}, code: 4, status: "unchanged, unchanged, unchanged, uncertain"}, sheetNight{rerun: true, edit: changes, code: 4},
		sheetNight{rerun: true, edit: strings.Split(clear, "; "), code: 4, posts: made, again: true})
	return c
}
