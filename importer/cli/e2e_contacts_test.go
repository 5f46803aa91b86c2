package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
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

// TestContactsInResults: the column contacts has, for each row, the contacts that it
// names, in the order of the mapping. It stays in every workbook and list that shows
// the row again: the next night's, also where the row is invalid or held back by then,
// a plan's, that of report, that of a rerun without the ledger, and history.
func TestContactsInResults(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newJoint(t)
	from, to := strings.Index(joint, "claims:"), strings.Index(joint, "workflow:")
	s.mapping(joint[:from] + `  - {id: broker, key: Broker, when: has("Broker"), lookup: {email: Broker}, fields: {email: {column: Broker, type: Email}}}
claims:
  - {id: led, key: Agreement no, when: has("Broker"), name: "Loan {Agreement no}", claimants: [client, partner], administrator: broker}
  - {id: own, key: Agreement no, when: not has("Broker"), name: "Loan {Agreement no}", claimants: [client, partner]}
` + joint[to:])
	rows := [][]any{
		{"a@example.com", "Ann", "A-1", "p@example.com", "Poe", "x@example.com"},
		{"a@example.com", "Ann", "A-2", "q@example.com", "Quo", nil},
		{"b@example.com", "Bob", "B-1", nil, nil, nil},
		{"c@example.com", "Cid", "C-1", "P@example.com", "Poe", nil},
	}
	sheet := func() {
		t.Helper()
		writeSheet(t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name", "Broker"}, rows)
	}
	sheet()
	s.mustRun(0)
	id := func(who string) string { return s.service.Created()["client "+who+"@example.com"][0].ID }
	want := []string{"partner: " + id("p") + ", broker: " + id("x"), "partner: " + id("q"), "", "partner: " + id("p")}
	expect := func(what string, shown []record) {
		t.Helper()
		if diff := cmp.Diff(want, column(shown, "contacts")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	expect("the first night", s.results())
	s.mustRun(0, "--dry-run")
	expect("a plan", s.workbook("leads.plan.xlsx", "Results"))
	s.mustRun(0)
	expect("a night without news", s.results())
	if code, _, said := s.claimsheet("report", "-m", s.path("mapping.yaml"), "-o", s.path("again.xlsx")); code != 0 {
		t.Fatal(code, said)
	}
	expect("report", s.workbook("again.xlsx", "Results"))

	editWorkbook(t, s.path("again.xlsx"), func(f *excelize.File) {
		set(t, f, "contactId", 5, "somebody-else")
	})
	if code, said := s.rerun("--max-failures", "100%", "again.xlsx"); code != 1 {
		t.Fatal(code, said)
	}
	expect("a row that is held back", s.workbook("again.xlsx", "Results"))
	if !slices.ContainsFunc(s.workbook("again.xlsx", "Steps"), func(line record) bool {
		return line["Client key"] == "c@example.com" && line["Step"] == "contact/email/p@example.com" && line["Id"] == id("p")
	}) {
		t.Error("the sheet Steps has no line of the contact of a client who is held back")
	}

	rows[0][2], rows[1][2] = nil, nil // invalid: the key of a claim is missing
	sheet()
	s.mustRun(1, "--only", "a@example.com", "--max-failures", "100%")
	expect("invalid rows, and rows that are left out", s.results())
	must(t, os.RemoveAll(s.path(".claimsheet")))
	if code, said := s.rerun("--yes", "--max-failures", "100%", "leads.results.xlsx"); code != 1 {
		t.Fatal(code, said)
	}
	expect("a rerun without the ledger", s.results())
	if p := s.since(); len(p.posts()) > 0 {
		t.Errorf("it sent again:\n%s", transcript(p.calls))
	}
}

// TestKilledAtBoundariesOfAContact kills the program at every place of a contact
// that two clients share. Created, it is found; not created, it is parked, and
// neither client gets a claim before that is decided. It is never asked for twice.
func TestKilledAtBoundariesOfAContact(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary := trialName
	var rows []string
	for n := range places {
		rows = append(rows, fmt.Sprintf("c%d@ | Ann | A-%d | p%d@ | Poe", n, n, n), fmt.Sprintf("d%d@ | Dan | B-%d | p%d@ | Poe", n, n, n))
	}
	s := newJoint(t, rows...)
	for n, place := range places {
		s.killAt(binary, place, boundary{"contact", "client", fmt.Sprintf("client p%d@example.com", n)})
	}
	s.runUntilQuiet(binary)
	for n, place := range places {
		state, asked, claims := "done", 1, 1
		if place == "after-intent" || place == "before-write" || place == "half-written" {
			state, asked, claims = "uncertain", 0, 0
		}
		if got := s.asked()[fmt.Sprintf("client p%d@example.com", n)]; got != asked {
			t.Errorf("killed %s: the service was asked %d times for the contact, want %d", place, got, asked)
		}
		for _, claim := range []string{fmt.Sprintf("A-%d", n), fmt.Sprintf("B-%d", n)} {
			if got := len(s.service.Created()["claim broker@example.com/Loan "+claim]); got != claims {
				t.Errorf("killed %s: %d claims %s, want %d", place, got, claim, claims)
			}
		}
		lines := 0
		for _, line := range s.steps() {
			if line["Step"] == fmt.Sprintf("contact/email/p%d@example.com", n) {
				if lines++; line["State"] != state {
					t.Errorf("killed %s: the contact is %s beside %s, want %s", place, line["State"], line["Client key"], state)
				}
			}
		}
		if lines != 2 {
			t.Errorf("killed %s: the contact has %d lines in the sheet Steps, want one for each of its clients", place, lines)
		}
	}
}

// TestContactOfTheEnvironment says what is wrong with the place of a contact's id,
// before anything is sent.
func TestContactOfTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newJoint(t, "a@ | Ann | A-1 | |")
	for text, want := range map[string]string{"": "is empty", "two words": "not one word", strings.Repeat("x", 300): "too long for an id",
		"contact-7": "is not an id of the service", "00000000-0000-0000-0000-000000000000": "stands for no id"} {
		write(t, s.path("broker"), text)
		p := s.run()
		if p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, want) || !strings.Contains(p.err, "mapping.yaml:16:") || text != "" && strings.Contains(p.err, text) {
			t.Errorf("%q: exit code %d, want %q\n%s", text, p.code, want, p.err)
		}
	}
	must(t, os.Remove(s.path("broker")))
	if p := s.run(); p.code != 2 || !strings.Contains(p.err, "[contact-id]") {
		t.Errorf("without the file: exit code %d\n%s", p.code, p.err)
	}
}
