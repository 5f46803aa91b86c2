// Package fault makes a service fail on purpose, so that integrators can rehearse
// what their imports do about it. Parse reads a Rule such as
//
//	POST /funnel/v2/claims:5%:lose-answer
//
// and a Handler plays rules in front of a service. The same rules, seed and order of
// requests give the same faults.
package fault

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/mapping/problem"
)

// Rule says which requests fail, and how.
type Rule struct {
	Method  string        // GET, POST or * for both
	Path    string        // without the query; a segment * or {name} matches any one, and the path * all paths
	PerCent float64       // the share of the matching requests that fail; 0 when Nth is set
	Nth     int           // the one matching request that fails, counted from 1
	Kind    Kind          // what goes wrong
	Time    time.Duration // how long to wait, for the kinds that wait; else 0
}

// Kind is what goes wrong, as users write it.
type Kind string

// The kinds.
const (
	LoseAnswer   Kind = "lose-answer"
	CutAnswer    Kind = "cut-answer"
	NotJSON      Kind = "not-json"
	NoID         Kind = "no-id"
	FailBefore   Kind = "fail-before"
	FailAfter    Kind = "fail-after"
	Busy         Kind = "busy"
	ExpiredLogin Kind = "expired-login"
	Slow         Kind = "slow"
)

// Kinds lists the kinds, in the order of the help.
var Kinds = []struct {
	Kind  Kind
	About string        // what the service does
	Usual time.Duration // the time of a rule without one; 0 for a kind that takes none
}{
	{LoseAnswer, "creates, and closes the connection without an answer", 0},
	{CutAnswer, "creates, and breaks off in the middle of the answer", 0},
	{NotJSON, "creates, and answers success with a web page", 0},
	{NoID, "creates, and answers success without an id or url", 0},
	{FailBefore, "answers HTTP 500 and creates nothing", 0},
	{FailAfter, "creates, and answers HTTP 500", 0},
	{Busy, "answers HTTP 429 with that Retry-After; creates nothing", time.Second},
	{ExpiredLogin, "answers HTTP 401 and creates nothing", 0},
	{Slow, "creates, and answers that much later", time.Second},
}

var (
	// whole matches a rule: method, path, share, kind, time.
	whole = regexp.MustCompile(`^\s*(\S+)\s+(\*|/[!-~]*?)\s*:\s*([^:\s]+)\s*:\s*([^:=\s]+)(=[^:\s]*)?\s*$`)
	// share matches a percentage or the number of a request, such as 3rd.
	share = regexp.MustCompile(`^(?:([0-9.]+)%|([1-9][0-9]{0,8})(?:st|nd|rd|th))$`)
)

// Parse reads a rule: METHOD PATH:SHARE:KIND. SHARE is a percentage, or one request
// by its number, such as 3rd. KIND may be followed by = and a time, such as slow=2s.
// A rule that matches none of endpoints ("POST /funnel/v2/contacts/{contactId}/magic-link")
// is refused; nil endpoints are not compared. An error is a problem.Problem.
func Parse(text string, endpoints []string) (Rule, error) {
	wrong := func(format string, args ...any) problem.Problem {
		return problem.New("usage", "“%s” is not a fault: %s", problem.Shorten(text), fmt.Sprintf(format, args...))
	}
	parts := whole.FindStringSubmatch(text)
	if parts == nil || strings.ContainsAny(parts[2], "?#") {
		return Rule{}, wrong("it has not the form METHOD PATH:SHARE:KIND").
			Hinted("expected METHOD PATH:SHARE:KIND without a query, such as POST /funnel/v2/claims:5%%:lose-answer; the path * is every path")
	}
	r := Rule{Method: strings.ToUpper(parts[1]), Path: parts[2], Kind: Kind(strings.ToLower(parts[4]))}
	if methods := []string{"GET", "POST", "*"}; !slices.Contains(methods, r.Method) {
		return Rule{}, wrong("it begins with “%s”", problem.Shorten(parts[1])).Hinted("expected %s and a path", problem.OrList(methods))
	}
	if m := share.FindStringSubmatch(parts[3]); m != nil {
		r.PerCent, _ = strconv.ParseFloat(m[1], 64) // 0 for what is no number
		r.Nth, _ = strconv.Atoi(m[2])
	}
	if r.Nth == 0 && (r.PerCent <= 0 || r.PerCent > 100) {
		return Rule{}, wrong("“%s” is not a share", problem.Shorten(parts[3])).
			Hinted("expected a percentage such as 5%%, more than 0%% and at most 100%%, or one request by its number, such as 3rd")
	}
	var words []string
	for _, k := range Kinds {
		words = append(words, string(k.Kind))
	}
	i := slices.Index(words, string(r.Kind))
	if i < 0 {
		return Rule{}, wrong("there is no kind “%s”", problem.Shorten(parts[4])).Hinted("%s", problem.Suggestion(parts[4], words))
	}
	r.Time = Kinds[i].Usual
	if value, given := strings.CutPrefix(parts[5], "="); given {
		if hint := r.readTime(value); hint != "" {
			return Rule{}, wrong("“%s” is not a time of %s", problem.Shorten(value), r.Kind).Hinted("%s", hint)
		}
	}
	if endpoints != nil && !slices.ContainsFunc(endpoints, func(endpoint string) bool {
		method, path, _ := strings.Cut(endpoint, " ")
		return r.matches(method, path)
	}) {
		return Rule{}, wrong("the service has no %s", r.Target()).Hinted("%s", problem.Suggestion(r.Target(), endpoints))
	}
	return r, nil
}

// readTime reads the time of a rule, which has the usual one already. hint says what was
// expected; "" for a time that the kind takes.
func (r *Rule) readTime(value string) (hint string) {
	usual := r.Time
	var err error
	r.Time, err = time.ParseDuration(value)
	switch {
	case usual == 0:
		return fmt.Sprintf("expected %s alone", r.Kind)
	case err != nil || r.Time <= 0 || r.Time > time.Hour:
		return fmt.Sprintf("expected a number and a unit, at most 1h, such as %s=%v", r.Kind, 2*usual)
	case r.Kind == Busy && r.Time%time.Second != 0:
		return "expected whole seconds, which Retry-After can say, such as busy=2s"
	}
	return ""
}

// Target returns what the rule is about, as it is written.
func (r Rule) Target() string { return r.Method + " " + r.Path }

// matches reports whether a request is among those that the rule is about.
func (r Rule) matches(method, path string) bool {
	if r.Method != method && r.Method != "*" {
		return false
	}
	return r.Path == "*" || slices.EqualFunc(strings.Split(r.Path, "/"), strings.Split(path, "/"), func(want, got string) bool {
		return want == got || isAny(want) || isAny(got)
	})
}

// isAny reports whether a segment of a pattern matches all segments.
func isAny(segment string) bool {
	return segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
}

// hits reports whether the rule hits the n-th request that matches it.
func (r Rule) hits(seed uint64, n int) bool {
	if r.Nth > 0 {
		return n == r.Nth
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s:%v%%:%s:%d", r.Target(), r.PerCent, r.Kind, n) // a hash takes everything
	return rand.New(rand.NewPCG(seed, hash.Sum64())).Float64()*100 < r.PerCent
}
