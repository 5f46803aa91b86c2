package rerun_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/importer/rerun"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

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
		{"an id that nobody knows", "", "ann", known, []row{{"L1", "", "loan-7"}}, true, 1},
		{"another client's id", "existing: reuse, ", "bob", found, []row{{"L1", "", ""}}, false, 1},
		{"found, and skipped", "existing: skip, ", "bob", found, []row{{"L1", "", ""}}, false, 0},
		{"found, and failed", "existing: fail, ", "bob", found, []row{{"L1", "", ""}}, false, 0},
		{"in doubt under another key", "", "bob", doubt("client"), []row{{"L1", "", ""}}, false, 1},
		{"a contact in doubt, as a report has it", "", "bob", doubt("contact/email/p@x.test"), []row{{"L1", "", ""}}, false, 0},
		{"an activity on a contact in doubt, as a report has it", "", "bob", doubt("activity/Details@contact/email/p@x.test"), []row{{"L1", "", ""}}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rowsComparison(t, test.options)
			r.NewIdentity = test.newIdentity
			read := func(yield func(rerun.Row, error) bool) {
				for i, row := range test.rows {
					w := test.as
					w.Record = cell.Record{Table: i % 2, Row: i + 2}
					for _, text := range []string{test.client + "@example.test", row.loan, row.card} {
						w.Record.Cells = append(w.Record.Cells, cell.Cell{Kind: cell.Text, Raw: text, Shown: text})
					}
					w.ClaimIDs, w.ClaimIDsAt = split(row.claims), problem.Where{Row: w.Record.Row}
					if !yield(w, nil) {
						return
					}
				}
			}
			if err := r.CheckSteps(t.Context(), lines(), true); err != nil {
				t.Fatal(err)
			}
			codes := []string{}
			found, _ := r.CheckRows(t.Context(), read).(problem.List)
			for _, p := range found {
				codes = append(codes, p.Code)
			}
			if diff := cmp.Diff([]string{"id-conflict"}[:test.want], codes); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRowsInDoubt: the row of a claim in doubt shows the id that was found in the service.
func TestRowsInDoubt(t *testing.T) {
	for settle, want := range map[string]string{"created loan-4": "", "": "its cell Settle", "not created": "put the client key", "created loan-5": "put the client key"} {
		r := rowsComparison(t, "")
		owner := ledger.ClientKey{Environment: service, Space: "email", Client: "ann@example.test"}
		doubt := ledger.Event{StepID: ledger.StepID{ClientKey: owner, Mapping: "loans", Step: "claim/loan/L4"}, To: ledger.Sent, Kind: ledger.KindClaim, At: time.Now()}
		uncertain := doubt
		uncertain.To = ledger.Uncertain
		if err := r.Ledger.Append(doubt, uncertain); err != nil {
			t.Fatal(err)
		}
		line := rerun.Step{Client: owner.Client, Step: doubt.Step, State: "uncertain", Settle: settle}
		if err := r.CheckSteps(t.Context(), lines(line), true); err != nil {
			t.Fatal(err)
		}
		row := rerun.Row{Status: "uncertain", ClientID: "c-1", ClaimIDs: []string{"loan-4"}, Record: cell.Record{Row: 2}}
		for _, text := range []string{owner.Client, "L4", ""} {
			row.Record.Cells = append(row.Record.Cells, cell.Cell{Kind: cell.Text, Raw: text, Shown: text})
		}
		err := r.CheckRows(t.Context(), func(yield func(rerun.Row, error) bool) { yield(row, nil) })
		found, _ := err.(problem.List)
		if want == "" && err != nil || want != "" && (len(found) != 1 || !strings.Contains(found[0].Hint, want)) {
			t.Errorf("Settle %q: got %v, want a hint with %q", settle, err, want)
		}
	}
}

// TestRowsLeftOut: a client who was imported opts out, and the cells of another row are cleared.
func TestRowsLeftOut(t *testing.T) {
	m, found := mapping.Parse("mapping.yaml", []byte(rowsMapping+"sheet: {when: 'col(\"Card\") != \"No\"'}\n"))
	if len(found) > 0 {
		t.Fatal(found)
	}
	r := rowsComparison(t, "")
	sheet := &cell.Sheet{Name: "Results", HeaderRow: 1, Header: []string{"E-mail", "Loan", "Card"}}
	if r.Binding, found = mapping.Bind(m, sheet, nil, "2026-11-20"); len(found) > 0 {
		t.Fatal(found)
	}
	read := func(yield func(rerun.Row, error) bool) {
		for i, texts := range [][]string{{"ann@example.test", "L1", "No"}, {"", "", ""}} {
			row := rerun.Row{Status: "done", ClientID: "c-1", ClaimIDs: []string{"loan-1"}, Record: cell.Record{Row: i + 2}}
			for _, text := range texts {
				row.Record.Cells = append(row.Record.Cells, cell.Cell{Kind: cell.Text, Raw: text, Shown: text})
			}
			if !yield(row, nil) {
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
	m, found := mapping.Parse("mapping.yaml", []byte(second))
	if len(found) > 0 {
		t.Fatal(found)
	}
	r := rowsComparison(t, "")
	sheet := &cell.Sheet{Name: "Results", HeaderRow: 1, Header: []string{"Ref", "E-mail", "Contact", "Loan", "Claim"}}
	if r.Binding, found = mapping.Bind(m, sheet, nil, "2026-11-20"); len(found) > 0 {
		t.Fatal(found)
	}
	const ann, contact, claim = "ann@example.test", "6a0e9d3c-55a4-4c0f-8d8f-2b8b2a1f0c11", "7b0e9d3c-55a4-4c0f-8d8f-2b8b2a1f0c12"
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	owner := ledger.ClientKey{Environment: service, Space: "leads", Client: "L1"}
	for _, e := range []ledger.Event{
		{StepID: ledger.StepID{ClientKey: owner, Step: "client"}, Kind: ledger.KindClient, ID: contact},
		{StepID: ledger.StepID{ClientKey: owner, Mapping: "loans", Step: "claim/loan/L1"}, Kind: ledger.KindClaim, ID: claim},
		{StepID: ledger.StepID{ClientKey: owner, Mapping: "more", Step: "activity/a@client"}, Kind: ledger.KindActivity},
	} {
		e.To, e.Via, e.At = ledger.Done, ledger.ViaAdopted, at
		if err := r.Ledger.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	row := rerun.Row{Status: "done", ClientID: contact, URL: "https://go.example.test", ClaimIDs: []string{claim}, Record: cell.Record{Row: 2}}
	for _, text := range []string{"K1", ann, contact, "9", claim} {
		row.Record.Cells = append(row.Record.Cells, cell.Cell{Kind: cell.Text, Raw: text, Shown: text})
	}
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

// rowsComparison returns a Comparison of two sheets with a ledger that knows a
// client with claims; options are more of the mapping's client.
func rowsComparison(t *testing.T, options string) *rerun.Comparison {
	t.Helper()
	m, found := mapping.Parse("mapping.yaml", []byte(strings.Replace(rowsMapping, "client: {", "client: {"+options, 1)))
	if len(found) > 0 {
		t.Fatal(found)
	}
	tab := cell.Sheet{Name: "Results", HeaderRow: 1, Header: []string{"E-mail", "Loan", "Card"}}
	second := tab
	second.Table = 1
	binding, found := mapping.BindAll(m, []cell.Sheet{tab, second}, nil, "2026-11-20")
	if len(found) > 0 {
		t.Fatal(found)
	}
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	owner := ledger.ClientKey{Environment: service, Space: "email", Client: "ann@example.test"}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	events := []ledger.Event{
		{StepID: ledger.StepID{ClientKey: owner, Step: "client"}, To: ledger.Done, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "c-1", At: at},
		{StepID: ledger.StepID{ClientKey: owner, Mapping: "loans", Step: "claim/loan/L3"}, To: ledger.Refused, Kind: ledger.KindClaim, At: at},
	}
	for step, id := range map[string]string{"claim/loan/L1": "loan-1", "claim/loan/L2": "loan-2", "claim/card/K1": "card-1"} {
		events = append(events, ledger.Event{StepID: ledger.StepID{ClientKey: owner, Mapping: "loans", Step: step},
			To: ledger.Done, Kind: ledger.KindClaim, Via: ledger.ViaAdopted, ID: id, At: at})
	}
	if err := l.Append(events...); err != nil {
		t.Fatal(err)
	}
	return &rerun.Comparison{Ledger: l, Environment: service, Binding: binding}
}

func split(ids string) []string {
	return strings.FieldsFunc(ids, func(r rune) bool { return r == ',' })
}
