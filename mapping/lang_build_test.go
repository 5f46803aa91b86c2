package mapping_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var update = flag.Bool("update", false, "write the golden files of testdata again")

// golden compares got with a file, or writes the file under -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// report is how problems are shown: each with its place and code, the hint below.
func report(list problem.List) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintln(&b, p.Error())
		if p.Hint != "" {
			fmt.Fprintln(&b, "    hint:", p.Hint)
		}
	}
	return b.String()
}

// leads is a sheet as a test writes it down: a line for each row, the header
// first, cells between bars.
func leads(lines ...string) (cell.Sheet, []cell.Record) {
	split := func(line string) []string {
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " ")
		}
		return cells
	}
	sheet := cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: split(lines[0])}
	var records []cell.Record
	for i, line := range lines[1:] {
		r := cell.Record{Row: i + 2}
		for _, s := range split(line) {
			if s == "" {
				r.Cells = append(r.Cells, cell.Cell{})
				continue
			}
			r.Cells = append(r.Cells, text(s))
		}
		records = append(records, r)
	}
	return sheet, records
}

// service is the reference data of a test's environment: templates by name,
// each attribute's id being its template's and its own name.
func service(templates ...mapping.Template) *mapping.Service {
	return &mapping.Service{Environment: "uat", Templates: templates, WorkflowTemplateIdentifier: "WF"}
}

func template(name string, attributes ...string) mapping.Template {
	t := mapping.Template{ID: "id of " + name, Name: name}
	for _, a := range attributes {
		a, typ, _ := strings.Cut(a, ":")
		t.Attributes = append(t.Attributes, mapping.AttributeTemplate{ID: "id of " + name + "/" + a, Name: a, Type: convert.Type(typ)})
	}
	return t
}

func mustParse(t testing.TB, source string) *mapping.Mapping {
	t.Helper()
	m, problems := mapping.Parse("mapping.yaml", []byte(source))
	if len(problems) > 0 {
		t.Fatalf("the mapping has problems:\n%s", report(problems))
	}
	return m
}

const runDate = "2026-11-20"

func mustBind(t testing.TB, source string, sheet cell.Sheet, to *mapping.Service) *mapping.Binding {
	t.Helper()
	b, problems := mapping.Bind(mustParse(t, source), &sheet, to, runDate)
	if len(problems) > 0 {
		t.Fatalf("the mapping cannot be bound:\n%s", report(problems))
	}
	return b
}

// planAll reads every record and plans every client, clients in the order of
// their first rows; a row without a client is a plan of its own.
func planAll(b *mapping.Binding, records []cell.Record) []mapping.Plan {
	var order []mapping.Identity
	groups := map[mapping.Identity][]mapping.ConvertedRow{}
	var alone []mapping.Plan
	for _, r := range records {
		lead := b.Convert(r)
		if lead.Client == (mapping.Identity{}) {
			alone = append(alone, b.Plan(0, []mapping.ConvertedRow{lead}))
			continue
		}
		if _, known := groups[lead.Client]; !known {
			order = append(order, lead.Client)
		}
		groups[lead.Client] = append(groups[lead.Client], lead)
	}
	var plans []mapping.Plan
	for i, who := range order {
		plans = append(plans, b.Plan(i+1, groups[who]))
	}
	return append(plans, alone...)
}

// outline is a plan in a line for each step or problem: key, status, rows and
// what is sent.
func outline(p mapping.Plan) []string {
	if p.Skipped != "" {
		return []string{fmt.Sprint("skipped ", p.Rows)}
	}
	lines := []string{fmt.Sprintf("%d %s %q %v", p.Number, p.Client.Space, p.Client.Key, p.Rows)}
	for _, found := range p.Problems {
		lines = append(lines, found.Error())
	}
	for _, s := range p.Steps {
		line := fmt.Sprint(s.Key, " ", s.Rows)
		switch {
		case s.Kind == mapping.ClientStep || s.Kind == mapping.ContactStep:
			if s.NotAdministrator {
				line += " no administrator"
			}
			for _, f := range s.Fields {
				line += sent(f)
			}
		case s.Kind == mapping.ClaimStep:
			line += " " + s.Name
			if len(s.Fields) > 1 {
				line += fmt.Sprintf(" by %s%s for %v", s.Administrator, s.AdministratorID, s.Claimants)
			}
		case s.Activity != nil:
			line += " " + s.Activity.Status
			for _, a := range s.Fields {
				line += sent(a)
			}
		}
		if s.KnownID != "" {
			line += " known as " + s.KnownID
		}
		lines = append(lines, line)
	}
	return lines
}

func outlines(plans []mapping.Plan) []string {
	var lines []string
	for _, p := range plans {
		lines = append(lines, outline(p)...)
	}
	return lines
}

// sent is a value in an outline; "" for one that is left out.
func sent(v mapping.Value) string {
	if v.Value.IsZero() {
		return ""
	}
	return " " + v.Name + "=" + string(v.Value.JSON())
}

func text(s string) cell.Cell { return cell.Cell{Kind: cell.Text, Raw: s, Shown: s} }

// number is a cell in General format.
func number(raw string) cell.Cell {
	return cell.Cell{Kind: cell.Number, Raw: raw, Shown: raw}
}

func formatted(raw, shown, format string) cell.Cell {
	return cell.Cell{Kind: cell.Number, Raw: raw, Shown: shown, Format: format}
}
