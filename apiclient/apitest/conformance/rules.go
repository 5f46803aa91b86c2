package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// rule is one rule of not_found or errors, with the answers that it describes.
type rule struct {
	yaml     string
	describe func(answer) bool
}

// absence returns the rule of not_found for the answer to a look-up of nobody; an empty
// one when the default describes it. known are answers to look-ups of the test client, which the
// rule must not describe. why is set when there is no such rule.
func absence(a answer, known []answer) (r rule, why string) {
	switch {
	case a.isPage():
		return rule{}, "a web page answers in the service's place: check base_url and auth"
	case a.status == http.StatusNotFound:
		return rule{}, ""
	case a.status == http.StatusNoContent, a.status == http.StatusGone:
		r = rule{fmt.Sprintf("{status: [%d]}", a.status), func(o answer) bool { return o.status == a.status }}
		return r, confused(r, known)
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden || a.status == http.StatusTooManyRequests || a.status == http.StatusRequestTimeout || a.status == http.StatusProxyAuthRequired:
		return rule{}, "this says nothing about a client"
	case a.status/100 == 4:
		if pointer, code := errorCode(a.doc); code != "" {
			r = valueRule(fmt.Sprintf("status: [%d], ", a.status), pointer, code, func(o answer) bool { return o.status == a.status })
			return r, confused(r, known)
		}
		return rule{}, fmt.Sprintf("HTTP %d without an error code may as well mean that the address is not taken for one; ask the service's operator what it answers for an unknown client", a.status)
	case !a.ok():
		return rule{}, "this says nothing about a client"
	case a.isJSON && isEmpty(a.doc):
		return rule{}, ""
	case len(strings.TrimSpace(string(a.body))) == 0:
		r = rule{"{pointer: text, empty: true}", func(o answer) bool { return o.ok() && len(strings.TrimSpace(string(o.body))) == 0 }}
		return r, confused(r, known)
	}
	for _, r := range emptyRules(a) {
		if confused(r, known) == "" {
			return r, ""
		}
	}
	return rule{}, "nothing in it says that nobody was found; ask the service's operator how an unknown client is told from a known one"
}

// confused says that a rule describes a known client, too.
func confused(r rule, known []answer) string {
	if slices.ContainsFunc(known, r.describe) {
		return "the look-up of the test client is answered in the same way"
	}
	return ""
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// emptyRules returns rules for a 2xx answer by the value at a place, the most telling first.
func emptyRules(a answer) []rule {
	success := func(o answer) bool { return o.ok() }
	var byRank [4][]rule
	for _, l := range leaves(a.doc) {
		if l.pointer == "" || l.crowded {
			continue
		}
		name := plainly(l.name)
		switch v := l.value.(type) {
		case nil:
			rank := 1
			if strings.HasSuffix(name, "id") {
				rank = 0
			}
			byRank[rank] = append(byRank[rank], valueRule("", l.pointer, nil, success))
		case []any, map[string]any:
			byRank[1] = append(byRank[1], emptyRule(l.pointer))
		case bool:
			if says(name, v, "found", "exists", "success", "known", "matched") || says(name, !v, "notfound", "unknown", "missing") {
				byRank[2] = append(byRank[2], valueRule("", l.pointer, v, success))
			}
		case json.Number:
			if v == "0" && slices.Contains([]string{"count", "total", "totalcount", "size", "matches", "found"}, name) {
				byRank[2] = append(byRank[2], valueRule("", l.pointer, v, success))
			}
		case string:
			if v == "" && strings.HasSuffix(name, "id") {
				byRank[0] = append(byRank[0], emptyRule(l.pointer))
			}
			if absent := plainly(v); plainCode.MatchString(v) && (strings.Contains(absent, "notfound") || strings.Contains(absent, "unknown") || strings.Contains(absent, "notexist")) {
				byRank[3] = append(byRank[3], valueRule("", l.pointer, v, success))
			}
		}
	}
	return slices.Concat(byRank[:]...)
}

// says reports whether a flag that is false, by one of these names, says that nobody was
// found.
func says(name string, value bool, names ...string) bool {
	return !value && slices.ContainsFunc(names, func(n string) bool { return name == n || name == "is"+n })
}

// valueRule is the rule that the value at a pointer equals one, in answers that satisfy also.
func valueRule(conditions, pointer string, value any, also func(answer) bool) rule {
	return rule{fmt.Sprintf("{%spointer: %s, equals: %s}", conditions, pointer, scalar(value)), func(o answer) bool {
		got, ok := at(o, pointer)
		return ok && also(o) && got == value
	}}
}

func emptyRule(pointer string) rule {
	return rule{fmt.Sprintf("{pointer: %s, empty: true}", pointer), func(o answer) bool {
		got, ok := at(o, pointer)
		return ok && o.ok() && (isEmpty(got) || got == "")
	}}
}

// at returns the value at a pointer of an answer. Of objects and lists it returns empty ones only.
func at(a answer, pointer string) (any, bool) {
	for _, l := range leaves(a.doc) {
		if l.pointer == pointer {
			return l.value, true
		}
	}
	return nil, false
}

// errorCode returns the code in the body of an error, and the pointer to it.
func errorCode(doc any) (pointer, code string) {
	for _, l := range leaves(doc) {
		text, ok := l.value.(string)
		parent := plainly(l.parent)
		if ok && !l.crowded && len(text) <= 40 && plainCode.MatchString(text) && slices.Contains([]string{"code", "errorcode", "error"}, plainly(l.name)) &&
			(parent == "" || parent == "error" || parent == "errors") {
			return l.pointer, text
		}
	}
	return "", ""
}

// errorRule returns a rule of errors for an answer: by its status and, where it has one,
// its error code. others are answers that mean something else; ok is false when the rule describes one of them.
func errorRule(a answer, means, hint string, others []answer) (r rule, ok bool) {
	conditions := fmt.Sprintf("status: %d", a.status)
	describe := func(o answer) bool { return o.status == a.status }
	pointer, code := errorCode(a.doc)
	switch {
	case code != "":
		conditions += fmt.Sprintf(", pointer: %s, matches: '^%s$'", pointer, regexp.QuoteMeta(code))
		describe = valueRule("", pointer, code, describe).describe
	case a.isPage():
		conditions += ", matches: '(?i)<html'"
		describe = func(o answer) bool {
			return o.status == a.status && strings.Contains(strings.ToLower(string(o.body)), "<html")
		}
	case a.ok():
		failed := slices.IndexFunc(leaves(a.doc), func(l leaf) bool {
			return l.value == false && says(plainly(l.name), false, "success", "ok", "succeeded")
		})
		if failed < 0 {
			return rule{}, false
		}
		l := leaves(a.doc)[failed]
		conditions += fmt.Sprintf(", pointer: %s, matches: '^false$'", l.pointer)
		describe = valueRule("", l.pointer, false, describe).describe
	}
	r = rule{fmt.Sprintf("{%s, means: %s, hint: %s}", conditions, means, scalar(hint)), describe}
	return r, r.describe(a) && !slices.ContainsFunc(others, r.describe)
}

// plainScalar matches texts that YAML takes for a text without quotes.
var plainScalar = regexp.MustCompile(`^(/[A-Za-z0-9_/-]*|[A-Za-z][A-Za-z0-9_ -]*[A-Za-z0-9])$`)

// scalar writes a value as YAML does.
func scalar(value any) string {
	text, ok := value.(string)
	if ok && plainScalar.MatchString(text) && !slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off"}, strings.ToLower(text)) {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // only nil, booleans, numbers and texts come here
	}
	return string(data)
}
