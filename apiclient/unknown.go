package apiclient

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Unknown is a kind of answer that no Rule speaks of, so that it was taken for
// what its status usually means. It holds nothing personal: of the answer only
// its form, the names of its fields and an error code are told.
type Unknown struct {
	Status int
	Route  string // the method and the document's path pattern
	Shape  string // one line, e.g. “HTTP 409 Conflict with a JSON object (application/json), fields code, message”
	Code   string // what stands at Pointer; "" for none
	// Pointer leads to the error code in the answer; "" for none.
	Pointer string
	Means   string // what it was taken for, as a Rule would say it: failed or uncertain
	Count   int
}

// Rule is how the environment's errors would say what was assumed, to be
// corrected by somebody who knows.
func (u Unknown) Rule() string {
	text := fmt.Sprintf("{status: %d", u.Status)
	if u.Code != "" {
		text += fmt.Sprintf(", pointer: %s, matches: '^%s$'", u.Pointer, regexp.QuoteMeta(u.Code))
	}
	return text + ", means: " + u.Means + ", hint: what to do}"
}

// Unknown lists the answers so far that no Rule speaks of, the most frequent
// first.
func (c *Client) Unknown() []Unknown {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Unknown
	for u, n := range c.unknown {
		u.Count = n
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b Unknown) int {
		return cmp.Or(b.Count-a.Count, a.Status-b.Status, strings.Compare(a.Route, b.Route), strings.Compare(a.Shape, b.Shape))
	})
	return list
}

// wellKnown are the statuses whose built-in meaning is all that there is to
// say.
var wellKnown = []int{401, 421, 425, 429}

// noteUnknown notes an answer that was not understood by a Rule.
func (c *Client) noteUnknown(r Request, a Answer, means string) {
	if _, ruled := c.ruleFor(a); ruled || a.Status == 0 || slices.Contains(wellKnown, a.Status) {
		return
	}
	a = c.forShow(a)
	u := Unknown{Status: a.Status, Route: r.Method + " " + r.Route, Shape: shapeOf(a).String(), Means: means}
	if doc, ok := document(a.Body); ok && form(doc) == "object" {
		if fields := fieldNames(doc); len(fields) > 0 {
			u.Shape += ", fields " + strings.Join(fields, ", ")
		}
		u.Pointer, u.Code = errorCode(doc)
	}
	if u.Code != "" {
		u.Shape += ", code " + u.Code
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unknown == nil {
		c.unknown = map[Unknown]int{}
	}
	if _, known := c.unknown[u]; known || len(c.unknown) < mostUnknown {
		c.unknown[u]++
	}
}

// mostUnknown bounds the list, for a service that never says the same twice.
const mostUnknown = 100

var (
	// plainName is what a programmer would call a field. Others may be data.
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,30}$`)
	// plainCode is what a programmer would call an error: words joined, not a
	// number, a name or an address.
	plainCode = regexp.MustCompile(`^[A-Za-z]+([_.-]?[A-Za-z0-9]+)*$`)
)

// fieldNames are the names of an object's fields, sorted.
func fieldNames(object []byte) []string {
	names := map[string]bool{}
	for _, m := range members(object) {
		if plainName.MatchString(m.key) {
			names[m.key] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	return sorted[:min(len(sorted), 8)]
}

// errorCode is the code that an error answer carries.
func errorCode(object []byte) (pointer, code string) {
	for _, key := range []string{"code", "errorCode", "error_code"} {
		text, ok := scalar(firstValue(object, key))
		if ok && len(text) <= 40 && plainCode.MatchString(text) {
			return "/" + key, text
		}
	}
	return "", ""
}
