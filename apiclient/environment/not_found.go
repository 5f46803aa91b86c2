package environment

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient"
)

// absence is one rule of not_found as it is written.
type absence struct {
	status []int
	at     []*yaml.Node // where each status stands
	empty  bool
	place  string
	equals []byte
}

var notFoundFields = []field[absence]{
	{"status", "HTTP statuses; with pointer: only answers of these (default: any 2xx)", formList(formInteger(100, 599)), readNotFoundStatus},
	{"empty", "a successful answer of null, {} or []; with pointer: what stands there is null, {}, [] or an empty text", formBool,
		func(r *reader, v value, a *absence) { a.empty = r.boolean(v) }},
	{"pointer", "where to look in the answer, written as wire.contact_id is", formIDPlace,
		func(r *reader, v value, a *absence) { a.place = r.place(v, apiclient.CheckIDPlace) }},
	{"equals", "with pointer: the null, true, false, number or text that stands there", form{"type": []string{"null", "boolean", "number", "string"}},
		readNotFoundEquals},
}

var formNotFound = form{"anyOf": []form{formObject(notFoundFields), formList(formObject(notFoundFields))}}

// readNotFound reads one rule or a list of rules. One that goes by status and
// empty alone has defaults, so that either of them can be left out; a rule of a
// list, and one with a pointer, means what is written and nothing else.
func readNotFound(r *reader, v value, e *Environment) {
	if v.Kind != yaml.SequenceNode {
		if hasKey(v, "pointer") || hasKey(v, "equals") {
			e.NotFound = apiclient.NotFound{}
			r.addAbsence(v, &e.NotFound)
			return
		}
		rule := absence{status: e.NotFound.Status, empty: e.NotFound.Empty}
		readObject(r, v, notFoundFields, &rule)
		r.checkStatuses(rule, false)
		e.NotFound = apiclient.NotFound{Status: rule.status, Empty: rule.empty}
		return
	}
	e.NotFound = apiclient.NotFound{}
	for item := range r.items(v) {
		r.addAbsence(item, &e.NotFound)
	}
	if len(v.Content) == 0 {
		r.wrong(v.Node, "no-value", "%s has no rule: every look-up that finds nobody would fail", v.name()).
			Hint = "leave the key out for its default"
	}
}

// addAbsence reads a rule that means what is written and nothing else.
func (r *reader) addAbsence(v value, n *apiclient.NotFound) {
	var rule absence
	readObject(r, v, notFoundFields, &rule)
	if v.Kind != yaml.MappingNode {
		return
	}
	byContent := hasKey(v, "pointer")
	r.checkStatuses(rule, byContent)
	switch {
	case byContent && hasKey(v, "equals") == rule.empty:
		r.wrong(v.Node, "missing-key", "a rule of not_found with “pointer” needs either “equals” or “empty: true”")
	case byContent:
		n.Content = append(n.Content, apiclient.NotFoundContent{Status: rule.status, Place: rule.place, Equals: rule.equals, Empty: rule.empty})
	case hasKey(v, "equals"):
		r.wrong(v.Node, "missing-key", "a rule of not_found with “equals” needs “pointer”: where in the answer to look")
	case len(rule.status) == 0 && !rule.empty:
		r.wrong(v.Node, "missing-key", "a rule of not_found needs “status”, “empty: true”, or “pointer” with “equals” or “empty: true”")
	default:
		n.Status, n.Empty = append(n.Status, rule.status...), n.Empty || rule.empty
	}
}

func readNotFoundEquals(r *reader, v value, a *absence) {
	if v.Kind != yaml.ScalarNode {
		r.isKind(v, yaml.ScalarNode, "null, true, false, a number or a text")
		return
	}
	var b bytes.Buffer
	r.writeScalar(&b, v)
	a.equals = b.Bytes()
}

func readNotFoundStatus(r *reader, v value, a *absence) {
	a.status = nil
	for item := range r.items(v) {
		var status int
		if r.integer(item, 100, 599, &status) {
			a.status, a.at = append(a.status, status), append(a.at, item.Node)
		}
	}
}

// checkStatuses refuses statuses that say nothing of the client: taken for
// "nobody", they would make clients be created a second time. A successful
// answer says it by its content only.
func (r *reader) checkStatuses(a absence, byContent bool) {
	for i, node := range a.at {
		if status := a.status[i]; !saysNobody(status) && !(byContent && status/100 == 2) {
			r.wrong(node, "not-found-status",
				"status %d does not say that nobody was found; taking it so would create clients twice", status).
				Hint = "expected 204 or a 4xx status other than 401, 407, 408 and 429; a 200 means nobody by what stands at a pointer"
		}
	}
}

func saysNobody(status int) bool {
	return status == 204 ||
		status >= 400 && status < 500 && !slices.Contains([]int{401, 407, 408, 429}, status)
}
