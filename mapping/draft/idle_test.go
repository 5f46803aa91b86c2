package draft

import (
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
)

// answers returns the mapping with one of the proposals that are comments in use, as a
// person does it who takes the # away; each of them once.
func answers(p *Proposal) (all []string) {
	lines := strings.Split(strings.TrimSuffix(string(p.YAML()), "\n"), "\n")
	take := func(beginning string) {
		for i, line := range lines {
			if strings.HasPrefix(line, beginning) {
				made := slices.Clone(lines)
				made[i] = strings.Replace(line, "# ", "", 1)
				all = append(all, strings.Join(made, "\n"))
			}
		}
	}
	take("    # on: ")
	for _, t := range p.live {
		for _, l := range t.links {
			if l.idle {
				take("      # " + yamltree.Quote(l.to) + ":")
			}
		}
	}
	return all
}

// takesAnswers expects that check finds no mistake in any of the answers.
func takesAnswers(t *testing.T, p *Proposal, headers []string) {
	t.Helper()
	takes(t, p, headers, answers(p)...)
}

// takes expects that check finds no mistake in mappings.
func takes(t interface {
	Helper()
	Errorf(string, ...any)
}, p *Proposal, headers []string, mappings ...string) {
	t.Helper()
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: usable(headers)}
	for _, yaml := range mappings {
		m, found := mapping.Parse("mapping.yaml", []byte(yaml))
		if len(found) == 0 {
			_, found = mapping.Bind(m, &sheet, p.request.Service, "2026-01-02")
		}
		if len(found) > 0 {
			t.Errorf("check finds\n%v\nin\n%s", found, yaml)
		}
	}
}

// TestAnswers: every proposal that is a comment can be used by taking its # away.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for i, s := range leadSheets {
		if !*testform.Long && i%4 != 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, service := range []*mapping.Service{sandboxService(t), untyped(sandboxService(t))} {
				made := proposeFor(t, Request{Name: s.name, API: s.api, Sources: []string{s.name + ".xlsx"}, Service: service}, s.headers, s.records())
				takesAnswers(t, made, s.headers)
			}
		})
	}
	t.Run("a time that is a question", func(t *testing.T) {
		t.Parallel()
		headers := []string{"Email", "Agreement No", "Agreement Start Date", "Signed"}
		var records []cell.Record
		for i := range 5 {
			records = append(records, cell.Record{Row: i + 2, Cells: cellsOf([]any{mailOf("Ann", i), "Ann Lee", "2020-01-05", "2020-01-06"})})
		}
		made := proposeFor(t, Request{Name: "x", API: "v2", Sources: []string{"x.xlsx"}, Service: sandboxService(t)}, headers, records)
		if len(answers(made)) == 0 {
			t.Errorf("no comments to use in\n%s", made.YAML())
		}
		takesAnswers(t, made, headers)
	})
}

// untyped takes the data types out of a service's answer.
func untyped(s *mapping.Service) *mapping.Service {
	for _, t := range s.Templates {
		for i := range t.Attributes {
			t.Attributes[i].Type, t.Attributes[i].Options = convert.Type(""), nil
		}
	}
	return s
}
