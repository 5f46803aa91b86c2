package apiclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
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
	// slowTrip is the duration of a round trip above which a warning is due.
	slowTrip = time.Second
	// maxSkew is how far the two clocks may be apart: the header Date has whole
	// seconds, and the answer was on its way.
	maxSkew = 5 * time.Second
	// expirySoon is how long before the end of a certificate a warning is due.
	expirySoon = 14 * 24 * time.Hour
)

// Examine checks the service and yields what each check found: the host name, the
// connection and its certificate, the token endpoint if there is one, the
// credentials, the templates, the answer to a look-up of nobody, the clocks and
// the time of a request. It stops after a check without which the next ones make
// no sense. It sends only GETs and, where Authorize fetches a token, the request
// for the token.
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

// examination holds what one check finds out for the next ones.
type examination struct {
	client *Client
	over   bool   // the next checks make no sense
	dated  Answer // the last one with the service's clock
	took   []time.Duration
}

// fail ends the examination.
func (e *examination) fail(check, text, hint string) []Finding {
	e.over = true
	return []Finding{{check, Fail, text, hint}}
}

// failure is fail with the words of a Failure.
func (e *examination) failure(check string, err error) []Finding {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return e.fail(check, "the check failed", "")
	}
	return e.fail(check, f.Reason, f.Hint)
}

// host resolves the name of the host to which connections are opened. Behind a
// proxy, the proxy resolves the service's.
func (e *examination) host(ctx context.Context) []Finding {
	cfg := e.client.cfg
	host, key := e.client.base.Hostname(), theService.key
	if cfg.Proxy != nil {
		host, key = cfg.Proxy.host(), theProxy.key
	}
	if _, err := netip.ParseAddr(host); err == nil || e.client.dial == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	if _, err := net.DefaultResolver.LookupHost(ctx, host); err != nil {
		return e.fail("host", "the name "+host+" cannot be resolved", "check the host in "+key+", and this machine's DNS and network")
	}
	return []Finding{{"host", OK, host + " resolves", ""}}
}

// connection opens a connection, as a request would, and checks the certificate.
func (e *examination) connection(ctx context.Context) []Finding {
	if e.client.dial == nil {
		return []Finding{{"connection", OK, "the service is part of this program", ""}}
	}
	proxy, through := e.client.cfg.Proxy, ""
	conn, err := e.client.dial(ctx)
	if err != nil {
		f := classify(err, true)
		switch {
		case f.Hint != "":
		case proxy != nil:
			f.Hint = "check host and port in the environment's proxy and in base_url, and whether a firewall lets this machine through"
		default:
			f.Hint = "check host and port in base_url, and whether a firewall lets this machine through; " +
				"if the service is behind a proxy, name it as the environment's proxy, because no other is used"
		}
		return e.failure("connection", f)
	}
	if proxy != nil {
		through = ", through the proxy " + proxy.host()
	}
	defer conn.Close()
	secure, ok := conn.(*countedConn).Conn.(*tls.Conn)
	if !ok {
		return []Finding{{"connection", OK, "without TLS, which is allowed only for services on this machine", ""}}
	}
	state := secure.ConnectionState()
	leaf := state.PeerCertificates[0]
	f := Finding{"connection", OK, tls.VersionName(state.Version) + ", certificate for " + namesOf(leaf) +
		" until " + leaf.NotAfter.UTC().Format(time.DateOnly) + through, ""}
	if time.Until(leaf.NotAfter) < expirySoon {
		f.Grade, f.Hint = Warn, "the certificate expires soon: ask the service's operator when it is renewed"
	}
	return []Finding{f}
}

// token fetches a token, if the environment uses them.
func (e *examination) token(ctx context.Context) []Finding {
	cfg := e.client.cfg
	if cfg.Renew == nil || cfg.Authorize == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, getTimeout)
	defer cancel()
	start := time.Now()
	if err := cfg.Authorize(ctx, &http.Request{URL: new(url.URL), Header: http.Header{}}); err != nil {
		f := withoutCredentials(err)
		return e.fail("token", f.Reason, "check token_url, client_id, client_secret, scopes and style of the environment's auth")
	}
	return []Finding{{"token", OK, "a token was fetched in " + rounded(time.Since(start)), ""}}
}

// templates reads the reference data. That also shows whether the service accepts
// the credentials.
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
		return e.fail("authentication", "the service knows the credentials but does not let them read the templates: "+statusText(a.Status),
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

// page returns the finding for an answer that is a web page; nil for any other.
func (e *examination) page(a Answer) []Finding {
	if !isPage(a) {
		return nil
	}
	return e.fail("templates", statusText(a.Status)+" with a web page instead of JSON",
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
	findings := []Finding{{"templates", OK, fmt.Sprintf("%d templates with %d attributes; %s", len(templates), attributes, typedText(typed, attributes)), ""}}
	for _, note := range notes {
		findings = append(findings, Finding{"templates", Warn, printable(note), ""})
	}
	return findings
}

// typedText says how many attributes have a data type.
func typedText(typed, attributes int) string {
	switch typed {
	case 0:
		return "the service reports no data types"
	case attributes:
		return "the service reports all data types"
	}
	return fmt.Sprintf("the service reports the data types of %d", typed)
}

// nobody learns what the answer of a look-up looks like that finds nobody. Both
// versions have both look-ups; a mapping may use only one of them.
func (e *examination) nobody(ctx context.Context) []Finding {
	var findings []Finding
	for _, by := range []By{ByEmail, ByPhone} {
		check := "look-up by " + string(by)
		a, err := e.client.learnAbsent(ctx, by)
		if f, ok := errors.AsType[*Failure](err); ok && f.Status/100 == 4 && f.Status != http.StatusNotFound && !f.Stop && e.client.cfg.NotFound.Stated {
			findings = append(findings, Finding{check, Warn, f.Reason, "a run looks up nothing invented, because the environment has not_found"})
			continue
		}
		if err != nil {
			findings = append(findings, e.failure(check, err)...)
			e.over = false // the other look-up and the clocks can still be checked
			continue
		}
		e.note(a)
		e.client.mu.Lock()
		learnt := e.client.absent[by]
		e.client.mu.Unlock()
		findings = append(findings, Finding{check, OK, "for an unknown client the service answers " + learnt.String(), ""})
	}
	return findings
}

// note records the clock and the duration of an answer.
func (e *examination) note(a Answer) {
	e.took = append(e.took, a.Took)
	if !a.Date.IsZero() {
		e.dated = a
	}
}

func (e *examination) clock(context.Context) []Finding {
	if e.dated.Date.IsZero() {
		return []Finding{{"clock", OK, "the service does not send its time", ""}}
	}
	if e.dated.Ahead.Abs() < maxSkew {
		return []Finding{{"clock", OK, "the service's clock and this machine's agree", ""}}
	}
	word := "ahead of"
	if e.dated.Ahead < 0 {
		word = "behind"
	}
	return []Finding{{"clock", Warn, fmt.Sprintf("the service's clock is %s %s this machine's", e.dated.Ahead.Abs().Round(time.Second), word),
		"let a time service set this machine's clock: tokens and certificates depend on it"}}
}

func (e *examination) pace(context.Context) []Finding {
	if len(e.took) == 0 {
		return nil
	}
	slices.Sort(e.took)
	middle := e.took[len(e.took)/2]
	if middle > slowTrip {
		return []Finding{{"round trip", Warn, rounded(middle) + " for a request, which is slow",
			"a client takes several requests one after the other; more requests in flight (limits.concurrency) help if the service's operator agrees"}}
	}
	return []Finding{{"round trip", OK, rounded(middle) + " for a request", ""}}
}

func rounded(d time.Duration) string {
	if d < time.Millisecond {
		return "under 1ms"
	}
	return d.Round(time.Millisecond).String()
}
