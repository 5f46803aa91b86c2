package cli_test

import "slices"

// firstRun is a night after which the amount of the third client is not a number, and it is not known whether the claim of the fourth
// was created.
var firstRun = sheetNight{rows: []string{"1-2", "3 A-3; Amount=ask", "4 A-4"}, faults: faults{"claim c4@example.com/Loan A-4": {dropped}}, code: 4, posts: "?",
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

// refusedDecision is a case with a word in the column Settle that cannot be followed: its cell is named, and nothing at all is done.
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
	refusedDecision("not a word", decides+"perhaps", "[unknown-decision]"), refusedDecision("no id", decides+"created", "[no-id]"),
	refusedDecision("done", "c1@example.com claim/loan/A-1: Settle = not created", "[not-uncertain]"),
	refusedDecision("never sent", "c4@example.com link: Settle = give up", "[not-uncertain]"),
	refusedDecision("another claim's id", decides+"created <claim c1@example.com/Loan A-1>", "[id-taken]"),
	tampered("a client's id", "Results!K5", "contactId 5 = ID-1"), tampered("a claim's id", "Results!L5", "claimIds 5 = ID-1"),
	tampered("the id of a step", "Steps!E", "c4@example.com client: Id = ID-1"),
	tampered("an id for a step that has none", "knows of none for this step", "c4@example.com claim/loan/A-4: Id = ID-1"),
	tampered("the client key", "Results!K5", "E-mail 5 = c9@example.com"), tampered("the client key, the id erased", "Results!J5", "E-mail 5 = c9@example.com", "contactId 5 ="),

	withoutLedger("taken over", []string{corrects}, sheetNight{flags: "--yes", code: 4, posts: stored(1), status: "unchanged, unchanged, done, uncertain"},
		sheetNight{rerun: true, code: 4, status: "unchanged, unchanged, unchanged, uncertain"}),
	withoutLedger("not without a word", nil, sheetNight{code: 3, says: []string{"claimsheet rerun --yes -m "}}, sheetNight{rerun: true, flags: "--yes --dry-run", code: 3, says: []string{"[dry-run-ledger]"}}),
	withoutLedger("a line is gone", []string{"Steps -3"}, sheetNight{flags: "--yes", code: 2, says: []string{"[steps-missing]"}}),
	withoutLedger("the last line is gone", []string{"Steps -last"}, sheetNight{flags: "--yes", code: 2, says: []string{"[steps-missing]"}}),
	withoutLedger("the sheet is gone", []string{"Steps -all"}, sheetNight{flags: "--yes", code: 2, says: []string{"[steps-missing]"}}),
	withoutLedger("an id is gone", []string{"claimIds 2 =", "c1@example.com claim/loan/A-1: Id ="}, sheetNight{flags: "--yes", code: 4,
		status: "uncertain, unchanged, invalid, uncertain"}),
	erased("no key", "E-mail 2 ="), erased("another key", "E-mail 2 = bob@example.com"),
}

// erased is a case in which what a row shows of a client who was erased is not written down again, whosever the row is now.
func erased(name, edit string) nightCase {
	nothing := []string{"1 contactId =", "1 claimIds =", "1 redirectUrl ="}
	return nightCase{name: "edited after an erasure: " + name, long: true, mapping: stepThree, nights: []sheetNight{
		{rows: []string{"1 A-1"}, posts: stored(1)},
		{do: []string{"history --forget c1@example.com --yes"}, edit: []string{edit}, rerun: true, code: 1, cells: nothing},
		{rerun: true, code: 1, cells: slices.Clone(nothing)},
	}}
}
