package mapping_test

import (
	"strings"
	"testing"
)

// TestOpenQuestions: the decisions that a first mapping asks for are warned of until
// their comments are gone, and a placeholder is never taken for an identifier.
func TestOpenQuestions(t *testing.T) {
	t.Parallel()
	const source = `# Answer the lines with DECIDE, then try claimsheet run --dry-run.
name: leads   # DECIDE: what is this campaign called?
api: v2
client:
  key: No   # DECIDE: does it identify a client?
  lookup: {email: Mail}
  fields: {no: No}
workflow:
  name: Leads
  template_identifier: TO-BE-AGREED   # DECIDE: the service's operator supplies it
activities:
  - template: T
    workflow: {name: Other, template_identifier: TO-BE-AGREED}
    attributes: {A: No}
`
	m := mustParse(t, source)
	if got := report(m.Warnings); !strings.Contains(got, "mapping.yaml:2:15: the questions DECIDE in lines 2, 5, 10 are not answered [open-questions]") {
		t.Errorf("the warnings are\n%s", got)
	}
	if got := report(m.Placeholders()); !strings.Contains(got, "mapping.yaml:10:24: ") || !strings.Contains(got, "mapping.yaml:13:") {
		t.Errorf("the placeholders are\n%s", got)
	}

	if m := mustParse(t, strings.ReplaceAll(source, "TO-BE-AGREED", "WF-1")); len(m.Placeholders()) > 0 {
		t.Errorf("an identifier is taken for a placeholder: %v", m.Placeholders())
	}
}
