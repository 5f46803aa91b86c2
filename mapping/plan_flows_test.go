package mapping_test

import "testing"

// The flows of the service document, each as the plan of one client. What a plan holds
// beside its outline is in testdata/record.
func TestPlanFlows(t *testing.T) {
	const (
		client = "client: {key: E-mail, lookup: {email: E-mail}, fields: {email: {column: E-mail, type: Email}}}\n"
		v1     = "name: n\napi: v1\n" + client
		v2     = "name: n\napi: v2\n" + client + "workflow: {name: w}\nclaims: [{key: Agreement, name: 'Loan {Agreement}'}]\n"
		sam    = `client [2] email="sam@example.com"`
	)
	header := "E-mail | Postcode | Amount | Agreement"
	to := service(template("Activity 1", "Postcode"), template("Activity 2", "Amount:Currency"), template("Activity 3"))
	one := []string{header, "sam@example.com | N1 | 12.5 | A1"}
	const first = `1 email "sam@example.com" [2]`
	runPlans(t, []planCase{
		{"version 1, flow A", v1, []string{header, "sam@example.com"}, to, []string{first, sam}},
		{"version 1, flow B: the Open activity first", v1 + `activities:
  - {template: Activity 1, attributes: {Postcode: Postcode}}
  - {template: Activity 2, attributes: {Amount: Amount}}
  - {template: Activity 3, status: Open}
`, one, to, []string{first, sam, "activity/Activity 3@client [2] Open", `activity/Activity 1@client [2] Submitted Postcode="N1"`,
			"activity/Activity 2@client [2] Submitted Amount=12.5"}},
		{"use case 1: a claim that no activity is on comes after the client", v2 + `activities:
  - {template: Activity 1, attributes: {Postcode: Postcode}}
`, one, to, []string{first, sam, "claim/claim/A1 [2] Loan A1", `activity/Activity 1@client [2] Submitted Postcode="N1"`, "link [2]"}},
		{"use case 2", v2 + `activities:
  - {template: Activity 1, on: claim, attributes: {Postcode: Postcode}}
  - {template: Activity 2, on: claim, status: Accepted, attributes: {Amount: Amount}}
  - {template: Activity 3, on: claim, status: Open, workflow: {name: Own, template_identifier: OWN}}
`, one, to, []string{first, sam, "claim/claim/A1 [2] Loan A1", `activity/Activity 1@claim/A1 [2] Submitted Postcode="N1"`,
			"activity/Activity 2@claim/A1 [2] Accepted Amount=12.5", "activity/Activity 3@claim/A1 [2] Open", "link [2]"}},
		{"use case 3", v2 + `activities:
  - {template: Activity 1, attributes: {Postcode: Postcode}}
  - {template: Activity 2, on: claim, attributes: {Amount: Amount}}
  - {template: Activity 3, status: Open}
`, append(one, "sam@example.com | | 2 | A2"), to, []string{`1 email "sam@example.com" [2 3]`, `client [2 3] email="sam@example.com"`,
			`activity/Activity 1@client [2 3] Submitted Postcode="N1"`, "claim/claim/A1 [2] Loan A1", "activity/Activity 2@claim/A1 [2] Submitted Amount=12.5",
			"claim/claim/A2 [3] Loan A2", "activity/Activity 2@claim/A2 [3] Submitted Amount=2", "activity/Activity 3@client [2 3] Open", "link [2 3]"}},
	})
}
