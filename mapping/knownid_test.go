package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const knownMapping = `
name: m
api: v2
client: {key: E-mail, known_id: Contact, lookup: {email: E-mail}, fields: {email: E-mail}}
claims: [{id: loan, key: "No", known_id: Claim, name: "Loan {No}"}]
`

// Ids that a sheet may give; the second is written in capitals.
const (
	idOne   = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"
	idTwo   = "7D0C0F3E-2F0E-4C53-9D25-0D4B9A0F7A12"
	idTwoOf = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12"
)

// TestKnownIDs: a filled cell gives the id of a client or claim, an empty one nothing,
// whichever row of the client has it; what is not an id, and two ids for one client or
// claim, are problems of their cells.
func TestKnownIDs(t *testing.T) {
	for name, test := range map[string]struct {
		rows          []string
		client, claim string // the ids of the first client and of its first claim
		problems      []string
	}{
		"both":           {[]string{"a@x.example | " + idOne + " | A | " + idTwo}, idOne, idTwoOf, nil},
		"in another row": {[]string{"a@x.example | | A | ", "a@x.example | " + idTwo + " | A | " + idOne}, idTwoOf, idOne, nil},
		"not an id": {[]string{"a@x.example | TBC | A | 17"}, "", "", []string{
			"Leads!B2: Contact is not an id of the service; expected a UUID such as 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11",
			"Leads!D2: Claim is not an id of the service; expected a UUID such as 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"}},
		"what stands for no id": {[]string{"a@x.example | 00000000-0000-0000-0000-000000000000 | A | FFFFFFFF-ffff-ffff-ffff-ffffffffffff"}, "", "", []string{
			"Leads!B2: Contact is a UUID that stands for no id; expected a UUID such as", "Leads!D2: Claim is a UUID that stands for no id; expected a UUID such as"}},
		"two for one claim": {[]string{"a@x.example | | A | " + idOne, "a@x.example | | A | " + idTwo}, "", "", []string{
			"Leads!D2: Claim differs from Leads!D3, and the rows of one client must agree on “the claim's known_id”",
			"Leads!D3: Claim differs from Leads!D2, and the rows of one client must agree on “the claim's known_id”"}},
	} {
		t.Run(name, func(t *testing.T) {
			sheet, records := leads(append([]string{"E-mail | Contact | No | Claim"}, test.rows...)...)
			plan := planAll(mustBind(t, knownMapping, sheet, nil), records)[0]
			if len(plan.Problems) != len(test.problems) {
				t.Fatalf("problems %v, want %q", plan.Problems, test.problems)
			}
			for i, p := range plan.Problems {
				expectOne(t, plan.Problems[i:i+1], test.problems[i])
				if p.Hint == "" {
					t.Errorf("%v does not say what to do", p)
				}
			}
			if len(test.problems) > 0 {
				return
			}
			if got := plan.Steps[0].KnownID; got != test.client {
				t.Errorf("the client's id is %q, want %q", got, test.client)
			}
			if got := plan.Steps[1]; got.Kind != mapping.ClaimStep || got.KnownID != test.claim {
				t.Errorf("the claim's id is %q, want %q", got.KnownID, test.claim)
			}
		})
	}
}

// TestKnownIDIsTheKey: a client that is told apart by its known id alone needs no look-up.
func TestKnownIDIsTheKey(t *testing.T) {
	const source = "name: m\napi: v1\nclient: {known_id: Contact, fields: {email: E-mail}}\n"
	runPlans(t, []planCase{{"", source, []string{"E-mail | Contact", "a@x.example | " + idOne, "b@x.example |"}, nil, []string{
		`1 m "` + idOne + `" [2]`, `client [2] email="a@x.example"`,
		`0  "" [3]`, "Leads!B3: Contact is empty; it is part of the client key [empty-key]",
	}}})
	_, problems := mapping.Parse("mapping.yaml", []byte(strings.Replace(source, "{known", "{key: E-mail, known", 1)))
	expectOne(t, problems, "mapping.yaml:3:9: client.lookup needs email or phone")
}

// expectOne expects one problem that contains a text; none for "".
func expectOne(t *testing.T, found problem.List, text string) {
	t.Helper()
	if text == "" && len(found) > 0 || text != "" && (len(found) != 1 || !strings.Contains(found[0].Error(), text)) {
		t.Errorf("found %v, want %q", found, text)
	}
}
