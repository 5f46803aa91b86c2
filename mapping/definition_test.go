package mapping_test

import (
	"fmt"
	"strings"
	"testing"

	"claimsheet/mapping"
)

const (
	tel      = "{column: Tel, type: Phone, region: GB}"
	national = "{column: Tel, type: Phone, region: GB, format: national}"
)

// Redefined names a change of what step keys are made from, and no other change.
func TestRedefined(t *testing.T) {
	const (
		mail, no  = "key: Mail, lookup: {email: Mail}", "key: No, existing: create"
		claimsTel = no + "}\nclaims: [{key: Tel, name: a}]\nworkflow: {name: w"
	)
	for name, tc := range map[string]struct{ then, now, want string }{
		"nothing":                              {mail, mail, ""},
		"another look-up beside the key's":     {mail, "key: Mail, existing: create, lookup: {email: Mail, phone: Tel}", ""},
		"the format of a phone number":         {"key: Tel, lookup: {phone: " + tel + "}", "key: Tel, lookup: {phone: " + national + "}", ""},
		"a key space that the look-up decides": {mail, mail + ", key_space: crm", ""},
		"the mapping's own key space by name":  {no, no + ", key_space: loans", ""},
		"another key":                          {no, "key: Other, existing: create", "another client key"},
		"a key space":                          {no, no + ", key_space: crm", "the key space “loans” where it is now “crm”"},
		"the key's look-up goes":               {mail, "key: Mail, existing: create", "the key space “email” where it is now “loans”"},
		"another look-up of one column": {mail, "key: Mail, lookup: {phone: {column: Mail, type: Phone}}",
			"the key space “email” where it is now “phone”"},
		"texts become numbers": {"key: Tel, lookup: {phone: {column: Tel, format: raw}}", "key: Tel, lookup: {phone: " + tel + "}",
			"phone numbers compared in another way"},
		"claim keys": {claimsTel, strings.Replace(claimsTel, "key: Tel", "key: Other", 1), "other claim keys"},
	} {
		bound := func(client string) *mapping.Binding {
			sheet, _ := leads("Mail | Tel | No | Other")
			return mustBind(t, "name: loans\napi: v2\nclient: {fields: {no: No}, "+client+"}\n", sheet, nil)
		}
		if got := strings.Join(bound(tc.now).Redefined(bound(tc.then).Definition("")), "; "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// Activities may come and go; one that would do again what is done may not.
func TestRenamed(t *testing.T) {
	activities := func(list string) *mapping.Binding {
		sheet, _ := leads("Mail | Tel | No | Other")
		return mustBind(t, "name: loans\napi: v2\nclient: {key: No, existing: create, fields: {no: No}}\nclaims: [{id: loan, key: Tel, name: a}]\n"+
			"workflow: {name: w, template_identifier: x}\nactivities: ["+list+"]", sheet, service(template("A"), template("B")))
	}
	const open = ", assigned: true, status: Open}"
	for name, tc := range map[string]struct {
		then, now string // activities, or a whole record
		want      string // what was renamed; "" for nothing
		grown     string
	}{
		"nothing":           {then: "{template: A" + open, now: "{template: A" + open},
		"another template":  {then: "{template: A, id: a" + open, now: "{template: B, id: b" + open, grown: "b"},
		"an id":             {then: "{template: A, id: a" + open, now: "{template: A, id: b" + open, want: "activity/a@client", grown: "b"},
		"one more of it":    {then: "{template: A, id: a" + open, now: "{template: A, id: a" + open + ", {template: A, id: b" + open, grown: "b"},
		"one less of it":    {then: "{template: A, id: a" + open + ", {template: A, id: b" + open, now: "{template: A, id: b" + open},
		"another claim":     {then: "{template: A, id: a, on: loan" + open, now: "{template: A, id: b" + open, grown: "b"},
		"another scope":     {then: "{template: A, id: a, on: loan" + open, now: "{template: A, id: a" + open, want: "activity/a@", grown: "a"},
		"a wider scope":     {then: "{template: A, id: a, on: loan" + open, now: "{template: A, id: a, on: claim" + open, grown: "a"},
		"every claim":       {then: "{template: A, id: a, on: loan" + open, now: "{template: A, id: b, on: claim" + open, want: "activity/a@", grown: "b"},
		"a template's name": {then: `{"activities":[{"id":"Old name","on":"client","template":"Old name","templateId":"id of A"}]}`, now: "{template: A" + open, want: "activity/Old name@client", grown: "A"},
		"a template's id":   {then: `{"activities":[{"id":"x","on":"client","template":"A","templateId":"id of one that is gone"}]}`, now: "{template: A" + open, want: "activity/x@client", grown: "A"},
	} {
		t.Run(name, func(t *testing.T) {
			then := tc.then
			if then[:2] == "{t" {
				then = activities(then).Definition("")
			}
			var renamed, grown string
			for _, r := range activities(tc.now).Renamed(then) {
				renamed += r.Steps
			}
			for _, g := range activities(tc.now).Grown(then) {
				grown += g.Now
			}
			if renamed != tc.want || grown != tc.grown {
				t.Errorf("renamed %q, want %q; grown %q, want %q", renamed, tc.want, grown, tc.grown)
			}
		})
	}
}

// Entries of claims may come and go, too; another key in the place of one that is gone is a change. A mapping that has all of another,
// or whose other has all of it, may be that one under another name.
func TestClaimsAreDefined(t *testing.T) {
	bound := func(entries string) *mapping.Binding { // id:column of each
		sheet, _ := leads("E | P | Q | R")
		list, activities := "", ""
		for i, entry := range strings.Fields(entries) {
			id, key, _ := strings.Cut(entry, ":")
			list += "{id: " + id + ", key: " + key + ", name: '{ref}', columns: {ref: " + key + "}}, "
			activities += fmt.Sprintf("{template: A, id: %s%d, on: %[1]s, assigned: true, status: Open}, ", id, i)
		}
		return mustBind(t, "name: n\napi: v2\nclient: {key: E, lookup: {email: E}, fields: {email: E}}\nclaims: ["+list+"]\n"+
			"workflow: {name: w, template_identifier: x}\nactivities: ["+activities+"]\n", sheet, service(template("A")))
	}
	for name, c := range map[string]struct {
		then, now     string
		changed, same bool
	}{
		"the same":         {"loan:P loan:Q", "loan:P loan:Q", false, true},
		"one more":         {"loan:P", "loan:P loan:Q", false, true},
		"one less":         {"loan:P loan:Q", "loan:P", false, true},
		"another order":    {"loan:P loan:Q", "loan:Q loan:P", false, true},
		"another entry":    {"loan:P", "loan:P card:Q", false, true},
		"another id":       {"loan:P", "card:P", true, false},
		"another key":      {"loan:P loan:Q", "loan:P loan:R", true, false},
		"none left":        {"loan:P", "", false, false},
		"one for each way": {"loan:P card:Q", "loan:P rent:R", false, false},
	} {
		then := bound(c.then).Definition("")
		if got := bound(c.now).Redefined(then); (len(got) > 0) != c.changed {
			t.Errorf("%s: %q", name, got)
		}
		if _, same := bound(c.now).SameAs(then, "n"); same != c.same {
			t.Errorf("%s: the same mapping: %t", name, same)
		}
	}
	recorded := bound("card:Q").Definition(bound("loan:P").Definition(""))
	if got := bound("loan:R").Redefined(recorded); len(got) == 0 {
		t.Error("another key on a later night is no change")
	}
}

// Contacts may come and go, too; what would give the same people other names is a change, on
// whatever later night it comes back.
func TestContactsAreDefined(t *testing.T) {
	sheet, _ := leads("E | P | Q | T | Tel")
	bound := func(contact string) *mapping.Binding {
		claimants, list := "client", ""
		if contact != "" {
			claimants, list = strings.SplitN(contact, ",", 2)[0], "contacts: [{id: "+contact+", fields: {x: T}}]\n"
		}
		return mustBind(t, "name: n\napi: v2\nclient: {key: E, lookup: {email: E}, fields: {email: E}}\n"+list+
			"claims: [{key: E, name: '{E}', claimants: ["+claimants+"]}]\n", sheet, nil)
	}
	const (
		p, q        = "p, key: P, lookup: {email: T}", "q, key: P, lookup: {email: T}"
		mail, mail2 = "p, key: T, lookup: {email: T}", "q, key: T, lookup: {email: T}"
		raw         = "p, key: Tel, lookup: {phone: {column: Tel, format: raw}}"
		phone       = "p, key: Tel, lookup: {phone: " + tel + "}"
		national2   = "q, key: Tel, lookup: {phone: " + national + "}"
	)
	for name, c := range map[string]struct {
		nights  []string // the entry of each night, "" for none
		changes int
	}{
		"it is new":                       {[]string{"", p}, 0},
		"another id":                      {[]string{p, "", q}, 1},
		"another column":                  {[]string{p, "", "p, key: Q, lookup: {email: T}"}, 1},
		"another key space":               {[]string{p, "p, key: P, key_space: firms, lookup: {email: T}"}, 1},
		"another person":                  {[]string{p, "", "q, key: Q, lookup: {email: T}"}, 0},
		"another id for an address":       {[]string{mail, "", mail2}, 0},
		"another look-up beside the key":  {[]string{p, "p, key: P, lookup: {email: Q}"}, 0},
		"its address becomes the key":     {[]string{p, "p, key: P, lookup: {email: P}"}, 1},
		"accepted, and gone again":        {[]string{p, q, "", q}, 0},
		"texts become numbers":            {[]string{raw, phone}, 1},
		"numbers become texts":            {[]string{phone, raw}, 1},
		"texts become numbers, other id":  {[]string{raw, national2}, 1},
		"numbers in another form, and id": {[]string{phone, national2}, 0},
	} {
		recorded, last := "", len(c.nights)-1
		for _, night := range c.nights[:last] {
			recorded = bound(night).Definition(recorded)
		}
		if got := bound(c.nights[last]).Redefined(recorded); len(got) != c.changes {
			t.Errorf("%s: %q, want %d changes", name, got, c.changes)
		}
	}
}
