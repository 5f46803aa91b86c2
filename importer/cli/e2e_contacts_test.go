package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// joint is a mapping whose claims have a partner as a claimant, and are administered
// by a contact that the environment has.
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

const broker = "c9000000-0000-4000-8000-000000000009"

// newJoint is a scene of joint; a row is an e-mail address, a name, an agreement, and
// the partner's address and name.
func newJoint(t *testing.T, rows ...string) *scene {
	t.Helper()
	s := newScene(t, joint, nil)
	write(t, s.path("broker"), s.service.AddClient("broker@example.com", "broker@example.com", "")+"\n")
	s.jointRows(rows...)
	return s
}

func (s *scene) jointRows(rows ...string) {
	s.t.Helper()
	var cells [][]any
	for _, row := range rows {
		var line []any
		for _, text := range strings.Split(row, "|") {
			line = append(line, strings.ReplaceAll(strings.TrimSpace(text), "@", "@example.com"))
		}
		cells = append(cells, line)
	}
	writeSheet(s.t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name"}, cells)
}

// TestSharedContact creates a contact once for all clients who name it, before the
// first claim that needs it, as the dry run says. The next night sends nothing, and
// neither does a rerun of the workbook without the ledger.
func TestSharedContact(t *testing.T) {
	t.Parallel()
	s := newJoint(t, "a@ | Ann | A-1 | p@ | Poe", "b@ | Bob | B-1 | |", "b@ | Bob | B-2 | P@ | Poe", "c@ | Cid | C-1 | q@ |")
	predicted := s.mustRun(0, "--dry-run")
	p := s.mustRun(0, "--concurrency", "1")
	if got, want := p.summary.Requests, predicted.summary.Requests; got != want {
		t.Errorf("the run made %+v, the dry run said %+v", got, want)
	}
	const want = `
POST /funnel/v2/contacts?isAdministrator=true {"email":"a@example.com","firstName":"Ann"}
GET /funnel/v2/contacts/by-email/p%40example.com
POST /funnel/v2/contacts {"email":"p@example.com","firstName":"Poe"}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT2","CLIENT3"],"claimName":"Loan A-1"}
`
	got := transcript(p.calls)
	_, first, _ := strings.Cut(got, "\nPOST ") // behind the look-ups that find out whether the ledger was lost
	if diff := cmp.Diff(strings.SplitAfter(want[1:], "\n")[:4], strings.SplitAfter("POST "+first, "\n")[:4]); diff != "" {
		t.Errorf("the first calls (-want +got):\n%s", diff)
	}
	if n := strings.Count(got, `POST /funnel/v2/contacts {"email":"p@`); n != 1 {
		t.Errorf("the shared contact is asked for %d times\n%s", n, got)
	}
	id := s.service.Created()["client p@example.com"][0].ID
	lines := 0
	for _, line := range s.workbook("leads.results.xlsx", "Steps") {
		if line["Step"] == "contact/email/p@example.com" {
			lines++
			if line["Id"]+line["ID"] != id && line["State"] != "done" {
				t.Errorf("a line of the contact is %v, want the id %s", line, id)
			}
		}
	}
	if lines != 2 {
		t.Errorf("the sheet Steps has %d lines of the contact, want one for each of two clients", lines)
	}
	for _, again := range []func() played{
		func() played { return s.mustRun(0) },
		func() played {
			must(t, os.RemoveAll(s.path(".claimsheet")))
			code, said := s.rerun("--yes", "leads.results.xlsx")
			p := s.since()
			if p.code = code; code != 0 {
				t.Errorf("rerun without the ledger: exit code %d\n%s", code, said)
			}
			return p
		},
	} {
		if p := again(); len(p.posts()) > 0 {
			t.Errorf("it sent again:\n%s", transcript(p.calls))
		}
	}
}

// TestContactWhoIsAClient makes one contact of a person who is a client in one row
// and somebody's partner in another, in either order, as the dry run says.
func TestContactWhoIsAClient(t *testing.T) {
	t.Parallel()
	client, partner := "b@ | Bob | B-1 | |", "a@ | Ann | A-1 | b@ | Bob"
	for name, rows := range map[string][]string{"the client first": {client, partner}, "the partner first": {partner, client}} {
		for _, workers := range []string{"1", "4"} {
			t.Run(name+", "+workers, func(t *testing.T) {
				t.Parallel()
				s := newJoint(t, rows...)
				predicted := s.mustRun(0, "--dry-run")
				p := s.mustRun(0, "--concurrency", workers)
				if got, want := p.summary.Requests, predicted.summary.Requests; got != want {
					t.Errorf("the run made %+v, the dry run said %+v", got, want)
				}
				if n := len(s.service.Created()["client b@example.com"]); n != 1 {
					t.Errorf("%d contacts of one person\n%s", n, transcript(p.calls))
				}
				if p := s.mustRun(0); len(p.posts()) > 0 {
					t.Errorf("it sent again:\n%s", transcript(p.calls))
				}
			})
		}
	}
}

// TestContactInTrouble stops the claims that need the contact and no others, and
// asks for the contact once.
func TestContactInTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  apitest.Fault
		status string
	}{
		"refused":   {apitest.Answer(apitest.JSON(422, "{}")), "failed"},
		"uncertain": {apitest.Answer(apitest.JSON(500, "{}")), "uncertain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJoint(t, "a@ | Ann | A-1 | p@ | Poe", "a@ | Ann | A-2 | |", "b@ | Bob | B-1 | p@ | Poe")
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Step == "client p@example.com" {
					return c.fault
				}
				return apitest.Fault{}
			})
			p := s.run("--max-failures", "100%")
			if n := strings.Count(strings.Join(p.steps(), "\n"), "client p@example.com"); n != 1 {
				t.Errorf("the contact is asked for %d times", n)
			}
			rows := s.results()
			var got []string
			for _, row := range rows {
				got = append(got, row["Import status"]+" "+row["Failed step"]+" "+fmt.Sprint(row["claimIds"] != ""))
			}
			want := []string{c.status + " contact/email/p@example.com false", "not started  true", c.status + " contact/email/p@example.com false"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			s.service.Play(nil)
			if c.status == "failed" {
				s.mustRun(0)
				if n := len(s.service.Created()["client p@example.com"]); n != 1 {
					t.Errorf("the contact was created %d times", n)
				}
			}
		})
	}
}
