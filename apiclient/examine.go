package apiclient

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"
)

// Grade says how a check of Examine ended.
type Grade string

// The grades.
const (
	OK   Grade = "ok"
	Warn Grade = "warn" // works, but somebody should look at it
	Fail Grade = "fail" // a run would not work
)

// Finding is what one check of Examine found. It may name the service's host,
// and holds no personal data and no credentials.
type Finding struct {
	Check string
	Grade Grade
	Text  string // one line
	Hint  string // what to do; "" for nothing
}

const (
	// slow is a round trip after which a run takes long for no reason of ours.
	slow = time.Second
	// apart is how far two clocks may be from each other: the header Date has
	// whole seconds, and the answer was on its way.
	apart = 5 * time.Second
)

// Examine tries the service out and tells what it finds, check by check: the
// host's name, the connection and its certificate, the token endpoint if there
// is one, the credentials, the templates, what a look-up of nobody looks like,
// the clocks and the time a request takes. It goes on as far as that makes
// sense, and sends nothing but GETs and, where Authorize fetches a token, the
// request for that.
func (c *Client) Examine(ctx context.Context) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		e := examination{client: c}
		for _, check := range []func(context.Context) []Finding{e.host, e.connection, e.token, e.templates, e.nobody, e.clock, e.pace} {
			findings := check(ctx)
			for _, f := range findings {
				if !yield(f) {
					return
				}
			}
			if e.over || ctx.Err() != nil {
				return
			}
		}
	}
}

// examination is what the checks find out for one another.
type examination struct {
	client *Client
	over   bool // nothing that follows makes sense
	date   time.Time
	at     time.Time // when date was read
	took   []time.Duration
}

// fail ends the examination.
func (e *examination) fail(check, text, hint string) []Finding {
	e.over = true
	return []Finding{{check, Fail, text, hint}}
}

// failure is fail for a Failure.
func (e *examination) failure(check string, err error) []Finding {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return e.fail(check, "the check did not work", "")
	}
	return e.fail(check, f.Reason, f.Hint)
}

// token fetches one, where tokens are fetched.
func (e *examination) token(ctx context.Context) []Finding {
	cfg := e.client.cfg
	if cfg.Renew == nil || cfg.Authorize == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, getTimeout)
	defer cancel()
	start := time.Now()
	if err := cfg.Authorize(ctx, &http.Request{Header: http.Header{}}); err != nil {
		f := withoutCredentials(err)
		return e.fail("token", f.Reason, "check token_url, client_id, client_secret, scopes and style of the environment's auth")
	}
	return []Finding{{"token", OK, "a token was fetched in " + rounded(time.Since(start)), ""}}
}

// templates reads the reference data, which shows whether the credentials are
// accepted.
func (e *examination) templates(ctx context.Context) []Finding {
	c := e.client
	req := c.Routes().Templates()
	a, err := c.Do(ctx, req)
	if err != nil {
		return e.failure("templates", err)
	}
	e.note(a)
	switch {
	case a.Status == http.StatusUnauthorized:
		return e.fail("authentication", "the service does not accept the credentials: "+statusText(a.Status),
			"check the environment's auth: its type, and whether the secret is of this environment and still valid")
	case a.Status == http.StatusForbidden:
		return e.fail("authentication", "the service knows the credentials, but they may not read the templates: "+statusText(a.Status),
			"ask the service's operator for the rights of an integrator; under version 1, check case_id")
	}
	if f := e.page(a); f != nil {
		return f
	}
	if err := c.refusal(req, "reading the activity templates", a); err != nil {
		found := e.failure("templates", err)
		if found[0].Hint == "" && a.Status/100 == 4 {
			found[0].Hint = "check base_url, which ends before /funnel, and under version 1 case_id"
		}
		return found
	}
	findings := []Finding{{"authentication", OK, "accepted", ""}}
	if c.cfg.Authorize == nil {
		findings[0].Text = "no credentials are configured, and none are asked for"
	}
	p := templateParser{wire: c.cfg.Wire}
	templates, err := p.parse(a)
	if err != nil {
		return append(findings, e.fail("templates", "the answer "+err.Error(), "check base_url; the answer should be the service's reference data")...)
	}
	return append(findings, e.describe(templates, p.notes)...)
}

// page is the finding about an answer that was made for people.
func (e *examination) page(a Answer) []Finding {
	if !isPage(a) {
		return nil
	}
	return e.fail("templates", statusText(a.Status)+" with a web page where JSON was expected",
		"a portal, a proxy or a login page answers in the service's place: check base_url and auth, and whether this machine may reach the service")
}

func (e *examination) describe(templates []Template, notes []string) []Finding {
	if len(templates) == 0 {
		return []Finding{{"templates", Warn, "the service has no activity templates here",
			"templates belong to an environment and a claim type: check base_url and case_id"}}
	}
	attributes, typed := 0, 0
	for _, t := range templates {
		attributes += len(t.Attributes)
		for _, a := range t.Attributes {
			if a.DataType != "" {
				typed++
			}
		}
	}
	findings := []Finding{{"templates", OK, fmt.Sprintf("%d templates with %d attributes, of %d the data type is told", len(templates), attributes, typed), ""}}
	for _, note := range notes {
		findings = append(findings, Finding{"templates", Warn, printable(note), ""})
	}
	return findings
}

// nobody learns what a look-up looks like that finds nobody. Version 1 and 2
// have both look-ups; a mapping may use one of them only.
func (e *examination) nobody(ctx context.Context) []Finding {
	var findings []Finding
	for _, by := range []By{ByEmail, ByPhone} {
		check := "look-up by " + string(by)
		a, err := e.client.learnAbsent(ctx, by)
		if err != nil {
			findings = append(findings, e.failure(check, err)...)
			e.over = false // the other look-up and the clocks are worth a try
			continue
		}
		e.note(a)
		e.client.mu.Lock()
		learnt := e.client.absent[by]
		e.client.mu.Unlock()
		findings = append(findings, Finding{check, OK, "for nobody the service answers " + learnt.String(), ""})
	}
	return findings
}

// note keeps what an answer shows of the clocks.
func (e *examination) note(a Answer) {
	e.took = append(e.took, a.Took)
	if !a.Date.IsZero() {
		e.date, e.at = a.Date, time.Now().Add(-a.Took/2)
	}
}

func (e *examination) clock(context.Context) []Finding {
	if e.date.IsZero() {
		return []Finding{{"clock", OK, "the service does not show its clock", ""}}
	}
	ahead := e.date.Sub(e.at)
	word := "ahead of"
	if ahead < 0 {
		ahead, word = -ahead, "behind"
	}
	if ahead < apart {
		return []Finding{{"clock", OK, "the service's clock and this machine's agree", ""}}
	}
	return []Finding{{"clock", Warn, fmt.Sprintf("the service's clock is %s %s this machine's", ahead.Round(time.Second), word),
		"let a time service set this machine's clock: tokens and certificates are judged by it"}}
}

func (e *examination) pace(context.Context) []Finding {
	if len(e.took) == 0 {
		return nil
	}
	slices.Sort(e.took)
	middle := e.took[len(e.took)/2]
	if middle > slow {
		return []Finding{{"round trip", Warn, rounded(middle) + " for a request, which is slow",
			"a client takes several requests one after the other; more clients side by side (limits.concurrency) help if the service's operator agrees"}}
	}
	return []Finding{{"round trip", OK, rounded(middle) + " for a request", ""}}
}

func rounded(d time.Duration) string {
	if d < time.Millisecond {
		return "under 1ms"
	}
	return d.Round(time.Millisecond).String()
}
