package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"claimsheet/importer/cli"
)

// command runs any command of the program over the scene.
func (s *scene) command(args ...string) played {
	s.t.Helper()
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	p := played{code: cli.MainAt(s.t.Context(), args, stdio, s.pace), out: out.String(), err: diagnostics.String()}
	p.calls, s.seen = s.service.Since(s.seen)
	return p
}

// untypedScene is a scene whose service says no data types, and whose mapping
// leaves some out. amount is how it reads the attribute Amount.
func untypedScene(t *testing.T, amount string, rows [][]any) *scene {
	s := newScene(t, strings.NewReplacer("DOB", "{column: DOB, type: Date}", "Opt in", "{column: Opt in, type: Checkbox}",
		"Signed at: Signed", "Signed at: {column: Signed, type: DateTime}", "Amount: Amount", "Amount: "+amount,
	).Replace(stepThree), rows)
	s.service.Wire.DataType = ""
	return s
}

// commands are those that look at a mapping and a sheet before a run, and the
// run itself.
func (s *scene) commands() map[string][]string {
	m, sheet := s.path("mapping.yaml"), s.path("leads.xlsx")
	return map[string][]string{
		"check": {"check", "-m", m, "-e", "uat", sheet}, "dry run": {"run", "-m", m, "--dry-run", sheet}, "run": {"run", "-m", m, sheet},
	}
}

// TestTypedCellsWithoutAType: a number under an attribute whose type nobody
// says is refused wherever it stands in the sheet, and nothing is sent.
func TestTypedCellsWithoutAType(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(400)
	for _, row := range rows {
		row[7] = "1250.50"
	}
	rows[398][7], rows[399][7] = 1250.5, 2500
	s := untypedScene(t, "Amount", rows)
	for name, args := range s.commands() {
		p := s.command(args...)
		for _, want := range []string{
			"mapping.yaml:20:50: neither the service nor the mapping says the type of “Amount” of “Agreement details”, and Sheet1!H400 holds a number (the first of 2)",
			"say what it is: Amount: {column: Amount, type: Number}",
		} {
			if !strings.Contains(p.err, want) {
				t.Errorf("%s does not say %q:\n%s", name, want, p.err)
			}
		}
		if p.code != 2 || len(p.posts()) > 0 {
			t.Errorf("%s: exit code %d, sent %v", name, p.code, p.posts())
		}
	}
}

// TestAttributesWithoutAType: texts under an attribute whose type nobody says
// are sent as such, and every command names the attribute.
func TestAttributesWithoutAType(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := untypedScene(t, "{column: Amount, type: Currency}", leads(2))
	commands := s.commands()
	commands["doctor"] = []string{"doctor", "-m", s.path("mapping.yaml"), "-e", "uat"}
	for _, name := range []string{"check", "doctor", "dry run", "run"} {
		p := s.command(commands[name]...)
		said := p.err
		if name == "doctor" {
			said = p.out
		}
		for _, want := range []string{
			"the type of “Home address” of “Your details”: it is sent as Text", "the type of “Agreement number” of “Agreement details”: it is sent as Text",
			"Agreement number: {column: Agreement no, type: Text}",
		} {
			if strings.Count(said, want) != 1 {
				t.Errorf("%s does not say %q once:\n%s%s", name, want, p.out, p.err)
			}
		}
		if p.code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, p.code, p.err)
		}
	}
}

// TestStrayTemplateIDs: an entry of template_ids that names nothing is warned of
// wherever a mapping is bound, and one that is used is not.
func TestStrayTemplateIDs(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	s.environment(`template_ids: {Your detials: 10000000-0000-4000-8000-000000000001, Your details/Home adress: 11000000-0000-4000-8000-000000000002,
  Your details: 10000000-0000-4000-8000-000000000001, Your details/Date of birth: 11000000-0000-4000-8000-000000000001}`)
	commands := s.commands()
	commands["doctor"] = []string{"doctor", "-m", s.path("mapping.yaml"), "-e", "uat"}
	for name, args := range commands {
		p := s.command(args...)
		for _, want := range []string{
			"template_ids of the environment “uat” has an entry “Your detials”, and there is no such template or attribute",
			"did you mean “Your details”?", "has an entry “Your details/Home adress”",
		} {
			if !strings.Contains(p.err+p.out, want) {
				t.Errorf("%s does not say %q:\n%s%s", name, want, p.out, p.err)
			}
		}
		if p.code != 0 || strings.Count(p.err+p.out, "[stray-template-id]") != 2 {
			t.Errorf("%s: exit code %d\n%s%s", name, p.code, p.out, p.err)
		}
	}
}
