package environment

import (
	"regexp"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem/yamltree"
)

var ruleKeys = []yamltree.Key[apiclient.Rule]{
	yamltree.To("status", "the HTTP status; default: any",
		yamltree.Int(100, 599), func(r *apiclient.Rule) *int { return &r.Status }),
	yamltree.To("pointer", "a JSON Pointer into the answer; default: the whole body as text",
		optionalPointer, func(r *apiclient.Rule) *string { return &r.Pointer }),
	yamltree.To("matches", "a regular expression; default: anything",
		pattern, func(r *apiclient.Rule) *string { return &r.Matches }),
	yamltree.To("means", "what such an answer means: retry, failed, done, stop or uncertain",
		yamltree.OneOf("retry", "failed", "done", "stop", "uncertain"), func(r *apiclient.Rule) *string { return &r.Means }).Required(),
	yamltree.To("hint", "what to do about it, shown beside the row",
		yamltree.Text, func(r *apiclient.Rule) *string { return &r.Hint }),
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

// absence is one rule of not_found as it is written.
type absence struct {
	status []int
	empty  bool
	place  string
	equals []byte
}

var absenceKeys = []yamltree.Key[absence]{
	yamltree.To("status", "HTTP statuses; with pointer: only answers of these (default: any 2xx)",
		yamltree.List(yamltree.Int(100, 599)), func(a *absence) *[]int { return &a.status }),
	yamltree.To("empty", "a successful answer of null, {} or []; with pointer: the value there is null, {}, [] or an empty text",
		yamltree.Bool, func(a *absence) *bool { return &a.empty }),
	yamltree.To("pointer", "where to look in the answer, written as wire.contact_id is",
		idPlace, func(a *absence) *string { return &a.place }),
	yamltree.To("equals", "with pointer: the null, true, false, number or text at that place",
		jsonScalar, func(a *absence) *[]byte { return &a.equals }),
}

// notFound is one rule or a list of rules. A single rule that has only status
// and empty keeps the default of the one that is left out; a rule of a list, and
// one with a pointer, means what is written and nothing else.
var notFound = yamltree.Value[apiclient.NotFound]{
	Kinds: yamltree.Objects | yamltree.Lists, Wants: yamltree.WantsObject + " or a list of them",
	Schema: yamltree.Schema{"anyOf": []yamltree.Schema{
		yamltree.Object(absenceKeys).Schema, yamltree.List(yamltree.Object(absenceKeys)).Schema}},
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *apiclient.NotFound) bool {
		defaults := *into
		*into = apiclient.NotFound{Stated: true}
		rule := yamltree.Object(absenceKeys)
		if n.Kind() == yamltree.Lists {
			if n.Len() == 0 {
				r.Wrong(n, "no-value", "%s has no rule: every look-up that finds nobody would fail", n.Name()).
					Hint = "leave the key out for its default"
			}
			var all []absence
			return yamltree.List(rule.Then(func(r *yamltree.Reader, n *yamltree.Node, a *absence) { a.addTo(into, r, n) })).Parse(r, n, &all)
		}
		var a absence
		rule.Read(r, n, &a) // before this, no key is Given
		if n.Given("pointer") != nil || n.Given("equals") != nil {
			a.addTo(into, r, n)
			return true
		}
		a.checkStatuses(r, n)
		into.Status, into.Empty = a.status, a.empty
		if n.Given("status") == nil {
			into.Status = defaults.Status
		}
		if n.Given("empty") == nil {
			into.Empty = defaults.Empty
		}
		return true
	},
}

// addTo adds a rule that means what is written and nothing else.
func (a *absence) addTo(rules *apiclient.NotFound, r *yamltree.Reader, n *yamltree.Node) {
	if n.IsNull() {
		return
	}
	a.checkStatuses(r, n)
	hasPointer, hasEquals := n.Given("pointer") != nil, n.Given("equals") != nil
	switch {
	case hasPointer && hasEquals == a.empty:
		r.Wrong(n, "missing-key", "a rule of not_found with “pointer” needs either “equals” or “empty: true”")
	case hasPointer:
		rules.Content = append(rules.Content, apiclient.NotFoundContent{Status: a.status, Place: a.place, Equals: a.equals, Empty: a.empty})
	case hasEquals:
		r.Wrong(n, "missing-key", "a rule of not_found with “equals” needs “pointer”: where in the answer to look")
	case len(a.status) == 0 && !a.empty:
		r.Wrong(n, "missing-key", "a rule of not_found needs “status”, “empty: true”, or “pointer” with “equals” or “empty: true”")
	default:
		rules.Status, rules.Empty = append(rules.Status, a.status...), rules.Empty || a.empty
	}
}

// checkStatuses refuses statuses that say nothing about the client: if they
// meant "nobody", clients would be created a second time. A successful answer
// says it only by its content.
func (a *absence) checkStatuses(r *yamltree.Reader, n *yamltree.Node) {
	if n.Given("status") == nil {
		return
	}
	i := 0
	for item := range r.Items(n.Given("status")) {
		status := a.status[i]
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
