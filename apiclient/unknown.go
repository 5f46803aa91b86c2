package apiclient

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Unknown is a kind of answer that no Rule matches, so that the meaning of its
// status was assumed. It holds no personal data: of the answer it shows only the
// form, the names of the fields and an error code.
type Unknown struct {
	Status int
	Route  string // the method and the document's path pattern
	Shape  string // one line, e.g. “HTTP 409 Conflict with a JSON object (application/json), fields code, message”
	Code   string // the error code at Pointer; "" for none
	// Pointer leads to the error code in the answer; "" for none.
	Pointer string
	Means   string // the assumed meaning, as in a Rule: failed or uncertain
	Count   int
}

// Rule returns the rule for the environment's errors that says what was assumed,
// for somebody who knows better to correct.
func (u Unknown) Rule() string {
	text := fmt.Sprintf("{status: %d", u.Status)
	if u.Code != "" {
		text += fmt.Sprintf(", pointer: %s, matches: '^%s$'", u.Pointer, regexp.QuoteMeta(u.Code))
	}
	return text + ", means: " + u.Means + ", hint: what to do}"
}

// Unknown lists the answers so far that no Rule matches, the most frequent first.
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

// wellKnown are the statuses that need no Rule: their built-in meaning is clear.
var wellKnown = []int{401, 421, 425, 429}

// noteUnknown counts an answer, unless a Rule matches it or its status is well
// known.
func (c *Client) noteUnknown(r Request, a Answer, means string) {
	if _, ruled := c.ruleFor(a); ruled || a.Status == 0 || slices.Contains(wellKnown, a.Status) {
		return
	}
	shown := c.forShow(a)
	a.ContentType = shown.ContentType
	u := Unknown{Status: a.Status, Route: r.Method + " " + r.Route, Shape: shapeOf(a).String(), Means: means}
	if doc, ok := document(shown.Body); ok && form(doc) == "object" {
		if fields := fieldNames(doc); len(fields) > 0 {
			u.Shape += ", fields " + strings.Join(fields, ", ")
		}
		u.Pointer, u.Code = errorCode(shown)
	}
	if u.Code != "" {
		u.Shape += ", code " + u.Code
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unknown == nil {
		c.unknown = map[Unknown]int{}
	}
	if _, known := c.unknown[u]; known || len(c.unknown) < maxUnknown {
		c.unknown[u]++
	}
}

// maxUnknown limits the list, for a service that never answers the same twice.
const maxUnknown = 100

// fieldNames returns the names of an object's fields, sorted, at most eight.
func fieldNames(object []byte) []string {
	names := map[string]bool{}
	for _, m := range inside(object, "object") {
		if plainName.MatchString(m.key) {
			names[m.key] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	return sorted[:min(len(sorted), 8)]
}
