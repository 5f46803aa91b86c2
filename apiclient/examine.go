package apiclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"time"
)

// The grades of a Finding.
const (
	OK   = "ok"
	Warn = "warn" // it works, but look at it
	Fail = "fail" // a run would not work
)

// Finding is what one check of Examine found. It may name the service's host,
// and holds no personal data and no credentials.
type Finding struct {
	Check string `json:"check"` // what was tried
	Grade string `json:"grade"` // OK, Warn or Fail
	Text  string `json:"text"`  // what was found, one line
	Hint  string `json:"hint"`  // what to do; "" for nothing
}

// Examine checks the service and returns what each check found: the
// connection and its certificate, the credentials, the templates and the answer to a look-up of
// nobody. It stops after a check without which the next ones make
// no sense. It sends only GETs and, where Authorize fetches a token, the request
// for the token.
func (c *Client) Examine(ctx context.Context) []Finding {
	found := c.examineTemplates(ctx)
	if ctx.Err() != nil || slices.ContainsFunc(found, func(f Finding) bool { return f.Grade == Fail }) {
		return found
	}
	return append(found, c.examineLookUps(ctx)...)
}

// failed is a check that failed, in the words of a Failure; hint is for one that has none.
func failed(check string, err error, hint string) []Finding {
	f, _ := errors.AsType[*Failure](err)
	return []Finding{{check, Fail, f.Reason, cmp.Or(f.Hint, hint)}}
}

// examineTemplates reads the reference data. That also shows the connection and its certificate, and whether the service
// accepts the credentials.
func (c *Client) examineTemplates(ctx context.Context) (found []Finding) {
	const connection, check, authentication = "connection", "templates", "authentication"
	var conn net.Conn
	asked := false
	templates, notes, err := c.Templates(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked = true },
		GotConn: func(got httptrace.GotConnInfo) { conn = got.Conn },
	}))
	through, hint := "", "check host and port in base_url, and whether a firewall lets this machine through; "+
		"if the service is behind a proxy, name it as the environment's proxy, because no other is used"
	if c.cfg.Proxy != nil {
		if u, err := url.Parse(c.cfg.Proxy.URL); err == nil {
			through = ", through the proxy " + u.Hostname()
		}
		hint = "check host and port in the environment's proxy and in base_url, and whether a firewall lets this machine through"
	}
	secure, _ := conn.(*tls.Conn)
	switch {
	case asked && conn == nil:
		return failed(connection, err, hint)
	case secure != nil:
		state := secure.ConnectionState()
		leaf := state.PeerCertificates[0]
		found = append(found, Finding{connection, OK, tls.VersionName(state.Version) + ", certificate for " + certificateNames(leaf) +
			" until " + leaf.NotAfter.UTC().Format(time.DateOnly) + through, ""})
	case conn != nil:
		found = append(found, Finding{connection, OK, "without TLS, which is allowed only for services on this machine", ""})
	case c.cfg.Transport != nil:
		found = append(found, Finding{connection, OK, "the service is part of this program", ""})
	}
	f, isFailure := errors.AsType[*Failure](err)
	switch {
	case isFailure && (f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden):
		return append(found, failed(authentication, err,
			"ask the service's operator for the rights of an integrator; under version 1, check case_id")...)
	case err != nil:
		return append(found, failed(check, err, "check base_url, which ends before /funnel, auth, and under version 1 case_id")...)
	}
	accepted := Finding{authentication, OK, "accepted", ""}
	if c.cfg.Authorize == nil {
		accepted.Text = "no credentials are configured, and none are asked for"
	}
	if len(templates) == 0 {
		return append(found, accepted, Finding{check, Warn, "the service has no activity templates here",
			"templates belong to an environment and a claim type: check base_url and case_id"})
	}
	attributes, typed := 0, 0
	for _, t := range templates {
		for _, a := range t.Attributes {
			if attributes++; a.DataType != "" {
				typed++
			}
		}
	}
	found = append(found, accepted,
		Finding{check, OK, fmt.Sprintf("%d templates with %d attributes, %d of them with a data type", len(templates), attributes, typed), ""})
	for _, note := range notes {
		found = append(found, Finding{check, Warn, printable(note), ""})
	}
	return found
}

// examineLookUps learns what the answer of a look-up looks like that finds nobody. Both
// versions have both look-ups; a mapping may use only one of them.
func (c *Client) examineLookUps(ctx context.Context) (found []Finding) {
	for _, by := range []By{ByEmail, ByPhone} {
		check := "look-up by " + string(by)
		f, _ := errors.AsType[*Failure](c.LearnAbsent(ctx, by))
		c.mu.Lock()
		learnt := c.absent[by]
		c.mu.Unlock()
		switch {
		case f == nil:
			found = append(found, Finding{check, OK, "for an unknown client the service answers " + learnt.text, ""})
		case f.Status/100 == 4 && f.Status != http.StatusNotFound && !f.Stop && c.cfg.NotFound.Stated:
			found = append(found, Finding{check, Warn, f.Reason, "a run looks up nothing invented, because the environment has not_found"})
		default:
			found = append(found, Finding{check, Fail, f.Reason, f.Hint})
		}
	}
	return found
}
