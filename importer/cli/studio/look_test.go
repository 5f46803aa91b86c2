package studio_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/importer/cli/studio"
)

// The verdict over the whole sheet says which cells cannot be used, by column, by target
// and in all.
func TestJudgement(t *testing.T) {
	t.Parallel()
	b := begin(t, mappingText, sheetText, nil)
	st := b.judged()
	j := reply(st["judgement"].(map[string]any))
	j.has(t, "rows", 5, "done", 5, "usable", 2, "errors", 3, "clients", 3, "disagree", 1, "partial", false, "stale", false)
	dob := st.one("columns", "letter", "D")
	dob.has(t, "header", "DOB", "filled", 5, "distinct", 4, "usable", 4, "errors", 1, "empty", 0,
		"targets", []string{"/activities/0/attributes/Date of birth"},
		"samples", []string{"01/02/1980", "31/02/1981", "03/04/1981", "05/06/1982"})
	dob.has(t, "problems.0.example", "31/02/1981")
	st.one("columns", "letter", "C").has(t, "problems.0.code", "conflict", "problems.0.count", 2)
	st.one("columns", "letter", "F").has(t, "targets", []string{}, "empty", 2)
	title := st.one("targets", "path", "/activities/0/attributes/Title")
	title.has(t, "usable", 4, "errors", 1, "empty", 0, "type", "DropDown", "typeFrom", "service", "options", []string{"Mister", "Miss"},
		"columns", []string{"E"}, "line", 16, "section", "Your details")
	lastName := st.one("targets", "path", "/client/fields/lastName")
	expect(t, "lastName: by the rows of one client together", []any{lastName["usable"], lastName["errors"], lastName.at("problems.0.code")}, []any{3, 2, "conflict"})
	st.one("targets", "path", "/activities/0/attributes/Remarks").has(t, "rule", nil)
	expect(t, "More: rule", st.one("targets", "path", "/activities/template=More/attributes/Note")["type"], "Text")
	expect(t, "key: usable", st.one("targets", "path", "/client/key")["usable"], 5)

	// A mistake in one rule leaves the rest judged.
	st = b.post("/api/patch", 200, "version", 1, "label", "x", "operations", []any{op("replace", "/activities/0/attributes/Title/column", "Salutation"),
		op("add", "/activities/0/attributes/Remarks", "Notes")})
	st.has(t, "mapping.problems.0.code", "unknown-column")
	expect(t, "what is judged by the text before", []any{st.at("judgement.complete"), st.at("judgement.usable"),
		st.one("targets", "path", "/client/fields/lastName")["usable"], st.one("columns", "letter", "D")["errors"]}, []any{false, 0, 0, 0})
	st.has(t, "mapping.problems.0.path", "/activities/0/attributes/Title/column")
	st = b.judged()
	st.has(t, "judgement.partial", true)
	expect(t, "DOB: errors", st.one("columns", "letter", "D")["errors"], 1)
	expect(t, "Remarks: usable", st.one("targets", "path", "/activities/0/attributes/Remarks")["usable"], 3)

	// Without a key rows are judged by themselves.
	b.post("/api/patch", 200, "version", 2, "label", "x", "operations", []any{op("replace", "/client/key", "Number")})
	st = b.judged()
	expect(t, "DOB: errors", st.one("columns", "letter", "D")["errors"], 1)
	st.has(t, "judgement.clients", 0)
	b.post("/api/text", 200, "version", 3, "text", "name: [")
	b.get("/api/state").has(t, "judgement.stale", true)
}

// Rows come in pages, all or those with a kind of trouble.
func TestRows(t *testing.T) {
	t.Parallel()
	var sheet strings.Builder
	sheet.WriteString("Lead no,E-mail,Surname,DOB,Title,Notes\n")
	for i := range 1000 {
		dob := "01/02/1980"
		if i%10 == 3 {
			dob = "30/02/1980"
		}
		fmt.Fprintf(&sheet, "%d,a%d@example.com,S,%s,Mr,\n", i, i, dob)
	}
	b := begin(t, mappingText, sheet.String(), nil)
	b.judged()
	for query, want := range map[string]string{
		"show=all&from=998&count=5":                                   "1000 [1000,1001]",
		"show=errors&from=1&count=2":                                  "100 [15,25]",
		"show=usable&from=2&count=2":                                  "900 [4,6]",
		"show=errors&column=D&code=date-impossible&from=99&count=100": "100 [995]",
		"show=errors&column=E":                                        "0 []",
	} {
		r, rows := b.get("/api/rows?"+query), []any{}
		for _, row := range r.list("rows") {
			rows = append(rows, row["row"])
		}
		expect(t, query, fmt.Sprint(r["total"], " ", encode(rows)), want)
	}
	r := b.get("/api/rows?show=errors&count=1")
	r.has(t, "rows.0.cells", []string{"3", "a3@example.com", "S", "30/02/1980", "Mr", ""}, "rows.0.problems.0.column", "D")
	for query, want := range map[string][]any{"show=all&find=errors&row=6": {13, 15}, "show=errors&row=16": {2, 25}, "show=all&find=errors&row=996": {999, nil}} {
		r := b.get("/api/rows?count=1&" + query)
		expect(t, "the place of "+query, []any{r["place"], r.at("rows.0.row")}, want)
	}
}

// The meaning of a column's texts is that of the target that is looked at, and of this
// column alone: a value table is made from it.
func TestMeanings(t *testing.T) {
	t.Parallel()
	const head = "name: x\napi: v2\nclient: {key: No, existing: create, fields: {n: No}}\nworkflow: {name: W, template_identifier: W}\n"
	const table = "values: {Mr: Mister, Ms: Miss}"
	const aRows = "No,A,B,C\n1,Mr,Dr,\n2,Ms,Mr,\n3,,Ms,x\n"
	for name, c := range map[string]struct {
		rules, sheet, column, path string
		want                       string // text=what is sent, ! for a problem
	}{
		"each claim has its column": {
			"claims:\n  - {id: one, key: A, name: '{A}', columns: {Title: A}}\n  - {id: two, key: B, name: '{B}', columns: {Title: B}}\n" +
				"activities:\n  - {template: Your details, on: claim, attributes: {Title: {column: Title, " + table + "}}}\n",
			aRows, "C", "/activities/0/attributes/Title", "Dr=! Mr=Mister Ms=Miss"},
		"the columns of all claims together": {
			"claims:\n  - {id: one, key: A, name: '{A}', columns: {Title: A}}\n  - {id: two, key: B, name: '{B}', columns: {Title: B}}\n" +
				"activities:\n  - {template: Your details, on: claim, attributes: {Title: {column: Title, " + table + "}}}\n",
			aRows, "B,C", "/activities/0/attributes/Title", "Mr=Mister Ms=Miss Dr=!"},
		"each activity has its table": {
			"activities:\n  - {template: Your details, attributes: {Title: {column: A, " + table + "}}}\n" +
				"  - {template: Your details, id: more, attributes: {Title: {column: A, values: {Mr: Master}}}}\n",
			aRows, "B", "/activities/1/attributes/Title", "Mr=Master Ms=!"},
		"the first that is filled": {
			"activities:\n  - {template: Your details, attributes: {Title: {first_of: [A, B], " + table + "}}}\n",
			aRows, "C", "/activities/0/attributes/Title", "Dr= Mr= Ms=Miss"},
		"a text of several cells": {
			"activities:\n  - {template: Your details, attributes: {Title: {text: '{A}', " + table + "}}}\n",
			aRows, "B", "/activities/0/attributes/Title", "Mr= Ms="},
		"an expression": {
			"activities:\n  - {template: Your details, attributes: {Title: {expr: 'col(\"A\") + col(\"B\")'}}}\n",
			aRows, "B", "/activities/0/attributes/Title", "Mr= Ms="},
		"rows that the activity is not for": {
			"activities:\n  - {template: Your details, when: 'col(\"No\") != \"1\"', attributes: {Title: {column: B, " + table + "}}}\n",
			"No,A,B\n1,,Mr\n2,,Mr\n1,,Dr\n", "C", "/activities/0/attributes/Title", "Mr=Mister Dr="},
		"a text that is no option": {
			"activities:\n  - {template: Your details, attributes: {Title: B}}\n",
			"No,A,B\n1,,Mister\n2,,Dr\n", "C", "/activities/0/attributes/Title", "Mister=Mister Dr=Dr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, head+c.rules, c.sheet, nil)
			b.judged().has(t, "mapping.problems", []any{})
			r := b.get("/api/column?letter=" + c.column + "&path=" + url.QueryEscape(c.path))
			var got []string
			for _, value := range r.list("values") {
				one := fmt.Sprintf("%s=", value["text"])
				if to, ok := value["to"].(string); ok {
					one += to
				}
				if value["problem"] != nil {
					one += "!"
				}
				got = append(got, one)
			}
			expect(t, "the values", strings.Join(got, " "), c.want)
		})
	}
}

// What would be sent for a client is shown with the reason why its rows belong together.
func TestClient(t *testing.T) {
	t.Parallel()
	b := begin(t, mappingText, sheetText, func(o *studio.Options) { o.Routes = apiclient.Routes{Version: apiclient.V2} })
	b.judged()
	r := b.get("/api/client?row=3")
	r.has(t, "number", 1, "of", 3, "rows", []int{2, 3}, "why", "2 rows have the same key, Lead no: 1",
		"steps.0.body", map[string]any{"email": "ann@example.com", "lastName": "Archer"},
		"steps.0.path", "/funnel/v2/contacts?isAdministrator=true", "steps.1.path", "/funnel/v2/activities?contactId=«id of the client»")
	expect(t, "the activity's body", r.at("steps.1.body"), map[string]any{"templateId": "t1", "status": "Submitted", "workflowName": "Spring", "workflowTemplateIdentifier": "WF",
		"attributes": []map[string]any{{"templateId": "a2", "dateTimeValue": "1980-02-01T00:00:00Z"}, {"templateId": "a1", "stringValue": "Mister"}}})
	r = b.get("/api/client?number=2")
	r.has(t, "steps", []any{})
	if n := len(r["problems"].([]any)); n != 4 { // two names, a date, a title
		t.Errorf("the client has %d problems: %s", n, encode(r["problems"]))
	}
	if status, _ := b.ask("GET", "/api/client?row=99", ""); status != 404 {
		t.Errorf("row 99 gets %d", status)
	}
}

// A preview shows what a rule makes of the first rows, and how else dates can be read.
func TestPreview(t *testing.T) {
	t.Parallel()
	sheet := "Lead no,E-mail,Surname,DOB,Title,Notes\n1,a@example.com,A,01/02/1980,Mr,\n2,b@example.com,B,03/04/1980,Mr,\n3,c@example.com,C,12/25/1980,Mr,\n"
	b := begin(t, mappingText, sheet, nil)
	b.judged()
	r := b.post("/api/preview", 200, "path", "/activities/0/attributes/Date of birth", "value", map[string]any{"column": "DOB", "format": "dd/mm/yyyy"})
	r.has(t, "usable", 2, "errors", 1,
		"rows.0", map[string]any{"row": 2, "source": "01/02/1980", "result": "1980-02-01T00:00:00Z", "problem": nil},
		"readings.0.format", "mm/dd/yyyy", "readings.0.errors", 0, "readings.0.rows.0.result", "1980-01-02T00:00:00Z")
	r = b.post("/api/preview", 200, "path", "/client/fields/seen", "value", map[string]any{"column": "DOB", "type": "DateTime"})
	r.has(t, "readings.0.format", "mm/dd/yyyy")
	r = b.post("/api/preview", 200, "path", "/activities/template=More/attributes/Note", "value", map[string]any{"text": "{Surname} of {Notes}"})
	r.has(t, "rows.1.result", "B of")
	r = b.post("/api/preview", 200, "path", "/client/fields/firstName", "value", map[string]any{"expr": `upper(col("Nobody"))`})
	r.has(t, "error.code", "unknown-column")
	r = b.post("/api/preview", 200, "path", "/sheet/when", "value", `col("Surname") != "B"`)
	expect(t, "a condition", []any{r.at("rows.0.result"), r.at("rows.1.result")}, []string{"yes", "no"})
	b.post("/api/preview", 200, "path", "/claims/0/name", "value", "Claim of {Surname}").has(t, "rows.2.result", "Claim of C")
	b.get("/api/state").has(t, "mapping.text", mappingText)
}

func TestDiff(t *testing.T) {
	t.Parallel()
	b := begin(t, "name: a\napi: v2\n# end\n", sheetText, nil)
	b.post("/api/text", 200, "version", 1, "text", "name: b\napi: v2\nclient: {}\n# end\n")
	expect(t, "the lines", b.get("/api/diff")["lines"], []string{"@@ -1,3 +1,4 @@", "-name: a", "+name: b", " api: v2", "+client: {}", " # end"})
}

// A column that is left out, the sheet's header row and the answer to a question are
// kept in the file.
func TestChoices(t *testing.T) {
	t.Parallel()
	b := begin(t, "name: x   # DECIDE: what name?\n", "\"Title of the list\",,,\nNo,Name,Name,\n1,a,b,c\n", nil)
	b.get("/api/state").has(t, "mapping.questions.0.text", "what name?")
	b.post("/api/decide", 200, "version", 1, "line", 1).has(t, "mapping.text", "name: x\n")
	b.post("/api/text", 200, "version", 2, "text", "name: \"Lead #\"   # DECIDE: what?\n# DECIDE: and?\n")
	b.post("/api/decide", 200, "version", 3, "line", 2).has(t, "mapping.text", "name: \"Lead #\"   # DECIDE: what?\n")
	b.post("/api/decide", 200, "version", 4, "line", 1).has(t, "mapping.text", "name: \"Lead #\"\n")
	b.post("/api/history", 200, "version", 5, "to", 1)
	st := b.post("/api/patch", 200, "version", 6, "label", "x", "operations", []any{op("add", "/sheet/header_row", 2)})
	st.has(t, "mapping.text", "name: x\nsheet:\n  header_row: 2\n")
	b.until("the columns", func(st reply) bool { return st.at("columns.1") != nil }).has(t, "columns.1.shared", true)
	b.post("/api/ignore", 200, "version", 7, "column", "C", "ignored", true).has(t, "columns.1.ignored", false, "columns.2.ignored", true)
	st = b.post("/api/ignore", 200, "version", 8, "column", "A", "ignored", true)
	st.has(t, "mapping.text", "name: x\nsheet:\n  header_row: 2\n# ignored: column C\n# ignored: No\n")
	st = b.post("/api/ignore", 200, "version", 9, "column", "C", "ignored", false)
	st.has(t, "mapping.text", "name: x\nsheet:\n  header_row: 2\n# ignored: No\n")
}

// What the headers and cells suggest is offered with its reason, and can be taken as it
// is, several at once.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	sheet := "Lead no,E-mail,Surname,DOB,Note,Remark\n1,ann@example.com,Archer,13/02/1980,a,b\n2,bob@example.com,Brown,14/03/1981,c,d\n"
	b := begin(t, "name: x\napi: v2\nclient:\n  key: Lead no\n  lookup: {email: E-mail}\n  fields: {lastName: Surname}\nworkflow: {name: W, template_identifier: W}\n", sheet, nil)
	st := b.until("suggestions", func(st reply) bool { return st.at("suggestions.0") != nil })
	email := st.one("suggestions", "path", "/client/fields/email")
	email.has(t, "column", "B", "sure", true, "reason", "e-mail addresses in 2 of 2 cells",
		"operations.0.value", map[string]any{"column": "E-mail", "type": "Email"})
	dob := st.one("suggestions", "path", "/activities/template=Your details/attributes/Date of birth")
	dob.has(t, "reason", "another name for it; 2 of 2 cells read as dd/mm/yyyy, 0 fit both orders of day and month", "column", "D")
	note := st.one("suggestions", "path", "/activities/template=More/attributes/Note")
	note.has(t, "reason", "the same name")
	if taken := st.one("suggestions", "path", "/client/fields/lastName"); taken != nil {
		t.Errorf("what is filled is suggested: %s", encode(taken))
	}
	st = b.post("/api/ignore", 200, "version", 1, "column", "D", "ignored", true)
	if taken := st.one("suggestions", "column", "D"); taken != nil {
		t.Errorf("a column that is left out is suggested: %s", encode(taken))
	}
	b.post("/api/history", 200, "version", 2, "to", 0)
	var all []any
	for _, g := range []reply{email, dob, note} {
		all = append(all, g["operations"].([]any)...)
	}
	st = b.post("/api/patch", 200, "version", 3, "label", "3 suggestions", "operations", all)
	expect(t, "the text", st.at("mapping.text"), `name: x
api: v2
client:
  key: Lead no
  lookup: {email: E-mail}
  fields: {lastName: Surname, email: {column: E-mail, type: Email}}
workflow: {name: W, template_identifier: W}
activities:
  - template: Your details
    attributes:
      Date of birth: {column: DOB, format: dd/mm/yyyy, type: Date}
  - template: More
    attributes:
      Note: Note
`)
	st.has(t, "mapping.problems", []any{})
}

// Rows that the mapping skips are neither usable nor in trouble, in the sums as in the rows
// and columns.
func TestSkippedRows(t *testing.T) {
	t.Parallel()
	b := begin(t, strings.Replace(mappingText, "client:\n", "sheet: {when: 'col(\"Notes\") != \"y\"'}\nclient:\n", 1), sheetText, nil)
	st := b.judged()
	reply(st["judgement"].(map[string]any)).has(t, "rows", 5, "skipped", 1, "usable", 2, "errors", 2)
	for show, want := range map[string]any{"all": 5, "usable": 2, "errors": 2} {
		expect(t, "the rows "+show, b.get("/api/rows?show=" + show)["total"], want)
	}
	st.one("columns", "letter", "B").has(t, "usable", 4, "errors", 0, "empty", 0)
	st.one("columns", "letter", "F").has(t, "usable", 2, "empty", 2)
}

// A field may have any name, also one that means something else elsewhere; a header may be
// a number.
func TestNamesOfFields(t *testing.T) {
	t.Parallel()
	const text = "name: x\napi: v2\nclient:\n  key: 2024\n  existing: create\n  fields:\n    name: Surname\n    status: {column: 2024}\n    id: Surname\n    long: {value: 12345678901234567890}\n    price: {value: 1.50}\n"
	b := begin(t, text, "2024,Surname\n1,Archer\n", nil)
	st := b.judged()
	for path, want := range map[string]any{"/client/key": []string{"A"}, "/client/fields/name": []string{"B"}, "/client/fields/status": []string{"A"}, "/client/fields/id": []string{"B"}} {
		expect(t, path, st.one("targets", "path", path)["columns"], want)
	}
	st.one("targets", "path", "/client/fields/long").has(t, "rule.value", "12345678901234567890")
	st.one("targets", "path", "/client/fields/price").has(t, "rule.value", "1.50")
	b.post("/api/preview", 200, "path", "/client/fields/name", "value", "Surname").has(t, "rows.0.result", "Archer")
}
