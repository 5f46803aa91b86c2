package rerun_test

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/importer/rerun"
	"claimsheet/importer/result"
	"claimsheet/importer/settle"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

const service = "https://uat.example.test"

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var (
	must = testform.NoError
	same = testform.Same
)

// newComparison returns a Comparison of so many sheets with these columns, for a mapping keyed by e-mail unless text says
// otherwise, with a ledger that has some events.
func newComparison(t *testing.T, text string, sheets int, columns []string, events ...ledger.Event) *rerun.Comparison {
	t.Helper()
	if !strings.Contains(text, "client: ") {
		text += "\nclient: {key: E-mail, lookup: {email: E-mail}, fields: {email: E-mail}}\n"
	}
	m, found := mapping.Parse("mapping.yaml", []byte(text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	var tables []cell.Sheet
	for i := range sheets {
		tables = append(tables, cell.Sheet{Table: i, Name: "Results", HeaderRow: 1, Header: columns})
	}
	binding, found := mapping.BindAll(m, tables, nil, "2026-11-20")
	if len(found) > 0 {
		t.Fatal(found)
	}
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	for _, e := range events {
		e.At = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		err = errors.Join(err, l.Append(e))
	}
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return &rerun.Comparison{Ledger: l, Environment: service, Binding: binding}
}

// keyedByEmail is a comparison with an empty ledger.
func keyedByEmail(t *testing.T, more string) *rerun.Comparison {
	t.Helper()
	return newComparison(t, "name: loans\napi: "+more, 1, []string{"E-mail", "Partner", "Born"})
}

// recordOf is a row of texts.
func recordOf(table, row int, texts ...string) cell.Record {
	record := cell.Record{Table: table, Row: row}
	for _, text := range texts {
		record.Cells = append(record.Cells, cell.Cell{Kind: cell.Text, Raw: text, Shown: text})
	}
	return record
}

// takeOver has a new ledger take over lines and rows.
func takeOver(t *testing.T, r *rerun.Comparison, all iter.Seq2[rerun.Step, error], rows iter.Seq2[rerun.Row, error]) {
	t.Helper()
	err := r.CheckSteps(t.Context(), all, true)
	if err == nil {
		err = r.TakeOver("run-1", rows)
	}
	must(t, err)
}

// stepsOf are what the ledger knows of a client.
func stepsOf(t *testing.T, r *rerun.Comparison, client string) map[string]ledger.Step {
	t.Helper()
	known, err := r.Ledger.Steps(t.Context(), ledger.ClientKey{Environment: service, Space: "email", Client: client}, "loans")
	must(t, err)
	return known
}

func lines(all ...rerun.Step) iter.Seq2[rerun.Step, error] {
	return func(yield func(rerun.Step, error) bool) {
		for i, line := range all {
			line.Number, line.IDAt = i+1, problem.Where{Sheet: "Steps", Row: i + 2}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// rowsOf are rows of clients with a redirect url.
func rowsOf(clients ...string) iter.Seq2[rerun.Row, error] {
	return func(yield func(rerun.Row, error) bool) {
		for _, client := range clients {
			if !yield(rerun.Row{Record: recordOf(0, 2, client), URL: "https://go.example.test"}, nil) {
				return
			}
		}
	}
}

// fact is what the ledger knows of a step.
type fact struct {
	State   ledger.State
	ID, URL string
}

// A new ledger takes over every state that a workbook can show. A step that
// certainly does not exist stays unknown, and may be sent.
func TestTakeOver(t *testing.T) {
	for _, test := range []struct {
		name, api string
		line      rerun.Step
		want      fact
	}{
		{"planned", "v2", rerun.Step{Step: "client", State: "planned"}, fact{}},
		{"refused", "v2", rerun.Step{Step: "client", State: "refused"}, fact{}},
		{"skipped", "v2", rerun.Step{Step: "activity/a@client", State: result.StepSkipped}, fact{}},
		{"a v2 client", "v2", rerun.Step{Step: "client", State: "done", ID: "c-1"}, fact{ledger.Done, "c-1", ""}},
		{"a v1 client", "v1", rerun.Step{Step: "client", State: "done", ID: "c-1"}, fact{ledger.Done, "c-1", "https://go.example.test"}},
		{"a client without its id", "v2", rerun.Step{Step: "client", State: "done"}, fact{ledger.Uncertain, "", ""}},
		{"a claim without its id", "v2", rerun.Step{Step: "claim/loan/1", State: "done"}, fact{ledger.Uncertain, "", ""}},
		{"an activity", "v2", rerun.Step{Step: "activity/a@client", State: "done"}, fact{ledger.Done, "", ""}},
		{"a link", "v2", rerun.Step{Step: "link", State: "done"}, fact{ledger.Done, "", "https://go.example.test"}},
		{"in flight", "v2", rerun.Step{Step: "client", State: "sent"}, fact{ledger.Uncertain, "", ""}},
		{"uncertain", "v2", rerun.Step{Step: "claim/loan/1", State: "uncertain"}, fact{ledger.Uncertain, "", ""}},
		{"given up", "v2", rerun.Step{Step: "link", State: "closed"}, fact{ledger.Closed, "", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := keyedByEmail(t, test.api)
			test.line.Client = "ann@example.test"
			takeOver(t, r, lines(test.line), rowsOf("ann@example.test"))
			if wanted := test.want.State != ""; wanted != (r.Missing() == 1) {
				t.Errorf("%d steps are missing", r.Missing())
			}
			step := stepsOf(t, r, "ann@example.test")[test.line.Step]
			same(t, "the ledger's step", test.want, fact{step.State, step.ID, step.URL})
		})
	}
}

// The clients and contacts who are taken over own the addresses of their rows, so that no other
// client is taken for one whom the service may still be creating; also where a cell of the row is wrong.
func TestTakeOverOwnsAddresses(t *testing.T) {
	const ann, bob = "ann@example.test", "bob@example.test"
	for _, existing := range []string{mapping.Reuse, mapping.Create} {
		r := keyedByEmail(t, "v2\ncontacts: [{id: p, key: Partner, lookup: {email: Partner}, fields: {email: Partner, born: {column: Born, type: Date, format: dd/mm/yyyy}}}]\nclaims: [{key: E-mail, name: x, claimants: [client, p]}]")
		r.Binding.Mapping().Client.Existing = existing
		all := lines(rerun.Step{Client: ann, Step: "client", State: "uncertain"}, rerun.Step{Client: ann, Step: "contact/email/" + bob, State: "sent"})
		rows := func(yield func(rerun.Row, error) bool) {
			yield(rerun.Row{Record: recordOf(0, 2, ann, bob, "31/02/1980")}, nil)
		}
		takeOver(t, r, all, rows)
		owners, err := r.Ledger.AddressOwners(t.Context(), service, []string{"email " + ann, "email " + bob})
		must(t, err)
		owner := func(key string, isAsked bool) ledger.AddressOwner {
			who := ledger.ClientKey{Environment: service, Space: "email", Client: key}
			return ledger.AddressOwner{ClientKey: who, Address: "email " + key, State: ledger.Uncertain, Run: "run-1", LookedUp: isAsked}
		}
		same(t, "the owners with existing: "+existing, []ledger.AddressOwner{owner(ann, existing == mapping.Reuse), owner(bob, true)}, owners)
	}
}

// A workbook that gives the id or redirect url of one step to another is refused, and one that gives a contact two ids: the
// id stands in two lines, and one of them was edited.
func TestTakeOverGivesAnIDToOneStep(t *testing.T) {
	const ann, bob = "ann@example.test", "bob@example.test"
	for name, c := range map[string]struct {
		lines []rerun.Step
		code  string
	}{
		"an id twice":           {[]rerun.Step{{Client: ann, Step: "client", State: "done", ID: "c-1"}, {Client: bob, Step: "client", State: "done", ID: "c-1"}}, "id-taken"},
		"a redirect url twice":  {[]rerun.Step{{Client: ann, Step: "link", State: "done"}, {Client: bob, Step: "link", State: "done"}}, "id-taken"},
		"two ids of one person": {[]rerun.Step{{Client: ann, Step: "contact/email/" + bob, State: "done", ID: "c-1"}, {Client: bob, Step: "client", State: "done", ID: "c-2"}}, "id-conflict"},
	} {
		r := keyedByEmail(t, "v2")
		err := r.CheckSteps(t.Context(), lines(c.lines...), true)
		if err == nil {
			err = r.TakeOver("run-1", rowsOf(ann, bob))
		}
		var found problem.List
		if found.Collect(err) != nil || len(found) == 0 || found[0].Code != c.code || found[0].Where.Row != 3 {
			t.Errorf("%s: got %v, want %s in row 3", name, err, c.code)
		}
	}
}

// Sorted lines are complete; a line that is missing or was copied over another is
// noticed.
func TestComplete(t *testing.T) {
	for name, test := range map[string]struct {
		numbers []int
		written int
		want    bool
	}{
		"sorted":        {[]int{3, 1, 2}, 3, true},
		"none":          {nil, 0, true},
		"the last gone": {[]int{1, 2}, 3, false},
		"the first":     {[]int{2, 3}, 3, false},
		"copied over":   {[]int{1, 1, 3}, 3, false},
		"no number":     {[]int{1, 0, 3}, 3, false},
		"not told":      {nil, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := keyedByEmail(t, "v2")
			read := func(yield func(rerun.Step, error) bool) {
				for _, n := range test.numbers {
					if !yield(rerun.Step{Number: n, Client: "ann@example.test", Step: "client", State: "planned"}, nil) {
						return
					}
				}
			}
			must(t, r.CheckSteps(t.Context(), read, true))
			if got := r.Complete(test.written); got != test.want {
				t.Errorf("complete: %v, want %v", got, test.want)
			}
		})
	}
}

// TestSeveralLinesOfOnePerson: a client who is a contact of other clients has a line of
// its own and one for each of them, in any order.
func TestSeveralLinesOfOnePerson(t *testing.T) {
	const ann, bob, cid = "ann@example.test", "bob@example.test", "cid@example.test"
	own := func(state, id, settle string) rerun.Step {
		return rerun.Step{Client: bob, Step: "client", State: state, ID: id, Settle: settle}
	}
	of := func(client, state, id, settle string) rerun.Step {
		return rerun.Step{Client: client, Step: "contact/email/" + bob, State: state, ID: id, Settle: settle}
	}
	skipped := rerun.Step{Client: bob, Step: "activity/a@client", State: result.StepSkipped}
	for name, test := range map[string]struct {
		lines          []rerun.Step
		missing, words int
		want           fact
		via            string
	}{
		"done":                           {[]rerun.Step{own("done", "c-1", ""), of(ann, "done", "c-1", ""), of(cid, "done", "c-1", "")}, 1, 0, fact{ledger.Done, "c-1", ""}, ledger.ViaWorkbook},
		"an id is cleared":               {[]rerun.Step{of(ann, "done", "", ""), own("done", "c-1", "")}, 1, 0, fact{ledger.Done, "c-1", ""}, ledger.ViaWorkbook},
		"found, as its own lines say":    {[]rerun.Step{of(ann, "done", "c-1", ""), own("done", "c-1", ""), skipped}, 1, 0, fact{ledger.Done, "c-1", ""}, ledger.ViaAdopted},
		"one decision beside all":        {[]rerun.Step{own("uncertain", "", "not created"), of(ann, "uncertain", "", "Not  created")}, 1, 1, fact{ledger.Refused, "", ""}, ledger.ViaByHand},
		"one decision beside the second": {[]rerun.Step{own("uncertain", "", ""), of(ann, "uncertain", "", "give up")}, 1, 1, fact{ledger.Closed, "", ""}, ledger.ViaByHand},
		"one id beside both":             {[]rerun.Step{of(ann, "uncertain", "", "created c-1"), own("uncertain", "", "created c-1")}, 1, 1, fact{ledger.Done, "c-1", ""}, ledger.ViaByHand},
	} {
		t.Run(name, func(t *testing.T) {
			r := keyedByEmail(t, "v2\ncontacts: [{id: p, key: Partner, lookup: {email: Partner}, fields: {email: Partner}}]\nclaims: [{key: E-mail, name: x, claimants: [client, p]}]")
			takeOver(t, r, lines(test.lines...), rowsOf())
			if r.Missing() != test.missing || r.Decisions() != test.words {
				t.Errorf("%d steps are missing and %d decided, want %d and %d", r.Missing(), r.Decisions(), test.missing, test.words)
			}
			must(t, r.Settle(t.Context(), "run-1"))
			step := stepsOf(t, r, bob)["client"]
			if diff := cmp.Diff(test.want, fact{step.State, step.ID, step.URL}); diff != "" || step.Via != test.via {
				t.Errorf("the ledger's step, via %q (-want +got):\n%s", step.Via, diff)
			}
		})
	}
}

// TestFoundAndFailed: a new ledger does not know whom a look-up found, and whom the mapping does not take over.
func TestFoundAndFailed(t *testing.T) {
	for existing, isRefused := range map[string]bool{mapping.Fail: false, mapping.Skip: false, mapping.Reuse: true} {
		r := keyedByEmail(t, "v2")
		r.Binding.Mapping().Client.Existing = existing
		err := r.CheckSteps(t.Context(), lines(rerun.Step{Client: "ann@example.test", Step: "client", State: "refused", ID: "c-1"}), false)
		if (err != nil) != isRefused {
			t.Errorf("existing: %s: got %v", existing, err)
		}
	}
}

const rowsMapping = `
name: loans
api: v2
client: {key: E-mail, lookup: {email: E-mail}, fields: {email: E-mail}}
claims:
  - {id: loan, key: Loan, name: "Loan {Loan}"}
  - {id: card, key: Card, name: "Card {Card}", when: has("Card")}
`

// The ids of a row must belong to its client and to the claims that it asks for, or something would
// be created again. Where clients whom the service knew are not taken over, a row shows the id that a
// look-up found, which the ledger does not have.
func TestRows(t *testing.T) {
	type row struct{ loan, card, claims string }
	known, found := rerun.Row{Status: "done", ClientID: "c-1"}, rerun.Row{Status: "failed", FailedStep: "client", ClientID: "c-9"}
	doubt := func(step string) rerun.Row { return rerun.Row{Status: "uncertain", FailedStep: step} }
	for _, test := range []struct {
		name, options string
		client        string
		as            rerun.Row
		rows          []row // of one client; of two sheets in turn
		newIdentity   bool
		want          int // conflicts
	}{
		{"as they were", "", "ann", known, []row{{"L1", "K1", "loan-1,card-1"}, {"L2", "", "loan-2"}}, false, 0},
		{"two rows of one claim", "", "ann", known, []row{{"L1", "", "loan-1"}, {"L1", "K1", "loan-1,card-1"}}, false, 0},
		{"a claim is added to a row", "", "ann", known, []row{{"L2", "K9", "loan-2"}}, false, 0},
		{"ids erased", "", "ann", known, []row{{"L9", "", ""}}, false, 0},
		{"a claim is taken out of a row", "", "ann", known, []row{{"L1", "", "loan-1,card-1"}}, false, 0},
		{"two rows change places", "", "ann", known, []row{{"L2", "", "loan-1"}, {"L1", "", "loan-2"}}, false, 0},
		{"another key", "", "ann", known, []row{{"L9", "", "loan-1"}}, false, 1},
		{"another key in the second sheet", "", "ann", known, []row{{"L1", "", "loan-1"}, {"L9", "", "loan-2"}}, false, 1},
		{"another key of one of two", "", "ann", known, []row{{"L1", "K9", "loan-1,card-1"}}, false, 1},
		{"a claim that failed", "", "ann", known, []row{{"L3", "", "loan-1"}}, false, 1},
		{"other keys on purpose", "", "ann", known, []row{{"L9", "", "loan-1"}}, true, 0},
		{"an id that the ledger lacks", "", "ann", known, []row{{"L1", "", "loan-7"}}, true, 1},
		{"another client's id", "existing: reuse, ", "bob", found, []row{{"L1", "", ""}}, false, 1},
		{"found, and skipped", "existing: skip, ", "bob", found, []row{{"L1", "", ""}}, false, 0},
		{"found, and failed", "existing: fail, ", "bob", found, []row{{"L1", "", ""}}, false, 0},
		{"in doubt under another key", "", "bob", doubt("client"), []row{{"L1", "", ""}}, false, 1},
		{"a contact in doubt, as a report has it", "", "bob", doubt("contact/email/p@x.test"), []row{{"L1", "", ""}}, false, 0},
		{"an activity on a contact in doubt, as a report has it", "", "bob", doubt("activity/Details@contact/email/p@x.test"), []row{{"L1", "", ""}}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rowsComparison(t, test.options, "")
			r.NewIdentity = test.newIdentity
			read := func(yield func(rerun.Row, error) bool) {
				for i, row := range test.rows {
					w := test.as
					w.Record = recordOf(i%2, i+2, test.client+"@example.test", row.loan, row.card)
					w.ClaimIDs, w.ClaimIDsAt = split(row.claims), problem.Where{Row: w.Record.Row}
					if !yield(w, nil) {
						return
					}
				}
			}
			must(t, r.CheckSteps(t.Context(), lines(), true))
			codes := []string{}
			var found problem.List
			must(t, found.Collect(r.CheckRows(t.Context(), read)))
			for _, p := range found {
				codes = append(codes, p.Code)
			}
			same(t, "problems", []string{"id-conflict"}[:test.want], codes)
		})
	}
}

// TestRowsInDoubt: the row of a claim in doubt shows the id that was found in the service.
func TestRowsInDoubt(t *testing.T) {
	for decision, want := range map[string]string{"created loan-4": "", "": "its cell Settle", "not created": "put the client key", "created loan-5": "put the client key"} {
		r := rowsComparison(t, "", "")
		owner := ledger.ClientKey{Environment: service, Space: "email", Client: "ann@example.test"}
		for _, to := range []ledger.State{ledger.Sent, ledger.Uncertain} {
			e := known(owner, "loans", "claim/loan/L4", "")
			if e.State, e.Via, e.At = to, "", time.Now(); r.Ledger.Append(e) != nil {
				t.Fatal("the ledger refuses the claim")
			}
		}
		line := rerun.Step{Client: owner.Client, Step: "claim/loan/L4", State: "uncertain", Settle: decision}
		must(t, r.CheckSteps(t.Context(), lines(line), true))
		row := rerun.Row{Status: "uncertain", ClientID: "c-1", ClaimIDs: []string{"loan-4"}, Record: recordOf(0, 2, owner.Client, "L4", "")}
		err := r.CheckRows(t.Context(), func(yield func(rerun.Row, error) bool) { yield(row, nil) })
		var found problem.List
		_ = found.Collect(err)
		if want == "" && err != nil || want != "" && (len(found) != 1 || !strings.Contains(found[0].Hint, want)) {
			t.Errorf("Settle %q: got %v, want a hint with %q", decision, err, want)
		}
	}
}

// TestRowsLeftOut: a client who was imported opts out, and the cells of another row are cleared.
func TestRowsLeftOut(t *testing.T) {
	r := rowsComparison(t, "", "sheet: {when: 'col(\"Card\") != \"No\"'}\n")
	read := func(yield func(rerun.Row, error) bool) {
		for i, texts := range [][]string{{"ann@example.test", "L1", "No"}, {"", "", ""}} {
			if !yield(rerun.Row{Status: "done", ClientID: "c-1", ClaimIDs: []string{"loan-1"}, Record: recordOf(0, i+2, texts...)}, nil) {
				return
			}
		}
	}
	if err := r.CheckRows(t.Context(), read); err != nil {
		t.Error(err)
	}
}

// TestKnownIDs: a second mapping has sent more for a client and a claim of the first, by the ids that its sheet gives. Its own key
// is another one. The client key in the sheet Steps is that of the ledger.
func TestKnownIDs(t *testing.T) {
	const second = "name: more\napi: v2\nclient: {key: Ref, known_id: Contact, lookup: {email: E-mail}, fields: {email: E-mail}}\n" +
		"claims: [{key: Loan, known_id: Claim, name: x}]\n"
	const ann, contact, claim = "ann@example.test", "6a0e9d3c-55a4-4c0f-8d8f-2b8b2a1f0c11", "7b0e9d3c-55a4-4c0f-8d8f-2b8b2a1f0c12"
	owner := ledger.ClientKey{Environment: service, Space: "leads", Client: "L1"}
	r := newComparison(t, second, 1, []string{"Ref", "E-mail", "Contact", "Loan", "Claim"}, known(owner, "", "client", contact),
		known(owner, "loans", "claim/loan/L1", claim), known(owner, "more", "activity/a@client", ""))
	row := rerun.Row{Status: "done", ClientID: contact, URL: "https://go.example.test", ClaimIDs: []string{claim}, Record: recordOf(0, 2, "K1", ann, contact, "9", claim)}
	err := r.CheckSteps(t.Context(), lines(rerun.Step{Client: "L1", Step: "client", State: "done", ID: contact},
		rerun.Step{Client: "L1", Step: "activity/a@client", State: "done"}, rerun.Step{Client: "L1", Step: "link", State: "done"}), true)
	if err != nil || r.Missing() != 1 {
		t.Errorf("%v; %d steps are missing, want 1", err, r.Missing())
	}
	rows := func(yield func(rerun.Row, error) bool) { yield(row, nil) }
	if err := errors.Join(r.TakeOver("run-1", rows), r.CheckRows(t.Context(), rows)); err != nil {
		t.Error(err)
	}
	if steps, err := r.Ledger.Steps(t.Context(), owner, "more"); err != nil || steps["link"].URL != row.URL {
		t.Errorf("the link is %+v, %v", steps["link"], err)
	}
}

// known is a step that is done.
func known(owner ledger.ClientKey, mapping, step, id string) ledger.Event {
	return ledger.Event{StepID: ledger.StepID{ClientKey: owner, Mapping: mapping, Step: step}, State: ledger.Done, Kind: settle.KindOf(step), Via: ledger.ViaAdopted, ID: id}
}

// rowsComparison returns a Comparison of two sheets with a ledger that knows a
// client with claims; options are more of the mapping's client, more is more of the mapping.
func rowsComparison(t *testing.T, options, more string) *rerun.Comparison {
	t.Helper()
	ann := ledger.ClientKey{Environment: service, Space: "email", Client: "ann@example.test"}
	refused := ledger.Event{StepID: ledger.StepID{ClientKey: ann, Mapping: "loans", Step: "claim/loan/L3"}, State: ledger.Refused, Kind: ledger.KindClaim}
	return newComparison(t, strings.Replace(rowsMapping, "client: {", "client: {"+options, 1)+more, 2, []string{"E-mail", "Loan", "Card"}, refused,
		known(ann, "", "client", "c-1"), known(ann, "loans", "claim/loan/L1", "loan-1"), known(ann, "loans", "claim/loan/L2", "loan-2"),
		known(ann, "loans", "claim/card/K1", "card-1"))
}

func split(ids string) []string {
	return strings.FieldsFunc(ids, func(r rune) bool { return r == ',' })
}
