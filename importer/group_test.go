package importer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer"
	"claimsheet/mapping/cell"
)

// TestGroups: which clients of a sheet are worked on one after the other. A row is the
// client's key, e-mail, phone, and the key of a further contact.
func TestGroups(t *testing.T) {
	const byLead = `
name: n
api: v2
client: {key: Lead, lookup: {email: E-mail, phone: {column: Phone, format: raw}}, fields: {email: {column: E-mail, type: Email}}}
contacts: [{id: partner, when: has("Partner"), key: Partner, lookup: {email: Partner}, administrator: false, fields: {email: Partner}}]
claims: [{id: loan, key: Lead, name: "Loan {Lead}", claimants: [client, partner]}]
`
	byEmail := strings.Replace(strings.Replace(byLead, "key: Lead, lookup", "key: E-mail, lookup", 1), "phone: {column: Phone, format: raw}", "", 1)
	create := strings.Replace(byLead, "client: {", "client: {existing: create, ", 1)
	for name, c := range map[string]struct {
		mapping string
		rows    []string
		want    string // the groups, in the order in which they come
	}{
		"no address in common":       {byLead, []string{"1|a@x|01|", "2|b@x|02|"}, "1; 2"},
		"one e-mail address":         {byLead, []string{"1|a@x|01|", "2|b@x|02|", "3|A@x|03|"}, "2; 1 3"},
		"one phone, both e-mails":    {byLead, []string{"1|a@x|01|", "2|b@x|01|"}, "1; 2"}, // nobody is looked up by it
		"one phone, one e-mail":      {byLead, []string{"1|a@x|01|", "2||01|"}, "1 2"},
		"through a third":            {byLead, []string{"1|a@x|01|", "2|b@x|02|", "3||01|", "3|b@x|03|"}, "1 2 3"},
		"nobody is looked up":        {create, []string{"1|a@x|01|", "2|a@x|01|"}, "1; 2"},
		"a contact of two":           {byLead, []string{"1|a@x||p@x", "2|b@x||p@x"}, "1; 2"},
		"a contact who is a client":  {byEmail, []string{"1|a@x||b@x", "2|c@x||", "3|b@x||"}, "c@x; a@x b@x"},
		"a contact with its address": {byLead, []string{"1|a@x||b@x", "2|b@x||"}, "1 2"},
		"in the order of last rows":  {byLead, []string{"1|a@x||", "2|a@x||", "1|a@x||"}, "2 1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bind(t, c.mapping, cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"Lead", "E-mail", "Phone", "Partner"}})
			for i, row := range c.rows {
				c.rows[i] = strings.ReplaceAll(row, "@x", "@x.example")
			}
			rows := spooled(t, asRead(recordsOf(c.rows...)))
			for _, convert := range []bool{true, false} {
				survey, err := importer.NewSurvey(t.Context(), b, rows, convert)
				must(t, err)
				var got []string
				for plans, err := range survey.Groups.Grouped(survey.Plans(b, rows)) {
					must(t, err)
					var keys []string
					for _, plan := range plans {
						keys = append(keys, plan.Client.Key)
					}
					got = append(got, strings.Join(keys, " "))
				}
				if d := cmp.Diff(c.want, strings.ReplaceAll(strings.Join(got, "; "), ".example", "")); d != "" {
					t.Errorf("groups, convert %t (-want +got):\n%s", convert, d)
				}
			}
		})
	}
}
