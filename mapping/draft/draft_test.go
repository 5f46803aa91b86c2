package draft

import (
	"encoding/json"
	"flag"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
	"claimsheet/mapping/yamlpatch"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var update = flag.Bool("update", false, "write the golden files")

func draftService() *mapping.Service {
	return &mapping.Service{Environment: "uat", Templates: []mapping.Template{
		{ID: "1", Name: "Your details", Attributes: []mapping.AttributeTemplate{
			{ID: "1a", Name: "Date of birth", Type: convert.Date}, {ID: "1b", Name: "Home address", Type: convert.TextArea}, {ID: "1c", Name: "Postcode", Type: convert.Text}, {ID: "1d", Name: "Consent to contact", Type: convert.Checkbox}}},
		{ID: "2", Name: "Agreement details", Attributes: []mapping.AttributeTemplate{
			{ID: "2a", Name: "Agreement number", Type: convert.Text}, {ID: "2b", Name: "Amount", Type: convert.Currency}, {ID: "2c", Name: "Signed at", Type: convert.DateTime}, {ID: "2d", Name: "Note", Type: ""}}},
		{ID: "3", Name: "Sign your claim"},
		{ID: "4", Name: "Twice"}, {ID: "5", Name: "Twice"},
	}}
}

var draftHeaders = []string{"Agreement no", "E-mail", "First name", "Surname", "Mobile", "DOB", "Address", "Post code", "Loan amount", "Signed at",
	"Signed: by", "note", "", "Dup", "dup", "Import status"}

// each yields records without an error.
func each(records []cell.Record) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// proposeFor makes a proposal for a sheet of these headers and records.
func proposeFor(t interface {
	Helper()
	Fatal(...any)
}, r Request, headers []string, records []cell.Record) *Proposal {
	t.Helper()
	seen := NewProfile(headers)
	if err := seen.Read(cell.Sheet{Name: "Leads", HeaderRow: 1, Header: headers}, each(records)); err != nil {
		t.Fatal(err)
	}
	return Propose(r, seen)
}

// golden compares a file with what is expected of it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got), go test ./mapping/draft -update:\n%s", diff)
	}
}

// TestProposalOfHeaders compares proposals for sheets without rows with golden files.
func TestProposalOfHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		Request
		headers []string
	}{
		"v2":       {Request{Name: "leads", API: "v2", Sources: []string{"leads.xlsx"}, Service: draftService()}, draftHeaders},
		"v1":       {Request{Name: "leads", API: "v1", Sources: []string{"a.xlsx", "b\n.xlsx"}, Service: draftService()}, draftHeaders},
		"skeleton": {Request{Name: "leads", API: "v2", Sources: []string{"leads.xlsx"}}, draftHeaders},
		"nothing":  {Request{Name: "no", API: "v2", Sources: []string{"x.xlsx"}, Service: &mapping.Service{}}, []string{"Colour", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := proposeFor(t, c.Request, c.headers, nil)
			golden(t, "testdata/"+name+".yaml", made.YAML())
			passes(t, made, c.headers)
		})
	}
}

// passes expects that nothing is wrong with a proposal but what is wrong with the
// sheet itself.
func passes(t interface {
	Helper()
	Errorf(string, ...any)
}, made *Proposal, headers []string) {
	t.Helper()
	if found := made.Problems(cell.Sheet{Name: "Leads", HeaderRow: 1, Header: usable(headers)}); len(found) > 0 {
		t.Errorf("the draft has problems:\n%v\n%s", found, made.YAML())
	}
	if whole, plain := valueOf(made.YAML()), valueOf(made.Plain()); whole != plain {
		t.Errorf("without its comments the draft says\n%s\nand with them\n%s", plain, whole)
	}
	for _, s := range made.Suggestions() {
		if !json.Valid(s.Value) || (s.Path == nil) != (s.Attribute != "") {
			t.Errorf("the suggestion %+v is not whole", s)
		}
	}
}

// valueOf returns what a YAML file says.
func valueOf(file []byte) string {
	d, err := yamlpatch.Read(file)
	if err != nil {
		return err.Error()
	}
	value, _ := d.Value()
	return string(value)
}

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

// anyCell draws what people write into cells.
func anyCell() *rapid.Generator[cell.Cell] {
	text := rapid.Custom(func(t *rapid.T) cell.Cell {
		s := rapid.OneOf(rapid.SampledFrom([]string{"", " ", "ann@example.com", "07911 123456", "+49 151 23456789", "01/02/2026", "31.12.1980", "2026-01-31", "n/a", "-", "none", "Yes", "No", "ja",
			"1,234", "1.234,50", "5%", "total", "LLOY", "Lloyds", "A: b", "x\ny", "'", `"`, "{x}"}), rapid.StringN(0, 8, -1)).Draw(t, "text")
		return cell.Cell{Kind: cell.Text, Raw: s, Shown: s}
	})
	return rapid.OneOf(text, text, rapid.SampledFrom([]cell.Cell{{}, {Kind: cell.Number, Raw: "12.5", Shown: "12.5"}, {Kind: cell.Number, Raw: "0.05", Shown: "5%", Format: "0%"},
		{Kind: cell.Date, Raw: "29342", Shown: "1980-05-01", Format: "dd/mm/yyyy"}, {Kind: cell.Date, Raw: "29342.5", Shown: "1980-05-01T12:00:00"}, {Kind: cell.Bool, Raw: "1", Shown: "TRUE"},
		{Kind: cell.Error, Raw: "#N/A", Shown: "#N/A"}, {Kind: cell.Uncomputed}}))
}

// anyHeader draws what people and programs put above a column, and what they do
// not.
func anyHeader() *rapid.Generator[string] {
	odd := []rune("aZ09 :-#{}[]\"'\\|>&*!%@`,?=~.\t\n\r\u0001\u007f\u0085\u009b\u00a0\u00ad\u200b\u2028\u2029\u202e\ufeff\ufffd\ufffe\uffff\ue000é😀\U000e0041\U0010ffff")
	return rapid.OneOf(
		rapid.SampledFrom([]string{"email", "E-mail", "Mobile", "no", "DOB", "Error", "clientId", "CLIENT ID", "Source row", "error ", "Import status", "", " ", "null", "yes", "- x", "---", "...", "<<", "a: b", "a #b",
			"{{x}}", "{Ref}", "}{", "run.date", "{sheet}", "1", "1.5", "0x1F", "2026-01-01", "=", "!x", "&x", "*x", "%x", "key", "\ufffe", "A\ufffeB", "e-mail\u200b", "E\u00adrror"}),
		rapid.StringOfN(rapid.RuneFrom(odd), 0, 12, -1),
		rapid.StringN(0, 20, -1),
	)
}

// A proposal is right for any sheet and any templates, whatever stands in them and whatever the files are called.
func TestProposalPassesWhateverTheNames(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(anyHeader(), rapid.SampledFrom([]string{"email", "phone", "E-mail", "Mobile", "DOB", "Amount", "no", "{Ref}", "a: b", "yes", "#1", "First name", "- x", "'q'", `"`, "é", "\u00a0No", "x, y",
		"Lender 1", "Lender 2", "Amount 1", "Amount 2", "Agreement no 1", "Agreement no 2", "Street", "Town", "Consent", "Lender", "Agreement no"}),
		rapid.StringMatching(`[ -~äöü]{1,12}`))
	attribute := rapid.Custom(func(t *rapid.T) mapping.AttributeTemplate {
		return mapping.AttributeTemplate{ID: rapid.StringN(1, 4, 8).Draw(t, "id"), Name: convert.FoldSpace("x" + name.Draw(t, "attribute"))[rapid.IntRange(0, 1).Draw(t, "plain"):],
			Type: rapid.SampledFrom(append([]convert.Type{""}, convert.AttributeTypes()...)).Draw(t, "type"), Options: rapid.SliceOfN(rapid.SampledFrom([]string{"Lloyds", "Yes", "none", "", "a: b"}), 0, 3).Draw(t, "options")}
	}).Filter(func(a mapping.AttributeTemplate) bool { return convert.FoldSpace(a.Name) == a.Name && a.Name != "" })
	template := rapid.Custom(func(t *rapid.T) mapping.Template {
		return mapping.Template{ID: rapid.StringN(1, 4, 8).Draw(t, "id"), Name: convert.FoldSpace("t" + name.Draw(t, "template")), Attributes: rapid.SliceOfN(attribute, 0, 4).Draw(t, "attributes")}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := Request{Name: name.Draw(t, "name"), API: rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "api"), Sources: []string{anyHeader().Draw(t, "source")},
			Service: &mapping.Service{Templates: rapid.SliceOfN(template, 0, 4).Draw(t, "templates")}}
		headers := rapid.SliceOfN(name, 1, 8).Draw(t, "headers")
		if len(usable(headers)) == 0 {
			t.Skip()
		}
		var records []cell.Record
		for i, cells := range rapid.SliceOfN(rapid.SliceOfN(anyCell(), 0, len(headers)), 0, 6).Draw(t, "rows") {
			records = append(records, cell.Record{Row: i + 2, Cells: cells})
		}
		made := proposeFor(t, r, headers, records)
		passes(t, made, headers)
		if all := answers(made); len(all) > 0 {
			takes(t, made, headers, rapid.SampledFrom(all).Draw(t, "answer"))
		}
	})
}
