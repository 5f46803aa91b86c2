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
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/mapping/problem"
)

// Rule says which requests fail, and how. Rules can be compared with ==.
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
		{Kind: LoseAnswer, About: "creates, and closes the connection without an answer"},
		{Kind: CutAnswer, About: "creates, and breaks off in the middle of the answer"},
		{Kind: NotJSON, About: "creates, and answers success with a web page"},
		{Kind: NoID, About: "creates, and answers success without an id or url"},
		{Kind: FailBefore, About: "answers HTTP 500 and creates nothing"},
		{Kind: FailAfter, About: "creates, and answers HTTP 500"},
		{Kind: Busy, About: "answers HTTP 429 with that Retry-After; creates nothing", Usual: time.Second},
		{Kind: ExpiredLogin, About: "answers HTTP 401 and creates nothing"},
		{Kind: Slow, About: "creates, and answers that much later", Usual: time.Second},
		{Kind: Late, About: "creates that long after the client has given up", Usual: time.Second},
	}
}

// infoOf returns the description of a kind.
func infoOf(k Kind) (KindInfo, bool) {
	all := Kinds()
	i := slices.IndexFunc(all, func(info KindInfo) bool { return info.Kind == k })
	if i < 0 {
		return KindInfo{}, false
	}
	return all[i], true
}

// maxTime is the longest time of a rule.
const maxTime = time.Hour

const example = "METHOD PATH:SHARE:KIND, such as POST /funnel/v2/claims:5%:lose-answer"

// String returns the rule as Parse reads it.
func (r Rule) String() string {
	share := strconv.FormatFloat(r.PerCent, 'f', -1, 64) + "%"
	if r.Nth > 0 {
		share = ordinal(r.Nth)
	}
	kind := string(r.Kind)
	if info, _ := infoOf(r.Kind); r.Time != info.Usual {
		kind += "=" + r.Time.String()
	}
	return r.Target() + ":" + share + ":" + kind
}

// Parse reads a rule: METHOD PATH:SHARE:KIND. SHARE is a percentage, or one request
// by its number, such as 3rd. KIND may be followed by = and a time, such as slow=2s.
// A rule that matches none of endpoints ("POST /funnel/v2/contacts/{contactId}/magic-link")
// is refused; nil endpoints are not compared. An error is a problem.Problem.
func Parse(text string, endpoints []string) (Rule, error) {
	target, share, kind, ok := split(text)
	if !ok {
		return Rule{}, wrong(text, "it has not three parts with a colon between them").Hinted("expected %s", example)
	}
	var r Rule
	if err := r.readTarget(text, target); err != nil {
		return Rule{}, err
	}
	if err := r.readShare(text, share); err != nil {
		return Rule{}, err
	}
	if err := r.readKind(text, kind); err != nil {
		return Rule{}, err
	}
	if endpoints != nil && !slices.ContainsFunc(endpoints, r.matchesEndpoint) {
		return Rule{}, wrong(text, "the service has no %s", r.Target()).Hinted("%s", problem.Suggestion(r.Target(), endpoints))
	}
	return r, nil
}

// split splits a rule at its last two colons.
func split(text string) (target, share, kind string, ok bool) {
	last := strings.LastIndex(text, ":")
	if last < 0 {
		return "", "", "", false
	}
	middle := strings.LastIndex(text[:last], ":")
	if middle < 0 {
		return "", "", "", false
	}
	return strings.TrimSpace(text[:middle]), strings.TrimSpace(text[middle+1 : last]), strings.TrimSpace(text[last+1:]), true
}

func wrong(text, format string, args ...any) problem.Problem {
	return problem.New("usage", "“%s” is not a fault: %s", problem.Shorten(text), fmt.Sprintf(format, args...))
}

// methods are those of the service, and the one that stands for both.
var methods = []string{"GET", "POST", "*"}

func (r *Rule) readTarget(text, target string) error {
	method, path, _ := strings.Cut(target, " ")
	r.Method, r.Path = strings.ToUpper(method), strings.TrimSpace(path)
	switch {
	case !slices.Contains(methods, r.Method):
		return wrong(text, "it begins with “%s”", problem.Shorten(method)).
			Hinted("expected %s and a path, such as POST /funnel/v2/claims", problem.OrList(methods))
	case r.Path == "":
		return wrong(text, "it has no path behind the method").Hinted("expected a path such as /funnel/v2/claims, or * for every path")
	case strings.ContainsAny(r.Path, "?#"):
		return wrong(text, "the path has a query").Hinted("expected the path alone: faults do not look at the query")
	case r.Path != "*" && (r.Path[0] != '/' || strings.ContainsFunc(r.Path, isNoPath)):
		return wrong(text, "“%s” is not a path", problem.Shorten(r.Path)).
			Hinted("expected a path such as /funnel/v2/claims, with * for a segment that may be anything; or * for every path")
	}
	return nil
}

// isNoPath reports whether a character cannot be in a path.
func isNoPath(c rune) bool { return c <= ' ' || c >= 0x7f }

// nth matches the number of a request, such as 3rd.
var nth = regexp.MustCompile(`^([1-9][0-9]{0,8})(st|nd|rd|th)$`)

func (r *Rule) readShare(text, share string) error {
	const expected = "expected a percentage such as 5%, at most 100%, or one request by its number, such as 3rd"
	if m := nth.FindStringSubmatch(share); m != nil {
		r.Nth, _ = strconv.Atoi(m[1]) // nine digits at most
		if share != ordinal(r.Nth) {
			return wrong(text, "“%s” is not how a number is written", share).Hinted("did you mean “%s”?", ordinal(r.Nth))
		}
		return nil
	}
	number, isPerCent := strings.CutSuffix(share, "%")
	share = problem.Shorten(share)
	var err error
	r.PerCent, err = strconv.ParseFloat(number, 64)
	switch {
	case err == nil && !isPerCent:
		return wrong(text, "the share “%s” has no unit", share).Hinted("%s", expected)
	case err != nil || math.IsNaN(r.PerCent):
		return wrong(text, "“%s” is not a share", share).Hinted("%s", expected)
	case r.PerCent <= 0 || r.PerCent > 100:
		return wrong(text, "the share “%s” is not between 0%% and 100%%", share).Hinted("%s", expected)
	}
	return nil
}

func (r *Rule) readKind(text, kind string) error {
	word, value, hasTime := strings.Cut(kind, "=")
	r.Kind = Kind(strings.ToLower(word))
	info, known := infoOf(r.Kind)
	switch {
	case !known:
		return wrong(text, "there is no kind “%s”", problem.Shorten(word)).Hinted("%s", problem.Suggestion(word, kinds()))
	case !hasTime:
		r.Time = info.Usual
		return nil
	case info.Usual == 0:
		return wrong(text, "%s takes no time", r.Kind).Hinted("expected %s alone", r.Kind)
	}
	var err error
	r.Time, err = time.ParseDuration(value)
	switch {
	case err != nil || r.Time <= 0 || r.Time > maxTime:
		return wrong(text, "“%s” is not a time", problem.Shorten(value)).Hinted("expected a number and a unit, at most 1h, such as %s=%v", r.Kind, 2*info.Usual)
	case r.Kind == Busy && r.Time%time.Second != 0:
		return wrong(text, "Retry-After cannot say %v", r.Time).Hinted("expected whole seconds, such as busy=2s")
	}
	return nil
}

// kinds are the words of all kinds.
func kinds() (words []string) {
	for _, k := range Kinds() {
		words = append(words, string(k.Kind))
	}
	return words
}

// ordinal writes a number as 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	suffix := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
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

// matchesEndpoint reports whether a request to the endpoint can match the rule.
func (r Rule) matchesEndpoint(endpoint string) bool {
	method, path, _ := strings.Cut(endpoint, " ")
	return r.matches(method, path)
}

// isAny reports whether a segment of a pattern matches all segments.
func isAny(segment string) bool {
	return segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
}
