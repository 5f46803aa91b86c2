package sandbox_test

import (
	"strings"

	"claimsheet/apiclient/sandbox"
)

// refusal is a request that must be refused. Its content type is
// application/json unless it says otherwise ("none" for none).
type refusal struct{ name, method, path, contentType, body string }

// refusals are requests about two contacts, a claim of the first, and a client.
func refusals(admin, plain, claim, client string) []refusal {
	var list []refusal
	add := func(name, method, path, body string) {
		list = append(list, refusal{name, method, path, "", body})
	}
	typed := func(name, contentType, body string) {
		list = append(list, refusal{name, "POST", v2 + "/contacts", contentType, body})
	}
	contacts := v2 + "/contacts"

	add("unknown path", "GET", "/funnel/v3/contacts", "")
	add("root", "GET", "/", "")
	add("path with a trailing slash", "POST", contacts+"/", `{"a":1}`)
	add("look-up of nothing", "GET", contacts+"/by-email/", "")
	add("list of contacts", "GET", contacts, "")
	add("look-up by POST", "POST", contacts+"/by-email/jane@example.com", `{}`)
	add("delete", "DELETE", v2+"/claims", "")
	add("preflight", "OPTIONS", v2+"/claims", "")

	add("unknown parameter", "POST", contacts+"?isAdmin=true", `{"a":1}`)
	add("parameter where there is none", "GET", v2+"/activity-templates?claimId=1", "")
	add("parameter of the other version", "POST", v1Clients+"?isAdministrator=true", `{"a":1}`)
	add("parameter neither true nor false", "POST", contacts+"?isAdministrator=1", `{"a":1}`)
	add("leadRedirect empty", "POST", v1Clients+"?leadRedirect=", `{"a":1}`)

	typed("no content type", "none", `{"a":1}`)
	typed("form", "application/x-www-form-urlencoded", `a=1`)
	typed("body of 1 MiB and a byte", "application/json", `{"a":"`+strings.Repeat("x", 1<<20-7)+`"}`)
	typed("byte order mark", "application/json", "\ufeff{}")
	typed("empty body", "application/json", ``)
	typed("body cut off", "application/json", `{"a":1`)
	typed("two objects", "application/json", `{"a":1}{"b":2}`)
	typed("array", "application/json", `[{"a":1}]`)
	typed("null", "application/json", `null`)
	typed("string", "application/json", `"a"`)

	add("client without data", "POST", v1Clients, `{}`)
	add("case id", "POST", "/funnel/v1/cases/7/clients", `{"a":1}`)
	add("case id in another spelling", "POST", "/funnel/v1/cases/{"+sandbox.CaseID+"}/clients", `{"a":1}`)
	add("case id of templates", "GET", "/funnel/v1/cases/7/activity-templates", "")
	add("case id of a look-up", "GET", "/funnel/v1/cases/7/clients/by-email/a@example.com", "")
	add("look-up of an unknown e-mail", "GET", contacts+"/by-email/nobody@example.com", "")
	add("look-up of an unknown phone", "GET", v1Clients+"/by-phone/0", "")
	add("unknown redirect url", "GET", "/start/NONE", "")

	addClaim := func(name, administrator, claimants, claimName string) {
		add(name, "POST", v2+"/claims", `{"administratorId":`+administrator+`,"claimants":`+claimants+`,"claimName":`+claimName+`}`)
	}
	q := func(s string) string { return `"` + s + `"` }
	add("claim with an unknown field", "POST", v2+"/claims", `{"name":"Loan"}`)
	add("claim without anything", "POST", v2+"/claims", `{}`)
	add("claim without claimants", "POST", v2+"/claims", `{"administratorId":"`+admin+`"}`)
	add("claim without a name", "POST", v2+"/claims", `{"administratorId":"`+admin+`","claimants":["`+admin+`"]}`)
	addClaim("claim with a number for an id", "7", "["+q(admin)+"]", q("Loan"))
	addClaim("claim with a bad id", q("7"), "["+q(admin)+"]", q("Loan"))
	addClaim("claim of an unknown administrator", q(unheardOf), "["+q(admin)+"]", q("Loan"))
	addClaim("claim of a v1 client", q(client), "["+q(admin)+"]", q("Loan"))
	addClaim("claim of a contact that is no administrator", q(plain), "["+q(plain)+"]", q("Loan"))
	addClaim("claim with one claimant as a string", q(admin), q(admin), q("Loan"))
	addClaim("claim with an empty list of claimants", q(admin), "[]", q("Loan"))
	addClaim("claim with a claimant null", q(admin), "["+q(admin)+",null]", q("Loan"))
	addClaim("claim with a bad claimant", q(admin), "["+q(admin)+","+q("x")+"]", q("Loan"))
	addClaim("claim with an unknown claimant", q(admin), "["+q(admin)+","+q(unheardOf)+"]", q("Loan"))
	addClaim("claim with a claimant twice", q(admin), "["+q(admin)+","+q(strings.ToUpper(admin))+"]", q("Loan"))
	addClaim("claim with an empty name", q(admin), "["+q(admin)+"]", q(" "))
	addClaim("claim with a number for a name", q(admin), "["+q(admin)+"]", "1")

	links := contacts + "/" + admin + "/magic-link"
	add("link of a bad id", "POST", contacts+"/7/magic-link", `{}`)
	add("link of an unknown contact", "POST", contacts+"/"+unheardOf+"/magic-link", `{}`)
	add("link of a v1 client", "POST", contacts+"/"+client+"/magic-link", `{}`)
	add("link with a list", "POST", links, `[]`)
	list = append(list, refusal{"link with a form", "POST", links, "text/plain", `{}`})

	return append(list, activityRefusals(admin, claim, client)...)
}

// activityRefusals are the refusals of activities in both versions.
func activityRefusals(admin, claim, client string) []refusal {
	var list []refusal
	v1 := func(name, body string) {
		list = append(list, refusal{name, "POST", v1Clients + "/" + client + "/activities", "", body})
	}
	v2At := func(name, query, body string) {
		list = append(list, refusal{name, "POST", v2 + "/activities" + query, "", body})
	}
	add := func(name, body string) { v2At(name, "?claimId="+claim, body) }
	part := func(name, old, new string) {
		add(name, strings.Replace(completed(details, surname, "Submitted"), old, new, 1))
	}
	attribute := func(name, id, value string) {
		part(name, `{"templateId":"`+surname+`","stringValue":"Doe <& Söhne>"}`, `{"templateId":"00000000-0000-4000-8000-0000000000`+id+`"`+value+`}`)
	}

	fine := completed(details, surname, "Submitted")
	v2At("activity of nobody", "", fine)
	v2At("activity of claim and contact", "?claimId="+claim+"&contactId="+admin, fine)
	v2At("activity of a bad claim id", "?claimId=7", fine)
	v2At("activity of an unknown claim", "?claimId="+unheardOf, fine)
	v2At("activity of a claim that is a contact", "?claimId="+admin, fine)
	v2At("activity of a bad contact id", "?contactId=", fine)
	v2At("activity of an unknown contact", "?contactId="+unheardOf, fine)
	v2At("activity of a contact that is a claim", "?contactId="+claim, fine)
	list = append(list,
		refusal{"v1 activity of a bad case id", "POST", "/funnel/v1/cases/7/clients/" + client + "/activities", "", `{}`},
		refusal{"v1 activity of a bad client id", "POST", v1Clients + "/7/activities", "", `{}`},
		refusal{"v1 activity of an unknown client", "POST", v1Clients + "/" + unheardOf + "/activities", "", `{}`},
		refusal{"v1 activity of a client of another case", "POST", "/funnel/v1/cases/" + unheardOf + "/clients/" + client + "/activities", "", `{}`},
		refusal{"v1 activity of a contact", "POST", v1Clients + "/" + admin + "/activities", "", `{}`})

	v1("v1 activity with v2 fields", `{"activityTemplateId":"`+details+`","status":"Open","workflowName":"x"}`)
	v1("v1 activity with the v2 template id", `{"templateId":"`+details+`","status":"Open"}`)
	v1("v1 activity Accepted", `{"activityTemplateId":"`+details+`","status":"Accepted"}`)
	v1("v1 attribute with the v2 template id", `{"activityTemplateId":"`+details+`","status":"Submitted","attributes":[{"templateId":"`+surname+`","stringValue":"x"}]}`)
	v1("v1 attribute unknown", `{"activityTemplateId":"`+details+`","status":"Submitted","attributes":[{"activityAttributeTemplateId":"`+lender+`","stringValue":"x"}]}`)
	part("v2 activity with the v1 template id", `"templateId"`, `"activityTemplateId"`)
	part("v2 attribute with the v1 template id", `[{"templateId"`, `[{"activityAttributeTemplateId"`)

	add("activity without anything", `{}`)
	part("activity with an unknown field", `"status"`, `"Status"`)
	part("activity with a bad template id", details, "7")
	part("activity with an unknown template", details, unheardOf)
	part("activity without a status", `"status":"Submitted",`, "")
	part("activity with an unknown status", "Submitted", "Done")
	part("activity with a status in lower case", "Submitted", "submitted")
	part("activity without workflowName", `"workflowName":"Leads",`, "")
	part("activity with an empty workflowName", `"Leads"`, `""`)
	part("activity without workflowTemplateIdentifier", `"workflowTemplateIdentifier":"WF-1",`, "")
	part("activity with an empty workflowTemplateIdentifier", `"WF-1"`, `" "`)
	part("activity with a number for a workflow", `"WF-1"`, `1`)
	part("Open activity with attributes", "Submitted", "Open")
	add("Open activity with an empty list", strings.Replace(opened(details), `"status"`, `"attributes":[],"status"`, 1))
	add("back-filled activity without attributes", strings.Replace(opened(details), "Open", "Submitted", 1))
	add("back-filled activity with an empty list", strings.Replace(opened(details), `"Open"`, `"Accepted","attributes":[]`, 1))
	add("back-filled activity with attributes null", strings.Replace(opened(details), `"Open"`, `"Accepted","attributes":null`, 1))
	part("attribute that is no object", `[{`, `["x",{`)
	part("attribute with an unknown field", `"stringValue"`, `"value"`)
	part("attribute without an id", `[{"templateId":"`+surname+`",`, `[{`)
	part("attribute with a bad id", surname, "7")
	part("attribute of another template", surname, lender)
	part("attribute twice", `[{`, `[{"templateId":"`+surname+`","stringValue":"Roe"},{`)

	attribute("attribute without a value", "a1", ``)
	attribute("attribute with two values", "a1", `,"stringValue":"x","boolValue":true`)
	for id, field := range []string{1: "boolValue", 2: "dateTimeValue", 3: "doubleValue", 4: "stringValue", 5: "stringValue", 6: "boolValue", 7: "stringValue", 8: "dateTimeValue"} {
		if id > 0 {
			attribute("wrong value field for a"+string(rune('0'+id)), "a"+string(rune('0'+id)), `,"`+field+`":"x"`)
		}
	}
	attribute("text as a number", "a1", `,"stringValue":7`)
	attribute("text as null", "a2", `,"stringValue":null`)
	attribute("checkbox as a string", "a4", `,"boolValue":"true"`)
	attribute("number as a string", "a7", `,"doubleValue":"7"`)
	attribute("number beyond a double", "a8", `,"doubleValue":1e999`)
	attribute("date as a number", "a5", `,"dateTimeValue":42856`)
	attribute("date alone", "a5", `,"dateTimeValue":"1980-05-01"`)
	attribute("date with a time of day", "a5", `,"dateTimeValue":"1980-05-01T00:00:01Z"`)
	attribute("date with a fraction of a second", "a5", `,"dateTimeValue":"1980-05-01T00:00:00.1Z"`)
	attribute("date that is none", "a5", `,"dateTimeValue":"1980-02-30T00:00:00Z"`)
	attribute("date-time with an offset", "a6", `,"dateTimeValue":"1980-05-01T09:00:00+00:00"`)
	attribute("date-time without a zone", "a6", `,"dateTimeValue":"1980-05-01T09:00:00"`)
	attribute("date-time with a space", "a6", `,"dateTimeValue":"1980-05-01 09:00:00Z"`)
	attribute("date-time with one digit", "a6", `,"dateTimeValue":"1980-05-01T9:00:00Z"`)
	attribute("date-time with a comma", "a6", `,"dateTimeValue":"1980-05-01T09:00:00,5Z"`)
	add("no value for a type that is not told", completedWith("b2", ``))
	add("date-time for a type that is not told", completedWith("b2", `,"dateTimeValue":"x"`))
	return list
}

// completedWith is a completed Agreement with one attribute.
func completedWith(id, value string) string {
	return `{"templateId":"` + agreement + `","status":"Submitted","workflowName":"Leads","workflowTemplateIdentifier":"WF-1",
		"attributes":[{"templateId":"00000000-0000-4000-8000-0000000000` + id + `"` + value + `}]}`
}
