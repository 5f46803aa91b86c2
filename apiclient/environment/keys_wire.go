package environment

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient"
)

var wireFields = []field[apiclient.Wire]{
	{"client_id", "version 1, the id of a created client; default /clientId; " + placeForms, formIDPlace,
		func(r *reader, v value, w *apiclient.Wire) { w.ClientID = r.place(v, apiclient.CheckIDPlace) }},
	{"contact_id", "version 2, the id of a created contact; default /contactId", formIDPlace,
		func(r *reader, v value, w *apiclient.Wire) { w.ContactID = r.place(v, apiclient.CheckIDPlace) }},
	{"claim_id", "the id of a created claim; default /claimId", formIDPlace,
		func(r *reader, v value, w *apiclient.Wire) { w.ClaimID = r.place(v, apiclient.CheckIDPlace) }},
	{"redirect_url", "the url that the client is redirected to; default /redirectUrl; a relative one is resolved against the request's url", formURLPlace,
		func(r *reader, v value, w *apiclient.Wire) { w.RedirectURL = r.place(v, apiclient.CheckURLPlace) }},
	{"activity_id", "the id of a created activity; default \"\": the answer need carry none", formIDPlace,
		func(r *reader, v value, w *apiclient.Wire) { w.ActivityID = r.place(v, apiclient.CheckIDPlace) }},
	{"data_type", "the data type of an attribute template; default /dataType; absent is fine", formPointer,
		func(r *reader, v value, w *apiclient.Wire) { w.DataType = r.pointer(v, true) }},
	{"data_types", "the service's names of data types and ours: Text, TextArea, DropDown, Checkbox, Date, DateTime, Number or Currency",
		formMap(formOneOf(dataTypes)), readDataTypes},
	{"lookup_client_id", "the client's id in a look-up's answer; default: as client_id", formIDPlace,
		func(r *reader, v value, w *apiclient.Wire) {
			w.LookupClientID = new(r.place(v, apiclient.CheckIDPlace))
		}},
	{"lookup_contact_id", "the contact's id in a look-up's answer; default: as contact_id", formIDPlace,
		func(r *reader, v value, w *apiclient.Wire) {
			w.LookupContactID = new(r.place(v, apiclient.CheckIDPlace))
		}},
	{"lookup_agree", "client fields, which the mapping must fill, and where a look-up's answer has them; compared before a client is taken over",
		formMap(formPointer), readLookupAgree},
	{"link_body", "the body of the magic-link request; default {}; the word none sends it without a body",
		form{"anyOf": []form{{"type": "object"}, {"const": "none"}}}, readLinkBody},
}

// placeForms says how the place of an id is written.
const placeForms = "a JSON Pointer into the body (\"\": the whole body is a JSON string), text (the whole body as plain text), header:NAME, " +
	"or last-segment: before one of them, for the last segment of the path of the url there"

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

// readLinkBody reads a JSON object, or the word none.
func readLinkBody(r *reader, v value, w *apiclient.Wire) {
	switch {
	case v.Kind == yaml.ScalarNode && v.Value == "none":
		w.LinkBody = nil
	case v.Kind == yaml.ScalarNode && !isNull(v.Node):
		r.wrong(v.Node, "wrong-kind", "%s must be “key: value” pairs, or the word none for a request without a body", v.name())
	default:
		w.LinkBody = r.jsonObject(v)
	}
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
