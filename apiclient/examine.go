package apiclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Grade is the result of a check of Examine.
type Grade string

// The grades.
const (
	OK   Grade = "ok"
	Warn Grade = "warn" // it works, but somebody should look at it
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
	// maxSkew is how far the two clocks may be apart: the header Date has whole
	// seconds, and the answer was on its way.
	maxSkew = 5 * time.Second
	// expirySoon is how long before the end of a certificate a warning is due.
	expirySoon = 14 * 24 * time.Hour
)

// Examine checks the service and yields what each check found: the
// connection and its certificate, the credentials, the templates, the answer to a look-up of
// nobody, and the clocks. It stops after a check without which the next ones make
// no sense. It sends only GETs and, where Authorize fetches a token, the request
// for the token.
func (c *Client) Examine(ctx context.Context) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		e := examination{client: c, yield: yield}
		for _, check := range []func(context.Context){e.connection, e.templates, e.nobody, e.clock} {
			if check(ctx); e.over || ctx.Err() != nil {
				return
			}
		}
	}
}

// examination holds what one check finds out for the next ones.
type examination struct {
	client *Client
	yield  func(Finding) bool
	over   bool   // the next checks make no sense
	dated  Answer // the last one with the service's clock
}

func (e *examination) say(check string, grade Grade, text, hint string) {
	e.over = e.over || !e.yield(Finding{check, grade, text, hint})
}

// fail ends the examination.
func (e *examination) fail(check, text, hint string) {
	e.say(check, Fail, text, hint)
	e.over = true
}

// failure is fail with the words of a Failure, or with a hint where it has none.
func (e *examination) failure(check string, err error, hint string) {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{Reason: "the check failed"}
	}
	e.fail(check, f.Reason, cmp.Or(f.Hint, hint))
}

// connection opens a connection, as a request would, and checks the certificate.
func (e *examination) connection(ctx context.Context) {
	if e.client.dial == nil {
		e.say("connection", OK, "the service is part of this program", "")
		return
	}
	through := ""
	hint := "check host and port in base_url, and whether a firewall lets this machine through; " +
		"if the service is behind a proxy, name it as the environment's proxy, because no other is used"
	if proxy := e.client.cfg.Proxy; proxy != nil {
		if u, err := url.Parse(proxy.URL); err == nil {
			through = ", through the proxy " + u.Hostname()
		}
		hint = "check host and port in the environment's proxy and in base_url, and whether a firewall lets this machine through"
	}
	conn, err := e.client.dial(ctx)
	if err != nil {
		e.failure("connection", classify(err, true), hint)
		return
	}
	defer conn.Close()
	secure, ok := conn.(*countedConn).Conn.(*tls.Conn)
	if !ok {
		e.say("connection", OK, "without TLS, which is allowed only for services on this machine", "")
		return
	}
	state := secure.ConnectionState()
	leaf, grade, hint := state.PeerCertificates[0], OK, ""
	if time.Until(leaf.NotAfter) < expirySoon {
		grade, hint = Warn, "the certificate expires soon: ask the service's operator when it is renewed"
	}
	e.say("connection", grade, tls.VersionName(state.Version)+", certificate for "+certificateNames(leaf)+
		" until "+leaf.NotAfter.UTC().Format(time.DateOnly)+through, hint)
}

// templates reads the reference data. That also shows whether the service accepts
// the credentials.
func (e *examination) templates(ctx context.Context) {
	c := e.client
	req := c.Routes().Templates()
	a, err := c.Do(ctx, req)
	if err != nil {
		e.failure("templates", err, "check the environment's auth and base_url")
		return
	}
	e.note(a)
	switch {
	case a.Status == http.StatusUnauthorized:
		e.fail("authentication", "the service does not accept the credentials: "+statusText(a.Status),
			"check the environment's auth: its type, and whether the secret is of this environment and still valid")
		return
	case a.Status == http.StatusForbidden:
		e.fail("authentication", "the service knows the credentials but does not let them read the templates: "+statusText(a.Status),
			"ask the service's operator for the rights of an integrator; under version 1, check case_id")
		return
	case isPage(a):
		e.fail("templates", statusText(a.Status)+" with a web page instead of JSON",
			"a portal, a proxy or a login page answers in the service's place: check base_url and auth, and whether this machine may reach the service")
		return
	}
	if err := c.refusal(req, "reading the activity templates", a); err != nil {
		hint := ""
		if a.Status/100 == 4 {
			hint = "check base_url, which ends before /funnel, and under version 1 case_id"
		}
		e.failure("templates", err, hint)
		return
	}
	accepted := "accepted"
	if c.cfg.Authorize == nil {
		accepted = "no credentials are configured, and none are asked for"
	}
	e.say("authentication", OK, accepted, "")
	p := templateParser{wire: c.cfg.Wire}
	templates, err := p.parse(a)
	if err != nil {
		e.fail("templates", "the answer "+err.Error(), "check base_url; the answer should be the service's reference data")
		return
	}
	e.describe(templates, p.notes)
}

func (e *examination) describe(templates []Template, notes []string) {
	if len(templates) == 0 {
		e.say("templates", Warn, "the service has no activity templates here",
			"templates belong to an environment and a claim type: check base_url and case_id")
		return
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
	types := fmt.Sprintf("the data types of %d", typed)
	switch typed {
	case 0:
		types = "no data types"
	case attributes:
		types = "all data types"
	}
	e.say("templates", OK, fmt.Sprintf("%d templates with %d attributes; the service reports %s", len(templates), attributes, types), "")
	for _, note := range notes {
		e.say("templates", Warn, printable(note), "")
	}
}

// nobody learns what the answer of a look-up looks like that finds nobody. Both
// versions have both look-ups; a mapping may use only one of them.
func (e *examination) nobody(ctx context.Context) {
	for _, by := range []By{ByEmail, ByPhone} {
		check := "look-up by " + string(by)
		a, err := e.client.learnAbsent(ctx, by)
		f, _ := errors.AsType[*Failure](err)
		switch {
		case err == nil:
			e.note(a)
			e.say(check, OK, "for an unknown client the service answers "+shapeOf(a).String(), "")
		case f != nil && f.Status/100 == 4 && f.Status != http.StatusNotFound && !f.Stop && e.client.cfg.NotFound.Stated:
			e.say(check, Warn, f.Reason, "a run looks up nothing invented, because the environment has not_found")
		case f != nil: // the other look-up and the clocks can still be checked
			e.say(check, Fail, f.Reason, f.Hint)
		}
	}
}

// note records the clock of an answer.
func (e *examination) note(a Answer) {
	if !a.Date.IsZero() {
		e.dated = a
	}
}

func (e *examination) clock(context.Context) {
	word := "ahead of"
	if e.dated.Ahead < 0 {
		word = "behind"
	}
	switch {
	case e.dated.Date.IsZero():
		e.say("clock", OK, "the service does not send its time", "")
	case e.dated.Ahead.Abs() < maxSkew:
		e.say("clock", OK, "the service's clock and this machine's agree", "")
	default:
		e.say("clock", Warn, fmt.Sprintf("the service's clock is %s %s this machine's", e.dated.Ahead.Abs().Round(time.Second), word),
			"let a time service set this machine's clock: tokens and certificates depend on it")
	}
}
