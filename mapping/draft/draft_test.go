package draft

import (
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

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

// TestDraft compares whole drafts with golden files.
func TestDraft(t *testing.T) {
	for name, d := range map[string]Draft{
		"v2":       {Name: "leads", API: "v2", Sources: []string{"leads.xlsx"}, Headers: draftHeaders, Service: draftService()},
		"v1":       {Name: "leads", API: "v1", Sources: []string{"a.xlsx", "b\n.xlsx"}, Headers: draftHeaders, Service: draftService()},
		"skeleton": {Name: "leads", API: "v2", Sources: []string{"leads.xlsx"}, Headers: draftHeaders},
		"nothing":  {Name: "no", API: "v2", Sources: []string{"x.xlsx"}, Headers: []string{"Colour", "1"}, Service: &mapping.Service{}},
	} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/" + name + ".yaml"
			got := d.YAML()
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
				t.Errorf("(-want +got), go test ./mapping/draft -run Draft -update:\n%s", diff)
			}
			passes(t, d)
		})
	}
}

// passes expects that nothing is wrong with a draft but what is wrong with the
// sheet itself.
func passes(t interface {
	Helper()
	Errorf(string, ...any)
}, d Draft) {
	t.Helper()
	m, found := mapping.Parse("draft.yaml", d.YAML())
	if len(found) == 0 {
		sheet := &cell.Sheet{Name: "Leads", HeaderRow: 1, Header: usableColumns(d.Headers)}
		_, found = mapping.Bind(m, sheet, d.Service, "2026-11-20")
	}
	if len(found) > 0 {
		t.Errorf("the draft has problems:\n%v\n%s", found, d.YAML())
	}
}

// TestDraftPassesWhateverTheNames: a first mapping is right for any sheet and
// any templates.
func TestDraftPassesWhateverTheNames(t *testing.T) {
	name := rapid.OneOf(rapid.SampledFrom([]string{"email", "phone", "E-mail", "Mobile", "DOB", "Amount", "no", "{Ref}", "a: b", "yes", "#1", "First name", "- x", "'q'", `"`, "é", "\u00a0No", "x, y"}),
		rapid.StringMatching(`[ -~äöü]{1,12}`))
	attribute := rapid.Custom(func(t *rapid.T) mapping.AttributeTemplate {
		return mapping.AttributeTemplate{ID: rapid.StringN(1, 4, 8).Draw(t, "id"), Name: convert.FoldSpace("x" + name.Draw(t, "attribute")), Type: rapid.SampledFrom(append([]convert.Type{""}, convert.AttributeTypes()...)).Draw(t, "type")}
	})
	template := rapid.Custom(func(t *rapid.T) mapping.Template {
		return mapping.Template{ID: rapid.StringN(1, 4, 8).Draw(t, "id"), Name: convert.FoldSpace("t" + name.Draw(t, "template")), Attributes: rapid.SliceOfN(attribute, 0, 4).Draw(t, "attributes")}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := Draft{Name: name.Draw(t, "name"), API: rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "api"), Sources: []string{"s.xlsx"},
			Headers: rapid.SliceOfN(name, 1, 8).Draw(t, "headers"), Service: &mapping.Service{Templates: rapid.SliceOfN(template, 0, 4).Draw(t, "templates")}}
		if convert.FoldSpace(d.Name) == "" || !d.Usable() {
			t.Skip()
		}
		passes(t, d)
	})
}

func TestMatchColumn(t *testing.T) {
	columns := []string{"Agreement no", "DOB", "Post code", "Loan amount", "Signed at", "Signed by", "E-mail adress"}
	for attribute, want := range map[string]string{
		"Date of birth": "sure DOB", "Postcode": "sure Post code", "Signed at": "sure Signed at", "Agreement number": "sure Agreement no",
		"Amount": "perhaps Loan amount", "Email address": "perhaps E-mail adress", "No": "perhaps Agreement no", "Sort code": "perhaps Post code",
		"Signed": "", "Colour": "",
	} {
		column, sure, ok := matchColumn(attribute, columns)
		got := ""
		switch {
		case sure:
			got = "sure " + column
		case ok:
			got = "perhaps " + column
		}
		if got != want {
			t.Errorf("%q: matched with %q, want %q", attribute, got, want)
		}
	}
}
