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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/mapping/problem"
)

// Rule says which requests fail, and how.
type Rule struct {
	// Method is GET, POST or * for both.
	Method string
	// Path is matched segment by segment, without the query. A segment * or {name}
	// matches any one; the path * matches all paths.
	Path string
	// PerCent is the share of the matching requests that fail: more than 0, at most
	// 100. It is 0 when Nth is set.
	PerCent float64
	// Nth makes only one matching request fail, counted from 1.
	Nth  int
	Kind Kind
	// Time is how long to wait, for the kinds that wait; else 0.
	Time time.Duration
}

// Kind is what goes wrong.
type Kind string

// The kinds. The value is the word that users write.
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
	Late         Kind = "late"
)

// KindInfo describes a kind.
type KindInfo struct {
	Kind  Kind
	About string        // what the service does
	Usual time.Duration // the time of a rule without one; 0 for a kind that takes none
}

// Kinds lists the kinds, in the order of the help.
func Kinds() []KindInfo {
	return []KindInfo{
		{LoseAnswer, "creates, and closes the connection without an answer", 0},
		{CutAnswer, "creates, and breaks off in the middle of the answer", 0},
		{NotJSON, "creates, and answers success with a web page", 0},
		{NoID, "creates, and answers success without an id or url", 0},
		{FailBefore, "answers HTTP 500 and creates nothing", 0},
		{FailAfter, "creates, and answers HTTP 500", 0},
		{Busy, "answers HTTP 429 with that Retry-After; creates nothing", time.Second},
		{ExpiredLogin, "answers HTTP 401 and creates nothing", 0},
		{Slow, "creates, and answers that much later", time.Second},
		{Late, "creates that long after the client has given up", time.Second},
	}
}

// maxTime is the longest time of a rule.
const maxTime = time.Hour

var (
	// whole matches a rule: method, path, share, kind, time.
	whole = regexp.MustCompile(`^\s*(\S+)\s+(\*|/[!-~]*?)\s*:\s*([^:\s]+)\s*:\s*([^:=\s]+)(=[^:\s]*)?\s*$`)
	// nth matches the number of a request, such as 3rd.
	nth = regexp.MustCompile(`^([1-9][0-9]{0,8})(?:st|nd|rd|th)$`)
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
	share, word, value := parts[3], parts[4], parts[5]
	r := Rule{Method: strings.ToUpper(parts[1]), Path: parts[2], Kind: Kind(strings.ToLower(word))}
	if methods := []string{"GET", "POST", "*"}; !slices.Contains(methods, r.Method) {
		return Rule{}, wrong("it begins with “%s”", problem.Shorten(parts[1])).Hinted("expected %s and a path", problem.OrList(methods))
	}
	if m := nth.FindStringSubmatch(share); m != nil {
		r.Nth, _ = strconv.Atoi(m[1]) // nine digits at most
	} else if err := r.readPerCent(share); err != nil {
		return Rule{}, wrong("“%s” is not a share", problem.Shorten(share)).
			Hinted("expected a percentage such as 5%%, more than 0%% and at most 100%%, or one request by its number, such as 3rd")
	}
	info, words := KindInfo{}, []string(nil)
	for _, k := range Kinds() {
		if words = append(words, string(k.Kind)); k.Kind == r.Kind {
			info = k
		}
	}
	r.Time = info.Usual
	if info.Kind == "" {
		return Rule{}, wrong("there is no kind “%s”", problem.Shorten(word)).Hinted("%s", problem.Suggestion(word, words))
	}
	if value != "" {
		if err := r.readTime(value[1:], info.Usual); err != nil {
			return Rule{}, wrong("“%s” is not a time of %s", problem.Shorten(value[1:]), r.Kind).Hinted("%v", err)
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

func (r *Rule) readPerCent(share string) (err error) {
	number, isPerCent := strings.CutSuffix(share, "%")
	r.PerCent, err = strconv.ParseFloat(number, 64)
	if !isPerCent || !(r.PerCent > 0 && r.PerCent <= 100) {
		return strconv.ErrRange
	}
	return err
}

func (r *Rule) readTime(value string, usual time.Duration) (err error) {
	r.Time, err = time.ParseDuration(value)
	switch {
	case usual == 0:
		return fmt.Errorf("expected %s alone", r.Kind)
	case err != nil || r.Time <= 0 || r.Time > maxTime:
		return fmt.Errorf("expected a number and a unit, at most 1h, such as %s=%v", r.Kind, 2*usual)
	case r.Kind == Busy && r.Time%time.Second != 0:
		return fmt.Errorf("expected whole seconds, which Retry-After can say, such as busy=2s")
	}
	return nil
}

// Target returns what the rule is about, as it is written.
func (r Rule) Target() string { return r.Method + " " + r.Path }

// matches reports whether a request is among those that the rule is about.
func (r Rule) matches(method, path string) bool {
	if r.Method != method && r.Method != "*" {
		return false
	}
	if r.Path == "*" {
		return true
	}
	want, got := strings.Split(r.Path, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(want, got string) bool { return want == got || isAny(want) || isAny(got) })
}

// isAny reports whether a segment of a pattern matches all segments.
func isAny(segment string) bool {
	return segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
}
