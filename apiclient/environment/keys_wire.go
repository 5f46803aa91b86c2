package environment

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient"
)

var wireFields = []field[apiclient.Wire]{
	{"client_id", "version 1, the id of a created client; default /clientId", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.ClientID = r.pointer(v, false) }},
	{"contact_id", "version 2, the id of a created contact; default /contactId", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.ContactID = r.pointer(v, false) }},
	{"claim_id", "the id of a created claim; default /claimId", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.ClaimID = r.pointer(v, false) }},
	{"redirect_url", "the url that the client is redirected to; default /redirectUrl", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.RedirectURL = r.pointer(v, false) }},
	{"activity_id", "the id of a created activity; default \"\": the answer need carry none", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.ActivityID = r.pointer(v, true) }},
	{"data_type", "the data type of an attribute template; default /dataType; absent is fine", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.DataType = r.pointer(v, true) }},
	{"data_types", "the service's names of data types and ours: Text, TextArea, DropDown, Checkbox, Date, DateTime, Number or Currency",
		formMap(formOneOf(dataTypes)), readDataTypes},
	{"lookup_client_id", "the client's id in a look-up's answer; default: as client_id", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.LookupClientID = r.pointer(v, true) }},
	{"lookup_contact_id", "the contact's id in a look-up's answer; default: as contact_id", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.LookupContactID = r.pointer(v, true) }},
	{"lookup_agree", "client fields, which the mapping must fill, and where a look-up's answer has them; compared before a client is taken over",
		formMap(formPointer), readLookupAgree},
	{"link_body", "the body of the magic-link request; default {}", form{"type": "object"},
		func(r *reader, v value, w *apiclient.Wire) { w.LinkBody = r.jsonObject(v) }},
}

var notFoundFields = []field[apiclient.NotFound]{
	{"status", "HTTP statuses; default [404]", formList(formInteger(100, 599)), readNotFoundStatus},
	{"empty", "a successful answer of null, {} or [] means nobody too; default true", formBool,
		func(r *reader, v value, n *apiclient.NotFound) { n.Empty = r.boolean(v) }},
}

var ruleFields = []field[apiclient.Rule]{
	{"status", "the HTTP status; default: any", formInteger(100, 599),
		func(r *reader, v value, rule *apiclient.Rule) { r.integer(v, 100, 599, &rule.Status) }},
	{"pointer", "a JSON Pointer into the answer; default: the whole body as text", formPointer,
		func(r *reader, v value, rule *apiclient.Rule) { rule.Pointer = r.pointer(v, true) }},
	{"matches", "a regular expression; default: anything", formText,
		func(r *reader, v value, rule *apiclient.Rule) { rule.Matches = r.regexp(v) }},
	{"means", "what such an answer means", formOneOf(meanings),
		func(r *reader, v value, rule *apiclient.Rule) { rule.Means = r.oneOf(v, meanings) }},
	{"hint", "what to do about it, shown beside the row", formText,
		func(r *reader, v value, rule *apiclient.Rule) { rule.Hint = r.text(v) }},
}

var meanings = []string{"retry", "failed", "done", "stop", "uncertain"}

// dataTypes are the service document's, under "Activity attribute template".
var dataTypes = []string{"Text", "TextArea", "DropDown", "Checkbox", "Date", "DateTime", "Number", "Currency"}

func readDataTypes(r *reader, v value, w *apiclient.Wire) {
	w.DataTypes = map[string]string{}
	for key, item := range r.pairs(v) {
		w.DataTypes[key.Value] = r.oneOf(item, dataTypes)
	}
}

func readLookupAgree(r *reader, v value, w *apiclient.Wire) {
	w.LookupAgree = map[string]string{}
	for key, item := range r.pairs(v) {
		w.LookupAgree[key.Value] = r.pointer(item, false)
	}
}

// readNotFoundStatus refuses statuses that say nothing of the client: taken
// for "nobody", they would make clients be created a second time.
func readNotFoundStatus(r *reader, v value, n *apiclient.NotFound) {
	n.Status = nil
	for item := range r.items(v) {
		var status int
		if !r.integer(item, 100, 599, &status) {
			continue
		}
		if !saysNobody(status) {
			r.wrong(item.Node, "not-found-status",
				"status %d does not say that nobody was found; taking it so would create clients twice", status).
				Hint = "expected 204 or a 4xx status other than 401, 407, 408 and 429"
			continue
		}
		n.Status = append(n.Status, status)
	}
}

func saysNobody(status int) bool {
	return status == 204 ||
		status >= 400 && status < 500 && !slices.Contains([]int{401, 407, 408, 429}, status)
}

func readRules(r *reader, v value, e *Environment) {
	for item := range r.items(v) {
		var rule apiclient.Rule
		readObject(r, item, ruleFields, &rule)
		if item.Kind != yaml.MappingNode {
			continue
		}
		if !hasKey(item, "means") {
			r.wrong(item.Node, "missing-key", "an entry of errors needs “means”: %s", orList(meanings))
		}
		if !hasKey(item, "status") && !hasKey(item, "matches") {
			r.wrong(item.Node, "missing-key", "an entry of errors needs “status” or “matches”; without both it would mean every answer")
		}
		e.Rules = append(e.Rules, rule)
	}
}

func readRepeatable(r *reader, v value, e *Environment) {
	for item := range r.items(v) {
		kind := apiclient.Kind(r.oneOf(item, creatingKinds))
		if kind != "" && !slices.Contains(e.Repeatable, kind) {
			e.Repeatable = append(e.Repeatable, kind)
		}
	}
}

// templateIDs reads names and ids.
func (r *reader) templateIDs(v value) map[string]string {
	ids := map[string]string{}
	for key, item := range r.pairs(v) {
		ids[key.Value] = r.uuid(item)
	}
	maps.DeleteFunc(ids, func(_, id string) bool { return id == "" })
	return ids
}
