package mapping_test

import (
	"strings"
	"testing"
	"time"

	"claimsheet/mapping"
	"claimsheet/mapping/convert"
)

const driftMapping = `name: a
api: v1
client: {key: No, existing: create, fields: {no: No}}
activities:
  - template: Agreement
    attributes:
      Loan amount: Amount
      Signed: {column: Signed, type: Date}
`

// Each case is the service of the last run and the service of now, with the
// problems that Bind finds and the warnings of TemplateDrift.
func TestDrift(t *testing.T) {
	t.Parallel()
	renamed := func(to mapping.Template, attribute int, id string) mapping.Template {
		if attribute < 0 {
			to.ID = id
		} else {
			to.Attributes[attribute].ID = id
		}
		return to
	}
	options := func(options ...string) mapping.Template {
		t := template("Agreement", "Loan amount:DropDown", "Signed:Date")
		t.Attributes[0].Options = options
		return t
	}
	then := template("Agreement", "Loan amount:Number", "Signed:Date", "Lender:Text")
	sent := map[string]convert.Type{"Agreement/Loan amount": convert.Number}
	asText := map[string]convert.Type{"Agreement/Loan amount": convert.Text}
	const run = "the run of 2026-11-19 21:00"
	for name, c := range map[string]struct {
		then  mapping.Template
		types map[string]convert.Type
		now   []mapping.Template
		want  string // problems, then warnings, each with its hint
	}{
		"nothing has changed": {then, sent, []mapping.Template{then}, ""},
		"an attribute has another name, and the same id": {then, sent,
			[]mapping.Template{renamed(template("Agreement", "Sum:Number", "Signed:Date"), 0, then.Attributes[0].ID)},
			"7:7: the attribute “Loan amount” of the template “Agreement” is called “Sum” since " + run + " [unknown-attribute] write “Sum”\n"},
		"an attribute is gone, and one with a longer name is new": {then, sent,
			[]mapping.Template{template("Agreement", "Lender:Text", "Loan Amount (GBP):Number", "Signed:Date", "Term:Number")},
			"7:7: the attribute “Loan amount” of the template “Agreement” is gone since " + run + "; the service has “Loan Amount (GBP)” now [unknown-attribute] if that is its name now, write “Loan Amount (GBP)”\n"},
		"an attribute is gone, and others are new": {then, sent,
			[]mapping.Template{template("Agreement", "Lender:Text", "Signed:Date", "Term:Number", "Rate:Number")},
			"7:7: the attribute “Loan amount” of the template “Agreement” is gone since " + run + " [unknown-attribute] new since then: Term, Rate\n"},
		"an attribute is gone": {then, sent, []mapping.Template{template("Agreement", "Lender:Text", "Signed:Date")},
			"7:7: the attribute “Loan amount” of the template “Agreement” is gone since " + run + " [unknown-attribute] ask the service's operator what has taken its place\n"},
		"an attribute never was there": {template("Agreement", "Signed:Date"), nil, []mapping.Template{template("Agreement", "Signed:Date")},
			"7:7: the template “Agreement” has no attribute “Loan amount” [unknown-attribute] expected Signed\n"},
		"the template has another name, and the same id": {then, sent, []mapping.Template{renamed(template("Contract", "Loan amount:Number", "Signed:Date"), -1, then.ID)},
			"5:15: the activity template “Agreement” is called “Contract” since " + run + " [unknown-template] write “Contract”\n"},
		"the template is gone, and one with a similar name is new": {then, sent, []mapping.Template{template("Agreements", "Loan amount:Number")},
			"5:15: the activity template “Agreement” is gone since " + run + "; the service has “Agreements” now [unknown-template] if that is its name now, write “Agreements”\n"},
		"the template was created again": {then, sent, []mapping.Template{renamed(template("Agreement", "Loan amount:Number", "Signed:Date"), -1, "another")},
			"5:15: the activity template “Agreement” has another id than in " + run + ": it was deleted and created again [new-id] what is sent from now on gets the new id; make sure that it means the same\n"},
		"an attribute was created again": {then, sent, []mapping.Template{renamed(template("Agreement", "Loan amount:Number", "Signed:Date"), 0, "another")},
			"7:7: the attribute “Loan amount” of the template “Agreement” has another id than in " + run + ": it was deleted and created again [new-id] what is sent from now on gets the new id; make sure that it means the same\n"},
		"an attribute has another type": {then, sent, []mapping.Template{template("Agreement", "Loan amount:Text", "Signed:Date")},
			"7:7: the attribute “Loan amount” of the template “Agreement” was a Number in " + run + " and is a Text now: its cells would be read in another way [retyped] " +
				"add type: Text to “Loan amount” if that is right; otherwise ask the service's operator\n"},
		"an attribute has no type any more": {then, sent, []mapping.Template{template("Agreement", "Loan amount", "Signed:Date")},
			"7:7: the attribute “Loan amount” of the template “Agreement” was a Number in " + run + " and has no type now: its cells would be sent as Text [retyped] " +
				"add type: Text to “Loan amount” if that is right; otherwise ask the service's operator\n"},
		"an attribute without a type has one": {template("Agreement", "Loan amount", "Signed:Date"), asText, []mapping.Template{template("Agreement", "Loan amount:Number", "Signed:Date")},
			"7:7: the attribute “Loan amount” of the template “Agreement” was a Text in " + run + " and is a Number now: its cells would be read in another way [retyped] " +
				"add type: Number to “Loan amount” if that is right; otherwise ask the service's operator\n"},
		"an attribute has another type that is read alike": {then, sent, []mapping.Template{template("Agreement", "Loan amount:Currency", "Signed:Date")},
			"7:7: the attribute “Loan amount” of the template “Agreement” was a Number in " + run + " and is a Currency now; its cells are read as before [retyped] make sure that the service takes what the sheet has\n"},
		"a type that the mapping declares": {then, sent, []mapping.Template{template("Agreement", "Loan amount:Number", "Signed:DateTime")},
			"8:38: the service says that “Signed” of “Agreement” is a DateTime, not a Date [wrong-type] leave type out, or write type: DateTime\n"},
		"options of a DropDown are gone, and one is new": {options("GBP", "EUR", "USD"), asText, []mapping.Template{options("USD", "CHF")},
			"7:7: the attribute “Loan amount” of the template “Agreement” does not take these options any more, as it did in " + run + ": GBP, EUR [options-gone] it takes USD or CHF\n"},
		"options are not reported any more": {options("GBP"), asText, []mapping.Template{options()}, ""},
		"what the mapping does not use":     {then, sent, []mapping.Template{template("Agreement", "Loan amount:Number", "Signed:Date", "Extra:Date"), template("Other", "A:Text")}, ""},
	} {
		m := mustParse(t, driftMapping)
		s := service(c.now...)
		s.Earlier = &mapping.Earlier{Run: time.Date(2026, 11, 19, 21, 0, 0, 0, time.Local), Templates: []mapping.Template{c.then}, Types: c.types}
		_, found := mapping.Bind(m, nil, s, "2026-11-20")
		var got strings.Builder
		for _, p := range append(found, mapping.TemplateDrift(m, s)...) {
			got.WriteString(strings.TrimPrefix(p.Error(), "mapping.yaml:") + " " + p.Hint + "\n")
		}
		if got.String() != c.want {
			t.Errorf("%s:\n%sexpected:\n%s", name, got.String(), c.want)
		}
	}
}

// What the first run saw is what the next one compares with: nothing has changed.
func TestDriftComparesWithTypesOfTheRun(t *testing.T) {
	t.Parallel()
	m := mustParse(t, driftMapping)
	s := service(template("Agreement", "Loan amount", "Signed:Date"))
	b, found := mapping.Bind(m, nil, s, "")
	if len(found) > 0 || len(b.Types()) != 1 || b.Types()["Agreement/Loan amount"] != convert.Text {
		t.Fatalf("problems %v, types %v; expected Text for the one attribute that nobody typed", found, b.Types())
	}
	if drift := mapping.TemplateDrift(m, s); drift != nil {
		t.Errorf("the first run has something to compare with: %v", drift)
	}
	s.Earlier = &mapping.Earlier{Templates: s.Templates, Types: b.Types()}
	if _, found := mapping.Bind(m, nil, s, ""); len(found)+len(mapping.TemplateDrift(m, s)) > 0 {
		t.Errorf("the same service differs from itself: %v", found)
	}
}
