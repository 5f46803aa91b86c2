package cli_test

import (
	"os"
	"strings"
	"testing"
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
