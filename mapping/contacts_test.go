package mapping_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
)

// family is a mapping whose claims name a partner and a broker.
const family = `name: n
api: v2
client: {key: E, lookup: {email: E}, fields: {email: {column: E, type: Email}, phone: {column: M, type: Phone, region: GB}}}
contacts:
  - id: partner
    when: has("P")
    key: P
    lookup: {email: P}
    administrator: false
    fields: {email: {column: P, type: Email}, lastName: S}
  - {id: broker, key: B, when: has("B"), lookup: {phone: {column: T, type: Phone, region: GB}}, fields: {firm: B}}
workflow: {name: w, template_identifier: t}
`

// TestContactOf reads the key of a contact's step back, whatever is in its key
// space, and folds it as that of a client.
func TestContactOf(t *testing.T) {
	for _, who := range []mapping.Identity{{Space: "email", Key: "p@x.org"}, {Space: "n/broker", Key: "a/b|c"}, {Space: "100%2F/x", Key: "contact/email/q"}} {
		if got, _, ok := mapping.ContactOf(mapping.ContactStepKey(who)); !ok || got != who {
			t.Errorf("%+v is %q, which is %+v, %v", who, mapping.ContactStepKey(who), got, ok)
		}
	}
	if who, own, ok := mapping.ContactOf("activity/A@contact/n%2Fb/p@x.org"); !ok || who != (mapping.Identity{Space: "n/b", Key: "p@x.org"}) || own != "activity/A@contact" {
		t.Errorf("the activity is %q of %+v, %v", own, who, ok)
	}
	for _, key := range []string{"", "client", "contact/email", "activity/A@loan/contact/email/x", "activity/A@client", "contact//x", "contact/email/", "claim/email/x", "activity/contact/email@client"} {
		if who, _, ok := mapping.ContactOf(key); ok {
			t.Errorf("%q is the contact %+v", key, who)
		}
	}
}

// TestPeople: whom a row speaks of is the same in the pass that only groups rows, and what its plan says.
func TestPeople(t *testing.T) {
	t.Parallel()
	source := strings.Replace(family, "M, type: Phone, region: GB", "M, type: Phone, region: GB, format: national", 1)
	sheet, records := leads("E | C | P | S | B | T | M", "A@x.org | c1 | p@x.org | | Firm | 020 7946 0001 | 02079460002", "b@x.org | c2 | | | | |", "wrong | c3 | | | | |",
		"d@x.org | c4 | | | | | wrong")
	b := mustBind(t, source+"claims: [{key: C, name: '{C}', claimants: [client, partner, broker]}]\n", sheet, nil)
	for i, want := range []string{
		"[{{email a@x.org} [{email a@x.org} {phone +442079460002}] [{email a@x.org}]} {{email p@x.org} [{email p@x.org}] [{email p@x.org}]} " +
			"{{n:broker Firm} [{phone +442079460001}] [{phone +442079460001}]}]",
		"[{{email b@x.org} [{email b@x.org}] [{email b@x.org}]}]",
		"[{{ } [] []}]",
		"[{{email d@x.org} [{email d@x.org}] [{email d@x.org}]}]",
	} {
		row := b.Convert(records[i])
		if got := fmt.Sprint(b.People(row)); got != want {
			t.Errorf("row %d: %s, want %s", i+2, got, want)
		}
		if d := cmp.Diff(b.People(row), b.People(b.ConvertPeople(records[i]))); d != "" {
			t.Errorf("row %d (-converted +grouped): %s", i+2, d)
		}
		if plan := b.Plan(1, []mapping.ConvertedRow{row}); fmt.Sprint(plan.Addresses) != fmt.Sprint(b.People(row)[0].Addresses) {
			t.Errorf("row %d: the plan has %v", i+2, plan.Addresses)
		}
	}
}
