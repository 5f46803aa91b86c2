package mapping_test

import (
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// bindSheet is the sheet that the mappings of testdata/lang/bind are bound to.
func bindSheet() *cell.Sheet {
	return &cell.Sheet{Name: "Leads 2026", HeaderRow: 3, Header: []string{
		"E-mail", "First\u00a0name", "Post  code", "Amount", "Opt out", "AMOUNT ", "", "DOB", "Lender", "Mobile", "Next step", "Agreement no",
	}}
}

// bindService has templates and attributes that share their names; the
// environments file tells some of them apart, one wrongly.
func bindService() *mapping.Service {
	shared := func(name, id string) mapping.Template {
		return mapping.Template{ID: id, Name: name, Attributes: []mapping.AttributeTemplate{{ID: id + "a", Name: "A"}}}
	}
	twice := shared("Shared with an id", "3")
	twice.Attributes = []mapping.AttributeTemplate{
		{ID: "31", Name: "Twice"}, {ID: "32", Name: "Twice"},
		{ID: "33", Name: "Twice with an id"}, {ID: "34", Name: "Twice with an id"},
		{ID: "35", Name: "Twice with a wrong id"},
	}
	s := service(
		template("Your details", "Date of birth:Date", "Postcode:Text", "Agreed:Checkbox", "Balance:Number", "Balance in pounds:Currency"),
		template("Sign your claim"), template("Handler review"),
		shared("Shared", "1"), shared("Shared", "2"), twice, shared("Shared with an id", "4"), shared("Shared with a wrong id", "5"),
	)
	s.WorkflowTemplateIdentifier = ""
	s.TemplateIDs = map[string]string{
		"Shared with an id": "3", "Shared with an id/Twice with an id": "34",
		"Shared with an id/Twice with a wrong id": "99", "Shared with a wrong id": "99",
	}
	return s
}

func TestBindReportsEveryMistake(t *testing.T) {
	for _, file := range files(t, "testdata/lang/bind/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, problems := mapping.Parse(filepath.Base(file), mustRead(t, file))
			if len(problems) > 0 {
				t.Fatalf("it cannot even be parsed:\n%s", report(problems))
			}
			b, problems := mapping.Bind(m, bindSheet(), bindService(), runDate)
			if b != nil || len(problems) == 0 {
				t.Error("it is bound in spite of its mistakes")
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".out", report(problems))
		})
	}
}

// TestBindRefusesResultColumns: in a results workbook given to run, the columns
// that Claimsheet added would count as columns of the source.
func TestBindRefusesResultColumns(t *testing.T) {
	m := mustParse(t, "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}")
	for _, name := range []string{"Import status", "clientId", "contactId", "claimIds", "redirectUrl", "Failed step", "Error", "What to do", "Source row"} {
		for _, header := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, " ", "\u00a0 ")} {
			sheet, _ := leads("No|" + header)
			sheet.Header[1] = header
			_, problems := mapping.Bind(m, &sheet, nil, runDate)
			if len(problems) != 1 || problems[0].Code != "reserved-column" || problems[0].Where.Cell != "B1" {
				t.Errorf("the source column %q: %v", header, problems)
			}
		}
	}
	// The workbook has a column contacts where the mapping has contacts.
	sheet, _ := leads("E | C | P | S | B | T | M | Contacts")
	with := family + "claims: [{key: C, name: '{C}', claimants: [client, partner, broker]}]\n"
	if _, problems := mapping.Bind(mustParse(t, with), &sheet, nil, runDate); len(problems) != 1 || problems[0].Code != "reserved-column" {
		t.Errorf("the source column Contacts beside contacts: %v", problems)
	}
	mustBind(t, "name: n\napi: v2\nclient: {key: E, lookup: {email: E}, fields: {email: E}}\n", sheet, nil)
}

// Ids are compared ignoring case, as UUIDs are; the one that template_ids
// names is taken even where the name is not shared.
func TestBindTakesTemplateIDs(t *testing.T) {
	sheet, records := leads("No | A", "1 | x")
	to := &mapping.Service{Templates: []mapping.Template{
		{ID: "aa-1", Name: "T", Attributes: []mapping.AttributeTemplate{{ID: "aa-2", Name: "N"}}},
		{ID: "bb-1", Name: "T", Attributes: []mapping.AttributeTemplate{{ID: "bb-2", Name: "N"}, {ID: "bb-3", Name: "N"}}},
	}, TemplateIDs: map[string]string{"T": "BB-1", "T/N": "BB-3"}}
	b := mustBind(t, "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\nactivities: [{template: T, attributes: {N: A}}]", sheet, to)
	step := planAll(b, records)[0].Steps[1]
	if step.Activity.TemplateID != "bb-1" || step.Fields[0].TemplateID != "bb-3" {
		t.Errorf("the ids are %s and %s", step.Activity.TemplateID, step.Fields[0].TemplateID)
	}
}

// TestNoHeader: a sheet that has none of the mapping's columns has one problem, which
// does not quote the row that was read as the header: it may be a client.
func TestNoHeader(t *testing.T) {
	t.Parallel()
	sheet := cell.Sheet{File: "leads.csv", Name: "leads.csv", HeaderRow: 1, Header: []string{"Margaret", "margaret@secret.example", "1991-07-14", "YO13 6FV"}}
	text := `
name: m
api: v2
client: {key: Lead no, lookup: {email: E-mail}, fields: {firstName: First name, email: E-mail, born: {column: DOB, type: Date, format: yyyy-mm-dd}}}
workflow: {name: Leads, template_identifier: WF}
activities: [{template: Your details, attributes: {Postcode: Post code}}]
`
	_, problems := mapping.Bind(mustParse(t, text), &sheet, nil, runDate)
	if len(problems) != 1 || problems[0].Code != "no-header" || strings.Contains(report(problems), "secret") || strings.Contains(report(problems), "Margaret") {
		t.Fatalf("found %v", problems)
	}
	if want := "columns “DOB”, “E-mail”, “First name”, “Lead no”, “Post code” there"; !strings.Contains(problems[0].Message, want) {
		t.Errorf("the message is %q, want it to have %q", problems[0].Message, want)
	}

	sheet.Header[3] = "Postcode" // near to one, so it may be the header after all
	_, problems = mapping.Bind(mustParse(t, text), &sheet, nil, runDate)
	if text := report(problems); len(problems) < 2 || strings.Contains(text, "secret") || strings.Contains(text, "Margaret") || !strings.Contains(text, "did you mean “Postcode”?") {
		t.Errorf("found %v", problems)
	}
}

// A look-up whose value is not sent cannot show after a lost answer that the client is not there.
func TestLookupsThatAreNotSent(t *testing.T) {
	for _, c := range []struct{ lookup, field, want string }{
		{"region: GB", "region: GB", ""},
		{"region: GB, format: e164", "region: GB", ""}, // the default
		{"region: GB", "region: GB, format: national", "lookup-unsent"},
	} {
		source := "name: x\napi: v2\nclient:\n  key: Mobile\n  lookup: {phone: {column: Mobile, " + c.lookup +
			"}}\n  fields: {phone: {column: Mobile, type: Phone, " + c.field + "}}\n"
		sheet, _ := leads("Mobile")
		got := ""
		for _, p := range mustBind(t, source, sheet, nil).Warnings() {
			got += p.Code
		}
		if got != c.want {
			t.Errorf("look-up %q, field %q: %q, want %q", c.lookup, c.field, got, c.want)
		}
	}
}

// TestNamesAreComposed: names of templates, attributes and next steps are the same however
// their accents are written.
func TestNamesAreComposed(t *testing.T) {
	const composed, apart = "Pr\u00e9nom", "Pre\u0301nom"
	for _, names := range [][2]string{{composed, apart}, {apart, composed}} {
		sheet, records := leads("No | Next", "1 | "+names[1])
		to := service(template(names[1], names[1]+":Text"), template("Z"))
		b := mustBind(t, "name: n\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\nresume_at: {column: Next}\n"+
			"activities:\n  - {template: "+names[0]+", attributes: {"+names[0]+": No}}\n  - {template: Z}\n", sheet, to)
		if got := planAll(b, records)[0]; len(got.Steps) != 2 || got.Steps[1].Activity.Status != mapping.Open {
			t.Errorf("%q against %q: %v", names[0], names[1], outline(got))
		}
	}
}

// A line “# ignored: …” is written and removed as a person would, and keeps its column out
// of the warning of unused columns.
func TestIgnoredColumns(t *testing.T) {
	t.Parallel()
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"No", "Name", " Agent\u00a0 name", "Twice", "Twice", "Town"}}
	const text = "name: x\napi: v2\nclient: {key: No, existing: create, fields: {n: Name}}"
	names := []string{mapping.IgnoredName(sheet, 2), mapping.IgnoredName(sheet, 4)}
	if strings.Join(names, ", ") != "Agent name, column E" {
		t.Errorf("the names are %q", names)
	}
	for _, eol := range []string{"\n", "\r\n"} {
		file := strings.ReplaceAll(text+"\n", "\n", eol)
		one := mapping.Ignore([]byte(file), names[0], true)
		two := string(mapping.Ignore(append(one, []byte("# end")...), names[1], true))
		if want := strings.ReplaceAll(text+"\n# ignored: Agent name\n# end\n# ignored: column E\n", "\n", eol); two != want {
			t.Errorf("the file is %q, want %q", two, want)
		}
		warnings := mustBind(t, two, sheet, nil).UnusedColumns()
		if len(warnings) != 1 || !strings.HasSuffix(warnings[0].Message, "columns “Twice” (D), “Town” (F)") {
			t.Errorf("the warnings are %v", warnings)
		}
		if back := mapping.Ignore(one, " AGENT name", false); string(back) != file {
			t.Errorf("without it again the file is %q", back)
		}
	}
	if got := string(mapping.Ignore([]byte("name: x"), "A", true)); got != "name: x\n# ignored: A\n" {
		t.Errorf("behind a last line without an end it is %q", got)
	}
}

// TestAliasesThatNothingUses: an alias may be used in the entry or in activities on it.
func TestAliasesThatNothingUses(t *testing.T) {
	sheet, _ := leads("No | A | B | Lender 1")
	b := mustBind(t, `name: n
api: v2
client: {key: No, existing: create, fields: {no: No}}
workflow: {name: w, template_identifier: t}
claims:
  - {id: loan, key: no, name: "{no}", columns: {no: A, lender: Lender 1, unused: B}}
activities: [{template: T, on: loan, attributes: {X: lender}}]
`, sheet, service(template("T", "X:Text")))
	const want = "mapping.yaml:6:82: nothing uses the name “unused” of this claims entry [unused-alias]\n" +
		"    hint: use it in place of the column, in the entry or in the activities on: loan; or take it out\n"
	if got := report(b.Warnings()); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
