package cli_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestKnownIDsOfASheet: a client and a claim whose ids the sheet gives are taken over
// without a request; the claim gets its activities. The dry run says the same, later
// runs and a rerun without the ledger find everything done, and another id in the cell
// is refused.
func TestKnownIDsOfASheet(t *testing.T) {
	t.Parallel()
	text := strings.Replace(stepThree, "  key: E-mail\n", "  key: E-mail\n  known_id: Contact ID\n  existing_activities: skip\n", 1)
	text = strings.Replace(text, "key: Agreement no,", "key: Agreement no, known_id: Claim ID,", 1)
	s := newScene(t, text, nil)
	contact := s.service.AddClient("c1@example.com", "elsewhere@example.com", "")
	claim := s.service.AddClaim(contact, "Loan A-1")
	other := s.service.AddClient("x@example.com", "x@example.com", "")
	sheet := func(contact string) {
		writeSheet(t, s.path(s.input), append(slices.Clone(header), "Contact ID", "Claim ID"),
			[][]any{append(lead(1, "A-1"), contact, claim), append(lead(1, "A-2"), nil, nil), append(lead(2, "B-1"), nil, nil)})
	}
	sheet(contact)
	p := s.foretold(0)
	if diff := cmp.Diff(map[string]int{"client": 1, "claim": 2, "activity": 5, "link": 2}, p.posts()); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	check := func(status string) {
		t.Helper()
		rows := s.results()
		if diff := cmp.Diff([]string{status, status, status}, column(rows, "Import status")); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
		if rows[0]["contactId"] != contact || rows[1]["contactId"] != contact || rows[0]["claimIds"] != claim || rows[1]["claimIds"] == claim {
			t.Errorf("the rows say %v", rows)
		}
	}
	check("done")
	if posts := s.mustRun(0).posts(); len(posts) > 0 {
		t.Errorf("the second run created %v", posts)
	}
	if code, out, _ := s.claimsheet("history", "--environments", s.path("environments.yaml"), "c1@example.com"); code != 0 || strings.Count(out, "adopted, the sheet gives its id (known_id)") != 2 {
		t.Errorf("history: exit code %d\n%s", code, out)
	}
	s.restoreState("")
	before := len(s.service.Created())
	if code, said := s.rerun("--yes", "leads.results.xlsx"); code != 0 || len(s.service.Created()) != before {
		t.Errorf("without the ledger: exit code %d\n%s", code, said)
	}
	check("unchanged")
	sheet(other)
	if posts := s.mustRun(1).posts(); len(posts) > 0 {
		t.Errorf("with another id, the run created %v", posts)
	}
	row := s.results()[0]
	if row["Import status"] != "failed" || row["contactId"] != contact || row["Failed step"] != "client" || !strings.Contains(row["Error"], other) ||
		!strings.Contains(row["What to do"], "put it into the cell") {
		t.Errorf("with another id, the row says %v", row)
	}
}

// TestKnownIDOfAClientInDoubt: an attempt at the client is in doubt, look-ups find nobody,
// and the sheet now gives an id that another row gives too. That row is refused and stays
// in doubt; the other rows of the sheet go on, in every run.
func TestKnownIDOfAClientInDoubt(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, strings.Replace(stepThree, "  key: E-mail\n", "  key: E-mail\n  known_id: Contact ID\n", 1), nil)
	s.pace.Believable = time.Millisecond
	id := s.service.AddClient("elsewhere@example.com", "elsewhere@example.com", "")
	sheet := func(first any, leads ...[]any) {
		rows := [][]any{append(lead(1, "A-1"), first), append(lead(2, "B-1"), id)}
		for _, row := range leads {
			rows = append(rows, append(row, nil))
		}
		writeSheet(t, s.path(s.input), append(slices.Clone(header), "Contact ID"), rows)
	}
	sheet(nil)
	s.inDoubt("client c1@example.com", apitest.Answer(apitest.JSON(500, `{}`)))
	s.mustRun(4, "--max-failures", "100%")
	s.service.Play(nil)
	sheet(id, lead(3, "C-1"))
	for _, status := range []string{"done", "unchanged"} {
		if dry := s.run("--dry-run", "--max-failures", "100%"); dry.code != 4 {
			t.Errorf("the dry run ended with exit code %d", dry.code)
		}
		s.foretold(4, "--max-failures", "100%")
		rows := s.results()
		if got := column(rows, "Import status"); got[0] != "uncertain" || got[2] != status {
			t.Errorf("the rows are %v", got)
		}
		if why := rows[0]["Error"]; !strings.Contains(why, "to another client, in") || !strings.Contains(rows[0]["What to do"], "correct the cell") {
			t.Errorf("the row in doubt says %v", rows[0])
		}
		if steps := s.steps(); steps[0]["Step"] != "client" || steps[0]["State"] != "parked" {
			t.Errorf("the step in doubt is %v", steps[0])
		}
	}
	sheet(nil, lead(3, "C-1"))
	s.mustRun(0)
	if made := s.service.Created()["client c1@example.com"]; len(made) != 1 {
		t.Errorf("the client was created %d times", len(made))
	}
}

const jointKnown = `
name: joint
api: v2
client:
  key: E-mail
  known_id: Contact ID
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, firstName: First name}
contacts:
  - {id: partner, when: has("Partner"), key: Partner, lookup: {email: Partner}, administrator: false, fields: {email: {column: Partner, type: Email}}}
claims:
  - {key: Agreement no, when: has("Agreement no"), name: "Loan {Agreement no}", claimants: [client, partner]}
`

// TestKnownIDOfAContactCorrected: the sheet has given an id for Pat, who is a contact of
// others, and gives another one now. Claims get the new id, wherever Pat's own row stands,
// unless a claim of another client was sent with the old one, or may have been.
func TestKnownIDOfAContactCorrected(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		first   bool // Pat's row is the first of the second sheet
		refused bool // the service refuses Ann's claim
		purge   bool // nothing is kept of what was sent
		code    int
	}{
		"a claim was refused":            {refused: true},
		"a claim was refused, Pat first": {refused: true, first: true},
		"a claim was sent":               {code: 1},
		"a claim was sent, Pat first":    {first: true, code: 1},
		"a claim is not kept":            {purge: true, code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, jointKnown, nil)
			old, id := s.service.AddClient("x1@example.com", "x1@example.com", ""), s.service.AddClient("x2@example.com", "x2@example.com", "")
			pat := func(id string) []any { return []any{"pat@example.com", "Pat", nil, nil, id} }
			a1 := []any{"ann@example.com", "Ann", "A-1", "pat@example.com", nil}
			sheet := func(rows ...[]any) {
				writeSheet(t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Contact ID"}, rows)
			}
			sheet(a1, pat(old))
			code := 0
			if c.refused {
				code = 1
				s.service.Play(apitest.Once(onStep("claim ann@example.com/Loan A-1"), apitest.Answer(apitest.JSON(422, `{}`))))
			}
			s.mustRun(code, "--only", "ann@example.com") // without Pat's own link
			if c.purge {
				if code, out, said := s.claimsheet("history", "--purge", "--older-than", "0d", "--yes", "--environments", s.path("environments.yaml")); code != 0 {
					t.Fatal(code, out, said)
				}
			}
			rows := [][]any{a1, {"ann@example.com", "Ann", "A-2", "pat@example.com", nil}, {"bob@example.com", "Bob", "B-1", "pat@example.com", nil}, pat(id)}
			if c.first {
				slices.Reverse(rows)
			}
			sheet(rows...)
			p := s.foretold(c.code, "--max-failures", "100%")
			claims := 0
			for _, call := range p.calls {
				if call.Kind != "claim" {
					continue
				}
				if claims++; strings.Contains(call.Body, old) || !strings.Contains(call.Body, id) {
					t.Errorf("a claim was sent as %s", call.Body)
				}
			}
			if (c.code == 0) != (claims > 0) {
				t.Errorf("%d claims were sent", claims)
			}
			for _, row := range s.results() {
				if c.code == 1 && (row["Import status"] != "failed" || !strings.Contains(row["Error"], old)) {
					t.Errorf("a row says %v", row)
				}
			}
			if again := s.mustRun(c.code, "--max-failures", "100%").posts(); len(again) > 0 {
				t.Errorf("the next run created %v", again)
			}
		})
	}
}

// TestWrongKnownIDIsWithdrawn: the service does not know the ids that the sheet gives for
// two clients and a claim. The rows say what to do. An emptied cell alone changes nothing.
// After settle has withdrawn the ids, the client who is there is found, and what is not
// there is created, also by a rerun of the workbook that shows the wrong ids.
func TestWrongKnownIDIsWithdrawn(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const wrong = "0bad0f3e-2f0e-4c53-9d25-0d4b9a0f7a1" // and a digit
	text := strings.Replace(stepThree, "  key: E-mail\n", "  key: E-mail\n  known_id: Contact ID\n", 1)
	s := newScene(t, strings.Replace(text, "key: Agreement no,", "key: Agreement no, known_id: Claim ID,", 1), nil)
	there := s.service.AddClient("c2@example.com", "c2@example.com", "")
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if strings.Contains(c.Path+c.Query+c.Body, wrong) {
			return apitest.Answer(apitest.JSON(404, `{}`))
		}
		return apitest.Fault{}
	})
	sheet := func(ids ...any) {
		writeSheet(t, s.path(s.input), append(slices.Clone(header), "Contact ID", "Claim ID"),
			[][]any{append(lead(1, "A-1"), ids[0], nil), append(lead(2, "B-1"), ids[1], nil), append(lead(3, "C-1"), nil, ids[2])})
	}
	sheet(wrong+"1", wrong+"2", wrong+"3")
	s.mustRun(1, "--max-failures", "100%")
	names := []string{"c1@example.com:client", "c2@example.com:client", "c3@example.com:claim/loan/C-1"}
	check := func() {
		t.Helper()
		for i, row := range s.results() {
			if row["Import status"] != "failed" || !strings.Contains(row["What to do"], `claimsheet settle --undo "`+names[i]+`"`) {
				t.Errorf("the row with a wrong id says %v", row)
			}
		}
	}
	check()
	sheet(nil, nil, nil)
	if made := s.mustRun(1, "--max-failures", "100%").posts()["client"]; made > 0 {
		t.Errorf("for cells that were emptied, the run created %d clients", made)
	}
	check()
	if said := s.decide(0, append([]string{"--undo"}, names...)...); strings.Count(said, "withdrawn") != 3 {
		t.Errorf("settle says %s", said)
	}
	if said := s.decide(2, "--undo", names[0]); !strings.Contains(said, "unknown-step") {
		t.Errorf("withdrawn twice: %s", said)
	}
	if code, said := s.rerun("leads.results.xlsx"); code != 0 {
		t.Errorf("the rerun ended with exit code %d\n%s", code, said)
	}
	rows, created := s.results(), s.service.Created()
	if len(created["client c1@example.com"]) != 1 || len(created["client c2@example.com"]) > 0 || rows[1]["contactId"] != there || len(created["claim c3@example.com/Loan C-1"]) != 1 {
		t.Errorf("created: %v; the rows are %v", created, rows)
	}
	s.mustRun(0)
	if said := s.decide(2, "--undo", names[1]); !strings.Contains(said, "unknown-step") {
		t.Errorf("a client whom a look-up found is withdrawn: %s", said)
	}
}
