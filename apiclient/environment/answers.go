package environment

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem/yamltree"
)

func wireKeys(k *yamltree.Keys, w *apiclient.Wire) {
	yamltree.To(k, "client_id", &w.ClientID, place, "version 1, the id of a created client; default /clientId; "+placeForms)
	yamltree.To(k, "contact_id", &w.ContactID, place, "version 2, the id of a created contact; default /contactId")
	yamltree.To(k, "claim_id", &w.ClaimID, place, "the id of a created claim; default /claimId")
	yamltree.To(k, "redirect_url", &w.RedirectURL, place,
		"the redirect url; default /redirectUrl; a relative one is resolved against the request's url")
	yamltree.To(k, "activity_id", &w.ActivityID, place, "the id of a created activity; default \"\": the answer need carry none")
	yamltree.To(k, "templates", &w.Templates, optionalPointer,
		"the array of activity templates, such as /items; default \"\": the answer itself")
	yamltree.To(k, "data_type", &w.DataType, optionalPointer, "the data type of an attribute template; default /dataType; absent is fine")
	yamltree.To(k, "data_types", &w.DataTypes, yamltree.Map(yamltree.OneOf(apiclient.DataTypes...)),
		"the service's names of data types and ours")
	yamltree.To(k, "options", &w.Options, optionalPointer, "the texts that a DropDown takes, on an attribute template; default /options; absent is fine")
	yamltree.ToNew(k, "lookup_client_id", &w.LookupClientID, place, "the client's id in a look-up's answer; default: as client_id")
	yamltree.ToNew(k, "lookup_contact_id", &w.LookupContactID, place, "the contact's id in a look-up's answer; default: as contact_id")
	yamltree.To(k, "lookup_agree", &w.LookupAgree, yamltree.Map(pointer),
		"client fields and where a look-up's answer has them, to compare before a client is reused")
	yamltree.To(k, "link_body", &w.LinkBody, linkBody, "the body of the magic-link request; default {}; the word none sends it without a body")
}

// placeForms says how the place of an id is written.
const placeForms = "a JSON Pointer into the body, text (the whole body), or header:NAME; of header:Location, the last segment of the url's path"

// place is the place in an answer of an id or a url. "" is the whole body as a JSON string.
var place = pointerLike("a place in an answer such as /data/id or header:Location", "a JSON Pointer such as /data/id, text, or header:NAME",
	"^((/.*)?|text|header:.+)$", apiclient.CheckPlace)

// optionalPointer is a JSON Pointer, or "" to switch something off.
var optionalPointer = pointerLike("a JSON Pointer such as /data/id", "a JSON Pointer such as /data/id", "^(/.*)?$", func(text string) error {
	if text == "" {
		return nil
	}
	return apiclient.CheckPointer(text)
})

func pointerLike(wants, must, pattern string, check func(string) error) yamltree.Value[string] {
	return yamltree.Parsed(wants, yamltree.Schema{"type": "string", "pattern": pattern}, func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
		err := check(n.Text())
		if err != nil {
			r.Wrong(n, "pointer", "%s must be %s", n.Name(), must).Hint = err.Error()
		}
		return n.Text(), err == nil
	})
}

var pointer = optionalPointer.Then(func(r *yamltree.Reader, n *yamltree.Node, _ *string) {
	if n.Text() == "" {
		r.Wrong(n, "pointer", "%s must not be empty", n.Name()).Hint = "write a JSON Pointer such as /data/id, or leave the key out"
	}
})

const linkBodyWants = yamltree.WantsObject + ", or the word none for a request without a body"

// linkBody is a JSON object; nil for the word none.
var linkBody = yamltree.Value[[]byte]{
	Kinds: yamltree.Objects | yamltree.Scalars, Wants: linkBodyWants,
	Schema: yamltree.Schema{"anyOf": []yamltree.Schema{{"type": "object"}, {"const": "none"}}},
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *[]byte) bool {
		switch {
		case n.IsNull():
			*into = []byte("{}")
		case n.Kind() == yamltree.Objects:
			*into = jsonOf(r, n, 0)
		case n.Text() == "none":
			*into = nil
		default:
			r.Wrong(n, "wrong-kind", "%s must be %s", n.Name(), linkBodyWants)
			return false
		}
		return true
	},
}

// jsonOf returns a YAML value as JSON, in the order of the file.
func jsonOf(r *yamltree.Reader, n *yamltree.Node, depth int) []byte {
	const maxDepth = 32
	if depth > maxDepth {
		r.Wrong(n, "too-deep", "%s is nested more than %d levels deep", n.Name(), maxDepth)
		return nil
	}
	var parts [][]byte
	switch n.Kind() {
	case yamltree.Objects:
		for _, v := range r.Pairs(n) {
			parts = append(parts, slices.Concat(jsonText(v.Key()), []byte(":"), jsonOf(r, v, depth+1)))
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	case yamltree.Lists:
		for _, item := range n.Items() {
			parts = append(parts, jsonOf(r, item, depth+1))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	}
	var scalar json.RawMessage
	jsonScalar.Read(r, n, &scalar)
	return scalar
}

// jsonScalar is a null, a boolean, a number or a text, as JSON writes it.
var jsonScalar = yamltree.Value[json.RawMessage]{
	Kinds: yamltree.Scalars | yamltree.Nulls, Wants: "null, true, false, a number or a text",
	Schema: yamltree.Schema{"type": []string{"null", "boolean", "number", "string"}},
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *json.RawMessage) bool {
		switch n.Tag() {
		case "!!null":
			*into = []byte("null")
		case "!!bool":
			*into = []byte(strings.ToLower(n.Text()))
		case "!!int", "!!float":
			*into = []byte(n.Text())
			if !json.Valid(*into) { // JSON has no octal, hexadecimal or infinite numbers
				r.Wrong(n, "wrong-kind", "%s is not a number as JSON writes it", n.Name()).Hint = "put it in quotes if a text is meant"
				return false
			}
		default:
			*into = jsonText(n.Text())
		}
		return true
	},
}

func jsonText(s string) []byte {
	text, _ := json.Marshal(s) // a text always encodes
	return text
}

func ruleKeys(k *yamltree.Keys, r *apiclient.Rule) {
	yamltree.To(k, "status", &r.Status, yamltree.Int(100, 599), "the HTTP status; default: any")
	yamltree.To(k, "pointer", &r.Pointer, optionalPointer, "a JSON Pointer into the answer; default: the whole body as text")
	yamltree.To(k, "matches", &r.Matches, pattern, "a regular expression; default: anything")
	yamltree.To(k, "means", &r.Means, yamltree.OneOf("retry", "failed", "done", "stop", "uncertain"),
		"what such an answer means: retry, failed, done, stop or uncertain").Required()
	yamltree.To(k, "hint", &r.Hint, yamltree.Text, "what to do about it, shown beside the row")
}

// rules leaves out entries without anything, such as one that is a comment now.
var rules = yamltree.List(yamltree.Object(ruleKeys).Then(checkRule)).Then(func(_ *yamltree.Reader, _ *yamltree.Node, all *[]apiclient.Rule) {
	*all = slices.DeleteFunc(*all, func(rule apiclient.Rule) bool { return rule == apiclient.Rule{} })
})

func checkRule(r *yamltree.Reader, n *yamltree.Node, _ *apiclient.Rule) {
	if !n.IsNull() && n.Given("status") == nil && n.Given("matches") == nil {
		r.Wrong(n, "missing-key", "%s needs “status” or “matches”; without both it would mean every answer", n.Name())
	}
}

// pattern is a regular expression, checked but kept as text.
var pattern = yamltree.Text.Then(func(r *yamltree.Reader, n *yamltree.Node, s *string) {
	if _, err := regexp.Compile(*s); err != nil {
		r.Wrong(n, "regexp", "%s is not a regular expression: %s", n.Name(),
			strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
			Hint = "the syntax is Go's (RE2); in YAML, single quotes keep backslashes as they are"
	}
})

// absenceKeys are those of one rule of not_found.
func absenceKeys(k *yamltree.Keys, a *apiclient.NotFoundRule) {
	yamltree.To(k, "status", &a.Status, yamltree.List(yamltree.Int(100, 599)),
		"HTTP statuses; with pointer: only answers of these (default: any 2xx)")
	yamltree.To(k, "empty", &a.Empty, yamltree.Bool,
		"a successful answer of null, {} or []; with pointer: such a value there, or an empty text")
	yamltree.ToNew(k, "pointer", &a.Place, place,
		"where to look in the answer, written as wire.contact_id is; of header:Location, the whole url")
	yamltree.To(k, "equals", &a.Equals, jsonScalar, "with pointer: the null, true, false, number or text at that place")
}

// notFound is one rule or a list of rules. A single rule without a pointer keeps the default of what it leaves out.
var notFound = func() yamltree.Value[[]apiclient.NotFoundRule] {
	rule := yamltree.Object(absenceKeys)
	single, v := rule.Then(keepDefault).Then(checkAbsence), yamltree.OneOrMore(rule.Then(checkAbsence))
	list := v.Parse
	v.Parse = func(r *yamltree.Reader, n *yamltree.Node, into *[]apiclient.NotFoundRule) bool {
		switch {
		case n.Kind() == yamltree.Lists && len(n.Items()) == 0:
			r.Wrong(n, "no-value", "%s has no rule: every look-up that finds nobody would fail", n.Name()).Hint = "leave the key out for its default"
			return false
		case n.Kind() == yamltree.Lists:
			return list(r, n, into)
		}
		*into = make([]apiclient.NotFoundRule, 1)
		single.Read(r, n, &(*into)[0])
		return true
	}
	return v
}()

// keepDefault gives a rule by status and emptiness the default of the one that is left out.
func keepDefault(_ *yamltree.Reader, n *yamltree.Node, rule *apiclient.NotFoundRule) {
	usual := apiclient.DefaultNotFound().Rules[0]
	if n.Given("pointer") != nil || n.Given("equals") != nil {
		return
	}
	if n.Given("status") == nil {
		rule.Status = usual.Status
	}
	if n.Given("empty") == nil {
		rule.Empty = usual.Empty
	}
}

func checkAbsence(r *yamltree.Reader, n *yamltree.Node, a *apiclient.NotFoundRule) {
	if n.IsNull() {
		return
	}
	checkStatuses(a.Status, r, n)
	switch hasPointer, hasEquals := n.Given("pointer") != nil, n.Given("equals") != nil; {
	case hasPointer && hasEquals == a.Empty:
		r.Wrong(n, "missing-key", "a rule of not_found with “pointer” needs either “equals” or “empty: true”")
	case hasEquals && !hasPointer:
		r.Wrong(n, "missing-key", "a rule of not_found with “equals” needs “pointer”: where in the answer to look")
	case !hasPointer && len(a.Status) == 0 && !a.Empty:
		r.Wrong(n, "missing-key", "a rule of not_found needs “status”, “empty: true”, or “pointer” with “equals” or “empty: true”")
	}
}

// checkStatuses refuses statuses that say nothing about the client: if they
// meant "nobody", clients would be created a second time. A successful answer
// says it only by its content.
func checkStatuses(statuses []int, r *yamltree.Reader, n *yamltree.Node) {
	if n.Given("status") == nil {
		return
	}
	i := 0
	for _, item := range n.Given("status").Items() {
		status := statuses[i]
		i++
		if status == 0 || meansNobody(status) || n.Given("pointer") != nil && status/100 == 2 {
			continue // 0 is reported already
		}
		r.Wrong(item, "not-found-status",
			"status %d does not say that nobody was found; if it did, clients would be created twice", status).
			Hint = "expected 204 or a 4xx status other than 401, 407, 408 and 429; a 200 means nobody only by the value at a pointer"
	}
}

func meansNobody(status int) bool {
	return status == 204 ||
		status >= 400 && status < 500 && !slices.Contains([]int{401, 407, 408, 429}, status)
}
