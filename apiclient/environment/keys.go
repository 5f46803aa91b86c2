package environment

import (
	"time"

	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// The tables below, with those of keys_auth.go and keys_wire.go, are the
// language of environments files.

var fileFields = []field[File]{
	{"default", "the environment that is used when none is named; may be sandbox", formText,
		func(r *reader, v value, f *File) { f.Default = r.text(v) }},
	{"environments", "the environments, by name", formMap(formObject(environmentFields)), readEnvironments},
}

var environmentFields = []field[Environment]{
	{"base_url", "what the service document calls {base_url}; https, or http to this machine", formText,
		func(r *reader, v value, e *Environment) { e.BaseURL = r.baseURL(v) }},
	{"case_id", "the case that version 1 works in, a UUID", formUUID,
		func(r *reader, v value, e *Environment) { e.CaseID = r.uuid(v) }},
	{"auth", "how requests are authenticated; default: not at all", formObject(authFields, "type"), readAuth},
	{"tls", "client certificate and own certificate authority, PEM files", formObject(tlsFields), readTLS},
	{"headers", "headers of every request; a value may be kept elsewhere: " + referenceForms, formMap(formText), readHeaders},
	{"limits", "how much the service can take", formObject(limitFields),
		func(r *reader, v value, e *Environment) { readObject(r, v, limitFields, &e.Limits) }},
	{"wire", "where answers carry what the service document leaves open", formObject(wireFields), readWire},
	{"not_found", "what a look-up that finds nobody looks like: a rule or a list of rules, any of which will do; default {status: [404], empty: true}",
		formNotFound, readNotFound},
	{"errors", "what answers mean that the service document does not show; tried in order, before the built-in meaning",
		formList(formObject(ruleFields, "means")), readRules},
	{"repeatable", "kinds of step that may be sent again when it is uncertain whether they arrived",
		formList(formOneOf(creatingKinds)), readRepeatable},
	{"workflow_template_identifier", "the default for mappings that name none (version 2)", formText,
		func(r *reader, v value, e *Environment) { e.WorkflowTemplateIdentifier = r.text(v) }},
	{"template_ids", "“Template” or “Template/Attribute” and its id, only where a name is shared", formMap(formUUID),
		func(r *reader, v value, e *Environment) { e.TemplateIDs = r.templateIDs(v) }},
	{"claim_types", "what differs between claim types, by name", formMap(formObject(claimTypeFields)), readClaimTypes},
}

var claimTypeFields = []field[claimType]{
	{"case_id", "the case that version 1 works in for this claim type, a UUID", formUUID,
		func(r *reader, v value, c *claimType) { c.caseID = r.uuid(v) }},
	{"template_ids", "as in the environment; added to those", formMap(formUUID),
		func(r *reader, v value, c *claimType) { c.templateIDs = r.templateIDs(v) }},
	{"workflow_template_identifier", "in place of the environment's", formText,
		func(r *reader, v value, c *claimType) { c.workflowTemplateIdentifier = r.text(v) }},
}

const maxConcurrency = 256

var limitFields = []field[Limits]{
	{"requests_per_second", "a ceiling over all requests; default: none", formNumber,
		func(r *reader, v value, l *Limits) { l.RequestsPerSecond = r.rate(v) }},
	{"adaptive", "find the rate by itself: start low, add while the service answers, halve when it asks for time; default false", formBool,
		func(r *reader, v value, l *Limits) { l.Adaptive = r.boolean(v) }},
	{"concurrency", "clients worked on side by side; default 8", formInteger(1, maxConcurrency),
		func(r *reader, v value, l *Limits) { r.integer(v, 1, maxConcurrency, &l.Concurrency) }},
	{"timeout", "how long a request that creates something may wait for its answer, such as 120s (the default)", formText,
		// A time-out protects nothing: it makes uncertain what would have
		// been known a moment later. So it cannot be made very short.
		func(r *reader, v value, l *Limits) { l.Timeout = r.duration(v, time.Second, time.Hour) }},
}

var tlsFields = []field[tlsFiles]{
	{"cert", "the client certificate", formText,
		func(r *reader, v value, t *tlsFiles) { t.cert = r.text(v) }},
	{"key", "the client certificate's private key, not encrypted", formText,
		func(r *reader, v value, t *tlsFiles) { t.key = r.text(v) }},
	{"ca", "certificate authorities that are trusted beside the system's", formText,
		func(r *reader, v value, t *tlsFiles) { t.ca = r.text(v) }},
}

// creatingKinds are the kinds of step that `repeatable` may list.
var creatingKinds = []string{
	string(apiclient.CreateClient), string(apiclient.CreateClaim),
	string(apiclient.CreateActivity), string(apiclient.CreateLink),
}

// keysOf yields the keys and values of a mapping node as they are, without
// reporting anything; for what must be seen side by side.
func keysOf(v value) func(func(key *yaml.Node, item value) bool) {
	return func(yield func(*yaml.Node, value) bool) {
		if v.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(v.Content); i += 2 {
			if !yield(v.Content[i], value{Node: v.Content[i+1], key: v.Content[i].Value}) {
				return
			}
		}
	}
}

// means reports whether a key is there, be it misspelt.
func means(v value, name string) bool {
	for key := range keysOf(v) {
		if meant, _ := problem.Nearest(shorten(key.Value), keyNames(environmentFields)); meant == name {
			return true
		}
	}
	return false
}

func hasKey(v value, name string) bool {
	for key := range keysOf(v) {
		if key.Value == name {
			return true
		}
	}
	return false
}
