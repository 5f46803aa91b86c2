package apiclient

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// Effect is what became of a creating request, as far as can be proved.
type Effect string

// The effects.
const (
	Created   Effect = "created"   // 2xx with the id (and url) that the step needs
	Refused   Effect = "refused"   // certainly not created: the service said no
	NotSent   Effect = "not sent"  // certainly never left this machine
	Uncertain Effect = "uncertain" // may have been created
)

// Retry says when a request that certainly created nothing may be sent again.
type Retry int

// The values of Retry.
const (
	Never      Retry = iota // the answer is final, or the request may have created something
	Now                     // the next attempt may succeed; the caller waits as it likes
	AfterPause              // the service asks to wait; the Client itself holds all requests back until then
)

// Verdict is what became of a creating request.
type Verdict struct {
	Effect Effect
	ID     string // client, contact, claim or activity id; may be "" for an activity (wire.activity_id "")
	URL    string // redirect url, for a v1 client (also one without an id) and a v2 link; a credential
	Status int    // HTTP status, 0 when there was no answer
	// Reason says why the Effect is not Created, or what a created v1 client
	// lacks: one line, without personal data or links.
	Reason string
	// Detail is what the service itself said, at most 300 characters on one line. It may hold
	// personal data: it is for the workbook and the ledger, never for logs.
	Detail string
	Hint   string // what to do, from the Rule that decided or for the usual cause; may be empty
	// Answer is what a ledger stores of the answer, for StoredAnswer: the whole body of a 2xx and the
	// headers that may hold an id or url; at most 4 KiB of any other.
	Answer []byte
	// Stop is set when no other request will do better (401, a redirect, a certificate that is not trusted):
	// the run must end. The Effect is still that of this request: a 302 may have created something.
	Stop       bool
	Retry      Retry         // when it may be sent again, if it is Refused or NotSent; else Never
	RetryAfter time.Duration // how long the service asks to wait, also with a 503 that is Uncertain; 0 when it does not say
	Ruled      bool          // a Rule decided, and not the status alone
}

// Judge decides what became of a creating request, from what Do returned. It
// sends nothing. The configured Rules decide first; then the status; for a 2xx
// also whether the answer holds what the kind of request needs: an id, for a link
// the redirect url, for an activity an id only if wire.activity_id asks for one.
//
// It judges one attempt on its own. An earlier Uncertain attempt gives a 409
// another meaning; that is for the caller to consider.
func (c *Client) Judge(r Request, a Answer, err error) Verdict {
	v := c.judge(r, a, err)
	if a.Status != 0 {
		a.Cut = a.Cut || err != nil
		v.Answer = c.forLedger(a, v)
	}
	return v
}

// JudgeStored is Judge of an answer that a ledger has stored, and that need not be
// made ready for one again: the Verdict's Answer is nil.
func (c *Client) JudgeStored(r Request, stored Answer) Verdict { return c.judge(r, stored, nil) }

// ByRules is in the Reason of an answer that the environment's rules read in another way than by its status.
const ByRules = ", which the environment's errors rules read as "

// ReadingRules returns a word that differs where answers are read by other rules.
func (c *Client) ReadingRules() string {
	rules, _ := json.Marshal([]any{c.cfg.BaseURL, c.cfg.Version, c.cfg.Wire, c.cfg.Rules}) // plain data
	return fmt.Sprintf("%x", sha256.Sum256(rules))
}

// Reads reports whether an id or a url is taken from the answers to requests of kind k.
func (c *Client) Reads(k Kind) bool {
	id, link := c.needs(k)
	return id != nil || link != nil
}

func (c *Client) judge(r Request, a Answer, err error) Verdict {
	if a.Status == 0 {
		return unanswered(err)
	}
	a.Cut = a.Cut || err != nil
	m, rule, ruled := c.meaningOf(a, err != nil)
	v := Verdict{Status: a.Status, Effect: m.effect, Stop: m.stop, Retry: m.retry, Hint: m.hint, Ruled: ruled}
	switch {
	case m.effect == Created && err != nil:
		v.Effect, v.Reason = Uncertain, err.Error()
	case m.effect == Created:
		c.read(&v, r, a)
		if a.Status == http.StatusAccepted && rule.Means != "done" && v.Effect == Created && v.ID == "" && v.URL == "" {
			v.Effect, v.Reason = Uncertain, statusText(a.Status)+", which only promises to do it"
			v.Hint = "if the service's operator confirms that it is always done, add an errors rule: {status: 202, means: done}"
		}
	default:
		v.Reason, v.Detail = statusText(a.Status), detail(c.forShow(a))
		if ruled && rule.Means != "stop" {
			v.Reason += ByRules + rule.Means
		}
	}
	v.Hint = cmp.Or(rule.Hint, v.Hint)
	wait := c.asksToWait(a)
	if wait && v.Retry == Now {
		v.Retry = AfterPause
	}
	if wait || v.Retry != Never {
		v.RetryAfter = a.RetryAfter
	}
	return v
}

// unanswered judges a request without an answer.
func unanswered(err error) Verdict {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return Verdict{Effect: Uncertain, Reason: "there was no answer"}
	}
	v := Verdict{Effect: Uncertain, Reason: f.Reason, Stop: f.Stop, Hint: f.Hint}
	if f.NotSent {
		v.Effect = NotSent
	}
	if f.NotSent && !f.Stop {
		v.Retry = max(f.Retry, Now)
	}
	return v
}

// meaning is what an answer proves.
type meaning struct {
	effect Effect // of a creating request; Created: if the answer holds what the step needs
	stop   bool   // no other request will do better
	retry  Retry  // whether a creating request may be sent again
	passes bool   // a GET is worth sending again
	hint   string
}

const (
	hintBaseURL = "the service redirects: check base_url"
	hintLogin   = "the service redirects, perhaps to a login page: check base_url and auth"
)

// meanings are the statuses that mean something else than the rest of their class, which is the first
// digit. The document shows no error statuses, so what counts is what the HTTP standard proves: a 4xx is a
// refusal, and a 5xx may have been said after the thing was created.
var meanings = map[int]meaning{
	2: {effect: Created},
	// Permanent and method-keeping redirects: the request was not processed here,
	// and it is never sent to an address that an answer names. The cause is a wrong
	// base_url, so the next request would do no better.
	http.StatusMovedPermanently:  {effect: Refused, stop: true, hint: hintBaseURL},
	http.StatusTemporaryRedirect: {effect: Refused, stop: true, hint: hintBaseURL},
	http.StatusPermanentRedirect: {effect: Refused, stop: true, hint: hintBaseURL},
	// "See this instead" is also what a service says after it has acted.
	http.StatusFound:    {effect: Uncertain, stop: true, hint: hintLogin},
	http.StatusSeeOther: {effect: Uncertain, stop: true, hint: hintLogin},

	4:                       {effect: Refused},
	http.StatusUnauthorized: {effect: Refused, stop: true, hint: "check the environment's auth"},
	// A time-out of the service proves nothing, unless it came before the request was complete (Answer.Early).
	http.StatusRequestTimeout:     {effect: Uncertain, passes: true},
	http.StatusMisdirectedRequest: {effect: Refused, retry: Now, passes: true},
	http.StatusTooEarly:           {effect: Refused, retry: Now, passes: true},
	http.StatusTooManyRequests:    {effect: Refused, retry: Now},

	5:                         {effect: Uncertain, passes: true},
	http.StatusNotImplemented: {effect: Refused},
}

// statusMeaning returns what a status proves.
func statusMeaning(status int) meaning {
	if m, ok := meanings[status]; ok {
		return m
	}
	return cmp.Or(meanings[status/100], meaning{effect: Uncertain})
}

// meaningOf returns what an answer proves: by the first Rule that matches it, if any, or else by its
// status. No Rule can say what half an answer means.
func (c *Client) meaningOf(a Answer, half bool) (m meaning, rule Rule, ruled bool) {
	m = statusMeaning(a.Status)
	if a.Status == http.StatusRequestTimeout && a.Early {
		m = meaning{effect: Refused, retry: Now, passes: true}
	}
	if rule, ruled = c.ruleFor(a); half || !ruled {
		return m, Rule{}, false
	}
	switch rule.Means {
	case "stop": // the effect is that of the status
		m.stop = true
	case "done":
		m = meaning{effect: Created}
	case "uncertain":
		m = meaning{effect: Uncertain}
	case "retry":
		m = meaning{effect: Refused, retry: Now, passes: true}
	default:
		m = meaning{effect: Refused}
	}
	return m, rule, true
}

// rule is a Rule with its expression compiled.
type rule struct {
	Rule
	matches *regexp.Regexp
}

func compile(rules []Rule) (list []rule, err error) {
	for _, r := range rules {
		matches, err := regexp.Compile(r.Matches)
		if err != nil {
			return nil, fmt.Errorf("a rule of errors: %w", err)
		}
		list = append(list, rule{r, matches})
	}
	return list, nil
}

// ruleFor returns the first Rule that matches an answer.
func (c *Client) ruleFor(a Answer) (Rule, bool) {
	for _, r := range c.rules {
		if r.applies(a) {
			return r.Rule, true
		}
	}
	return Rule{}, false
}

// applies reports whether the rule matches an answer: its status, and the value
// at the pointer (the JSON of an object or array, the text of a scalar).
func (r rule) applies(a Answer) bool {
	if r.Status != 0 && r.Status != a.Status {
		return false
	}
	if r.Pointer == "" {
		return r.matches.Match(a.Body)
	}
	doc, isJSON := document(a.Body)
	if !isJSON {
		return false
	}
	value := follow(doc, r.Pointer).value
	if text, ok := scalar(value); ok {
		return r.matches.MatchString(text)
	}
	return value != nil && r.matches.Match(value)
}

// needs returns the places of what a successful answer to a kind of request must hold; nil for what
// it need not (document, tables of section "Endpoints", column "Payload returned").
func (c *Client) needs(k Kind) (id, link *string) {
	w := &c.cfg.Wire
	switch {
	case k == CreateClient && c.cfg.Version == V1:
		return &w.ClientID, &w.RedirectURL
	case k == CreateClient:
		return &w.ContactID, nil
	case k == CreateClaim:
		return &w.ClaimID, nil
	case k == CreateActivity && w.ActivityID != "":
		return &w.ActivityID, nil
	case k == CreateLink:
		return nil, &w.RedirectURL
	}
	return nil, nil
}

// read takes from an answer what the kind of request needs. Without it the
// verdict is Uncertain: the thing was probably created, but its id is not known.
// A v1 client with an id but no redirect url is still Created, because
// every further step needs only the id. One with a url but no id is Uncertain and
// keeps the url, because the service gives it only once.
func (c *Client) read(v *Verdict, r Request, a Answer) {
	id, link := c.needs(r.Kind)
	var noID, noURL error
	if id != nil {
		v.ID, noID = idAt(r.Kind, a, *id, c.urlOf(r))
	}
	if link != nil {
		v.URL, noURL = linkAt(a, *link, c.urlOf(r))
	}
	if id == nil && link == nil && len(a.Body) > 0 {
		if _, ok := document(a.Body); !ok {
			noID = errors.New(notJSON(a))
		}
	}
	if id != nil && noID == nil && noURL != nil {
		v.Reason = "created without a redirect url: the answer " + noURL.Error()
		return
	}
	if err := cmp.Or(noID, noURL); err != nil {
		v.Effect, v.ID = Uncertain, ""
		v.Reason, v.Detail = statusText(a.Status)+", but the answer "+err.Error(), detail(c.forShow(a))
	}
}

// urlOf returns the url of a request, or the base url for one that cannot be sent.
func (c *Client) urlOf(r Request) *url.URL {
	if u, err := r.below(c.base); err == nil {
		return u
	}
	return c.base
}
