package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// The flows of the service document, each as the whole plan of one client.

func value(s string) cell.Value { return cell.Value{Field: cell.StringValue, Literal: s} }

// from is the source of a value that came from one cell of a row.
func from(row cell.Row, column int, shown string) mapping.Source {
	// E-mail and Agreement are keys, for which case makes no difference.
	return mapping.Source{Row: row, Columns: []int{column}, Names: []string{strings.ToLower(strings.Split(flowHeader, " | ")[column])}, Texts: []string{shown}, FoldCase: column == 0 || column == 4}
}

func checkPlans(t *testing.T, want, got []mapping.Plan) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("plans (-want +got):\n%s", d)
	}
}

// detailTemplates are the three templates of the document's examples.
func detailTemplates() *mapping.Service {
	return service(template("Activity 1", "Postcode"), template("Activity 2", "Amount:Currency"), template("Activity 3"))
}

const flowHeader = "E-mail | Name | Postcode | Amount | Agreement"

const flowClient = `client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, name: Name}
`

// samClient is the client step that flowClient makes of a row.
func samClient(row cell.Row) mapping.Step {
	return mapping.Step{Key: "client", Kind: mapping.ClientStep, Rows: []cell.Row{row}, Title: "client", Fields: []mapping.Field{
		{Path: []string{"email"}, Value: value("sam@example.com"), Source: from(row, 0, "sam@example.com")},
		{Path: []string{"name"}, Value: value("Sam"), Source: from(row, 1, "Sam")},
	}}
}

func sam(rows []cell.Row, steps ...mapping.Step) mapping.Plan {
	for i := range steps {
		if steps[i].Rows == nil {
			steps[i].Rows = rows
		}
	}
	address := mapping.Identity{Space: "email", Key: "sam@example.com"}
	return mapping.Plan{
		Number: 1, Client: address, Rows: rows,
		Lookup: mapping.Lookup{Email: "sam@example.com", EmailAddress: address}, Addresses: []mapping.Identity{address}, Steps: steps,
	}
}

func activity(key, claim, name string, status mapping.Status, w mapping.Workflow, attributes ...mapping.Attribute) mapping.Step {
	return mapping.Step{Key: key, Kind: mapping.ActivityStep, Claim: claim, Title: name, Activity: &mapping.Activity{
		TemplateID: "id of " + name, TemplateName: name, Status: status, Workflow: w, Attributes: attributes,
	}}
}

func postcode(row cell.Row, s string) mapping.Attribute {
	return mapping.Attribute{TemplateID: "id of Activity 1/Postcode", Name: "Postcode", Value: value(s), Source: from(row, 2, s)}
}

func amount(row cell.Row, s string) mapping.Attribute {
	return mapping.Attribute{
		TemplateID: "id of Activity 2/Amount", Name: "Amount",
		Value: cell.Value{Field: cell.DoubleValue, Literal: s}, Source: from(row, 3, s),
	}
}

func link() mapping.Step {
	return mapping.Step{Key: "link", Kind: mapping.LinkStep, Title: "magic link"}
}

func claimStep(row cell.Row, key, name string, source mapping.Source) mapping.Step {
	return mapping.Step{
		Key: key, Kind: mapping.ClaimStep, Rows: []cell.Row{row}, Claim: key, Title: "claim", Name: name, NameSource: source,
	}
}

func TestPlanVersion1FlowA(t *testing.T) {
	sheet, records := leads(flowHeader, "sam@example.com | Sam")
	b := mustBind(t, "name: n\napi: v1\n"+flowClient, sheet, detailTemplates())
	checkPlans(t, []mapping.Plan{sam([]cell.Row{2}, samClient(2))}, planAll(b, records))
}

// The client can be redirected as soon as the Open activity is there; the
// back-filled ones follow.
func TestPlanVersion1FlowB(t *testing.T) {
	sheet, records := leads(flowHeader, "sam@example.com | Sam | N1 | 12.5")
	b := mustBind(t, "name: n\napi: v1\n"+flowClient+`activities:
  - {template: Activity 1, attributes: {Postcode: Postcode}}
  - {template: Activity 2, attributes: {Amount: Amount}}
  - {template: Activity 3, status: Open}
`, sheet, detailTemplates())
	none := mapping.Workflow{}
	checkPlans(t, []mapping.Plan{sam([]cell.Row{2},
		samClient(2),
		activity("activity/Activity 3@client", "", "Activity 3", mapping.Open, none),
		activity("activity/Activity 1@client", "", "Activity 1", mapping.Submitted, none, postcode(2, "N1")),
		activity("activity/Activity 2@client", "", "Activity 2", mapping.Submitted, none, amount(2, "12.5")),
	)}, planAll(b, records))
}

const flowVersion2 = "name: n\napi: v2\n" + flowClient + `workflow: {name: "{sheet} {run.date}"}
claims: [{key: Agreement, name: "Loan {Agreement}"}]
`

var flowWorkflow = mapping.Workflow{Name: "Leads 2026-11-20", TemplateIdentifier: "WF"}

// A claim that no activity is on is created right after the client.
func TestPlanVersion2UseCase1(t *testing.T) {
	sheet, records := leads(flowHeader, "sam@example.com | Sam | N1 | | A1")
	b := mustBind(t, flowVersion2+`activities:
  - {template: Activity 1, attributes: {Postcode: Postcode}}
`, sheet, detailTemplates())
	checkPlans(t, []mapping.Plan{sam([]cell.Row{2},
		samClient(2),
		claimStep(2, "claim/claim/A1", "Loan A1", from(2, 4, "A1")),
		activity("activity/Activity 1@client", "", "Activity 1", mapping.Submitted, flowWorkflow, postcode(2, "N1")),
		link(),
	)}, planAll(b, records))
}

func TestPlanVersion2UseCase2(t *testing.T) {
	sheet, records := leads(flowHeader, "sam@example.com | Sam | N1 | 7 | A1")
	b := mustBind(t, flowVersion2+`activities:
  - {template: Activity 1, on: claim, attributes: {Postcode: Postcode}}
  - {template: Activity 2, on: claim, status: Accepted, attributes: {Amount: Amount}}
  - {template: Activity 3, on: claim, status: Open, workflow: {name: Own, template_identifier: OWN}}
`, sheet, detailTemplates())
	const claim = "claim/claim/A1"
	checkPlans(t, []mapping.Plan{sam([]cell.Row{2},
		samClient(2),
		claimStep(2, claim, "Loan A1", from(2, 4, "A1")),
		activity("activity/Activity 1@claim/A1", claim, "Activity 1", mapping.Submitted, flowWorkflow, postcode(2, "N1")),
		activity("activity/Activity 2@claim/A1", claim, "Activity 2", mapping.Accepted, flowWorkflow, amount(2, "7")),
		activity("activity/Activity 3@claim/A1", claim, "Activity 3", mapping.Open, mapping.Workflow{Name: "Own", TemplateIdentifier: "OWN"}),
		link(),
	)}, planAll(b, records))
}

func TestPlanVersion2UseCase3(t *testing.T) {
	sheet, records := leads(flowHeader,
		"sam@example.com | Sam | N1 | 1 | A1",
		"sam@example.com | Sam |    | 2 | A2")
	b := mustBind(t, flowVersion2+`activities:
  - {template: Activity 1, attributes: {Postcode: Postcode}}
  - {template: Activity 2, on: claim, attributes: {Amount: Amount}}
  - {template: Activity 3, status: Open}
`, sheet, detailTemplates())
	client := samClient(2)
	client.Rows = nil
	first := activity("activity/Activity 2@claim/A1", "claim/claim/A1", "Activity 2", mapping.Submitted, flowWorkflow, amount(2, "1"))
	second := activity("activity/Activity 2@claim/A2", "claim/claim/A2", "Activity 2", mapping.Submitted, flowWorkflow, amount(3, "2"))
	first.Rows, second.Rows = []cell.Row{2}, []cell.Row{3}
	checkPlans(t, []mapping.Plan{sam([]cell.Row{2, 3},
		client,
		activity("activity/Activity 1@client", "", "Activity 1", mapping.Submitted, flowWorkflow, postcode(2, "N1")),
		claimStep(2, "claim/claim/A1", "Loan A1", from(2, 4, "A1")), first,
		claimStep(3, "claim/claim/A2", "Loan A2", from(3, 4, "A2")), second,
		activity("activity/Activity 3@client", "", "Activity 3", mapping.Open, flowWorkflow),
		link(),
	)}, planAll(b, records))
}
