package apiclient_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient"
)

// The tests in this file are the network part of docs/security.md, named after its
// items.

// N-1: no redirect is followed, wherever it leads: the service gets one request, the
// target none.
func TestN1_NoRedirects(t *testing.T) {
	var atTarget atomic.Int64
	target := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { atTarget.Add(1) })
	plain := httptest.NewServer(target)
	t.Cleanup(plain.Close)
	secure, _ := overTLS(t, target, nil)
	targets := map[string]string{
		"another host by http": plain.URL + "/x", "another host by https": secure + "/x",
		"the same host": "/elsewhere", "without a scheme": "//" + strings.TrimPrefix(plain.URL, "http://") + "/x",
	}
	for name, location := range targets {
		for _, status := range []int{301, 302, 303, 307, 308} {
			var hits atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				hits.Add(1)
				if r.URL.Path == "/elsewhere" {
					atTarget.Add(1)
				}
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			}))
			c := at(t, s.URL, func(cfg *apiclient.Config) {
				cfg.Headers = http.Header{"X-Api-Key": {"SECRET"}}
				cfg.Authorize = func(_ context.Context, req *http.Request) error {
					req.Header.Set("Authorization", "Bearer SECRET")
					return nil
				}
			})
			if v := c.Create(t.Context(), createContact(c)); v.Effect == apiclient.Created || hits.Load() != 1 {
				t.Errorf("%d to %s: %s after %d requests", status, name, v.Effect, hits.Load())
			}
			if _, err := c.Find(t.Context(), apiclient.ByEmail, "jane@example.com"); err == nil || hits.Load() != 2 {
				t.Errorf("%d to %s: a look-up was answered", status, name)
			}
			s.Close()
		}
	}
	if n := atTarget.Load(); n != 0 {
		t.Errorf("the targets got %d requests", n)
	}
}

// N-2: an untrusted connection stops the run before a byte is sent, with the reason;
// TLS 1.2 and 1.3 with a valid certificate work. TestNormaliseBaseURL has the base urls without TLS.
func TestN2_TLS(t *testing.T) {
	tls12 := func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }
	in := func(year int) func(*apiclient.Config) {
		return func(cfg *apiclient.Config) {
			cfg.TLS.Time = func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
		}
	}
	for name, test := range map[string]struct {
		server func(*tls.Config)
		client func(*apiclient.Config)
		reason string // "" for one that works
		hint   string
	}{
		"TLS 1.3":         {},
		"TLS 1.2":         {server: tls12},
		"TLS 1.1":         {func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }, nil, "does not support TLS 1.2", "TLS 1.2"},
		"self-signed":     {nil, func(cfg *apiclient.Config) { cfg.TLS = &tls.Config{InsecureSkipVerify: true} }, "not trusted", "tls.ca"}, // also where a program turns the check off
		"expired":         {nil, in(2200), "not trusted", "certificate has expired or is not yet valid"},
		"not yet valid":   {nil, in(1960), "not trusted", "certificate has expired or is not yet valid"},
		"another name":    {nil, func(cfg *apiclient.Config) { cfg.BaseURL = strings.Replace(cfg.BaseURL, "127.0.0.1", "localhost", 1) }, "not trusted", "the certificate is for example.com"},
		"no client's own": {func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert; tls12(c) }, nil, "refuses the TLS handshake", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var hits atomic.Int64
			base, trust := overTLS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				hits.Add(1)
				_, _ = io.WriteString(w, `{"contactId":"a"}`)
			}), test.server)
			c := at(t, base, trust, func(cfg *apiclient.Config) {
				if test.client != nil {
					test.client(cfg)
				}
			})
			v := c.Create(t.Context(), createContact(c))
			if test.reason == "" {
				if v.Effect != apiclient.Created {
					t.Errorf("%s, %s", v.Effect, v.Reason)
				}
				return
			}
			if v.Effect != apiclient.NotSent || !v.Stop || hits.Load() != 0 || !strings.Contains(v.Reason, test.reason) || !strings.Contains(v.Hint, test.hint) {
				t.Errorf("%s, stop %v, %d hits, %q, hint %q; want not sent, stop, 0, %q and %q", v.Effect, v.Stop, hits.Load(), v.Reason, v.Hint, test.reason, test.hint)
			}
		})
	}
}

// N-3, with TestNormaliseBaseURL, and N-4: whatever an id of an answer or a value of the sheet is, the next request goes to
// the base url's host, and its path has the right number of segments below the base url's; what cannot be a segment
// is not sent.
func TestN3_N4_Paths(t *testing.T) {
	open := apiclient.Activity{TemplateID: "t", Status: "Open"}
	payloads := []string{"..", ".", "", "../admin", "../../admin", "..%2fadmin", "%2e%2e", `..\admin`,
		"a/b", "a//b", "?admin=true", "a?x=1", "#x", "a#x", "a\x00b",
		"a\r\nX: y", "a\r\nHost: evil.example", "+49 170;x=1", "http://evil.example/", "//evil.example", "a@evil.example", " "}
	for _, version := range []apiclient.Version{apiclient.V1, apiclient.V2} {
		for name, route := range map[string]func(r apiclient.Routes, s string) apiclient.Request{
			"e-mail":              func(r apiclient.Routes, s string) apiclient.Request { return r.Find(apiclient.ByEmail, s) },
			"phone":               func(r apiclient.Routes, s string) apiclient.Request { return r.Find(apiclient.ByPhone, s) },
			"link":                func(r apiclient.Routes, s string) apiclient.Request { return r.CreateLink(s, nil) },
			"activity":            func(r apiclient.Routes, s string) apiclient.Request { return r.CreateActivity(s, "", open) },
			"activity of a claim": func(r apiclient.Routes, s string) apiclient.Request { return r.CreateActivity("c", s, open) },
			"activity with both":  func(r apiclient.Routes, s string) apiclient.Request { return r.CreateActivity(s, s, open) },
		} {
			inPath := !strings.HasPrefix(name, "activity") || version == apiclient.V1 && name != "activity of a claim"
			want := segments(t, version, route, "plain")
			for _, payload := range payloads {
				got := segments(t, version, route, payload)
				refused := inPath && (payload == "" || payload == "." || payload == ".." || strings.ContainsAny(payload, "\x00\r\n"))
				if refused != (got == 0) || !refused && got != want {
					t.Errorf("%s, %s: %q was sent with %d segments, want %d", version, name, payload, got, want)
				}
			}
		}
	}
}

// segments counts the segments of the path that is sent; 0 when nothing is sent.
func segments(t *testing.T, version apiclient.Version, route func(apiclient.Routes, string) apiclient.Request, payload string) (n int) {
	t.Helper()
	cfg := config(version)
	cfg.Transport = seen(func(r *http.Request) {
		path, query, _ := strings.Cut(r.URL.RequestURI(), "?")
		n = len(strings.Split(path, "/"))
		if r.Host != "localhost" || r.URL.Host != "localhost" || !strings.HasPrefix(path, "/api/funnel/"+string(version)+"/") {
			t.Errorf("%q leads to %s at %s", payload, path, r.Host)
		}
		if values, err := url.ParseQuery(query); err != nil || len(values) > 1 {
			t.Errorf("%q makes the query %s", payload, query)
		}
	})
	c := client(t, cfg)
	_, _ = c.Do(t.Context(), route(c.Routes(), payload))
	return n
}

// seen is a transport that answers nothing.
type seen func(*http.Request)

func (s seen) RoundTrip(r *http.Request) (*http.Response, error) {
	s(r)
	return nil, io.ErrUnexpectedEOF
}
