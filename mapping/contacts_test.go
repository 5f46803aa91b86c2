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

func TestPlanContacts(t *testing.T) {
	runPlans(t, []planCase{
		{
			name:    "another contact administers, and is created before all activities where the claim is",
			mapping: family + "claims: [{key: C, name: '{C}', administrator: broker, claimants: partner, create: first}]\nactivities: [{template: B, on: claim, attributes: {x: C}}]",
			sheet:   []string{"E | C | P | S | B | T | M", "a@x.org | c1 | p@x.org | | Firm | 02079460001 |"},
			want: []string{
				`1 email "a@x.org" [2]`, `client [2] email="a@x.org"`,
				`contact/n:broker/Firm [2] firm="Firm"`, `contact/email/p@x.org [2] no administrator email="p@x.org"`,
				`claim/claim/c1 [2] c1 by contact/n:broker/Firm for [contact/email/p@x.org]`, `activity/B@claim/c1 [2] Submitted x="c1"`,
				`link [2]`,
			},
		},
		{
			name: "activities on a contact wait for it, once for all rows that name it, and there is no link",
			mapping: family + "link: never\nclaims: [{key: C, name: '{C}', claimants: [client, partner]}]\n" +
				"activities: [{template: A, on: partner, attributes: {x: S}}, {template: B, on: claim, attributes: {x: C}}, {template: D, on: broker, status: Open}]",
			sheet: []string{"E | C | P | S | B | T | M", "a@x.org | c1 | | | | |", "a@x.org | c2 | P@x.org | Poe | | |", "a@x.org | c3 | p@X.org | | Firm | 02079460001 |"},
			want: []string{
				`1 email "a@x.org" [2 3 4]`, `client [2 3 4] email="a@x.org"`,
				`contact/email/p@x.org [3 4] no administrator email="P@x.org" lastName="Poe"`,
				`activity/A@contact/email/p@x.org [3 4] Submitted x="Poe"`,
				`claim/claim/c1 [2] c1 by client for [client]`, `activity/B@claim/c1 [2] Submitted x="c1"`,
				`claim/claim/c2 [3] c2 by client for [client contact/email/p@x.org]`, `activity/B@claim/c2 [3] Submitted x="c2"`,
				`claim/claim/c3 [4] c3 by client for [client contact/email/p@x.org]`, `activity/B@claim/c3 [4] Submitted x="c3"`,
				`contact/n:broker/Firm [4] firm="Firm"`, `activity/D@contact/n:broker/Firm [4] Open`,
			},
		},
		{
			name:    "a contact that the environment has",
			mapping: family + "claims: [{key: C, name: '{C}', administrator: {id: 'env:BROKER'}, claimants: [client, partner, broker]}]",
			service: &mapping.Service{ContactIDs: map[string]string{"env:BROKER": "b-1"}},
			sheet:   []string{"E | C | P | S | B | T | M", "a@x.org | c1 | | | | |"},
			want: []string{
				`1 email "a@x.org" [2]`, `client [2] email="a@x.org"`,
				`claim/claim/c1 [2] c1 by b-1 for [client]`, `link [2]`,
			},
		},
	})
}

// TestContactsThatCannotBe refuses, before anything is sent, one person in two
// places of a client's claims, claims that nobody administers or claims, and rows
// of a claim that do not agree.
func TestContactsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims string
		rows   []string
		want   []string // parts of the problems, in order
	}{
		"the client as its own partner": {"claimants: [client, partner, broker]", []string{"a@x.org | c1 | A@X.org | | | |"},
			[]string{`Leads!C2: the contact “partner” has the key, e-mail address or phone number of the client or of another of the client's contacts, and would be taken for that one [contact-shared]`}},
		"the client's phone": {"claimants: [client, partner, broker]", []string{"a@x.org | c1 | | | Firm | 02079460001 | +442079460001"},
			[]string{`Leads!E2: the contact “broker” has the key, e-mail address or phone number of the client or of another of the client's contacts, and would be taken for that one [contact-shared]`}},
		"another contact's address": {"claimants: [client, partner, broker]", []string{"a@x.org | c1 | | | Firm | 02079460001 |", "a@x.org | c2 | | | Other | 02079460001 |"},
			[]string{`Leads!E3: the contact “broker” has the key, e-mail address or phone number of the client or of another of the client's contacts, and would be taken for that one [contact-shared]`}},
		"no administrator": {"administrator: broker, claimants: [client, partner]", []string{"a@x.org | c1 | p@x.org | | | |"},
			[]string{`Leads!2: the claim “claim” has no administrator: the contact “broker” is left out [no-administrator]`}},
		"no claimant": {"administrator: broker, claimants: [partner]", []string{"a@x.org | c1 | | | Firm | 02079460001 |"},
			[]string{`Leads!2: the claim “claim” has no claimants: every contact that the mapping names is left out [no-claimants]`}},
		"rows of a claim differ": {"claimants: [client, partner, broker]", []string{"a@x.org | c1 | p@x.org | | | |", "a@x.org | c1 | | | | |", "a@x.org | c1 | q@x.org | | | |"},
			[]string{`Leads!C2: P differs from Leads!C4, and the rows of one claim must agree on the contact “partner” [conflict]`,
				`Leads!C4: P differs from Leads!C2, and the rows of one claim must agree on the contact “partner” [conflict]`}},
		"rows of a contact differ": {"claimants: [client, partner, broker]", []string{"a@x.org | c1 | p@x.org | Poe | | |", "a@x.org | c2 | p@x.org | Pym | | |"},
			[]string{`Leads!D2: S differs from Leads!D3, and the rows of one client must agree on “lastName” [conflict]`,
				`Leads!D3: S differs from Leads!D2, and the rows of one client must agree on “lastName” [conflict]`}},
	} {
		t.Run(name, func(t *testing.T) {
			sheet, records := leads(append([]string{"E | C | P | S | B | T | M"}, c.rows...)...)
			b := mustBind(t, family+"claims: [{key: C, name: '{C}', "+c.claims+"}]\n", sheet, nil)
			plan := planAll(b, records)[0]
			var got []string
			for _, p := range plan.Problems {
				got = append(got, p.Error())
			}
			if d := cmp.Diff(c.want, got); d != "" || len(plan.Steps) > 0 {
				t.Errorf("problems (-want +got):\n%s\nsteps %v", d, plan.Steps)
			}
		})
	}
}

// TestContactKeyIsAsked says what to do where a row has no contact and the mapping
// does not leave it out.
func TestContactKeyIsAsked(t *testing.T) {
	for key, want := range map[string]string{"P": "is empty; it is the key of the contact “partner”", "B": "is empty; it is part of the key of the contact “partner”"} {
		sheet, records := leads("E | C | P | B", "a@x.org | c1 | |")
		b := mustBind(t, "name: n\napi: v2\nclient: {key: E, lookup: {email: E}, fields: {email: E}}\n"+
			"contacts: [{id: partner, key: "+key+", lookup: {email: P}, fields: {email: P}}]\nclaims: [{key: C, name: '{C}', claimants: [partner]}]\n", sheet, nil)
		if got := planAll(b, records)[0].Problems; len(got) == 0 || !strings.Contains(got[0].Error(), want) {
			t.Errorf("key %s: %v, want %q", key, got, want)
		}
	}
}

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
