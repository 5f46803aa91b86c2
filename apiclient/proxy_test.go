package apiclient_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

// TestWithoutATunnelNothingIsSent checks every way in which a tunnel is not opened:
// it proves that the request was not sent, and says whether another attempt can do
// better. The service's certificate is checked inside the tunnel, so a proxy that reads
// the traffic is found out.
func TestWithoutATunnelNothingIsSent(t *testing.T) {
	t.Parallel()
	config, trust := secured(t, true)
	status := func(line string) func(*http.Request) string {
		return func(*http.Request) string { return "HTTP/1.1 " + line + "\r\nContent-Length: 5\r\n\r\nwords" }
	}
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	for name, c := range map[string]struct {
		url    string // "" starts a proxy
		answer func(*http.Request) string
		trust  func(*apiclient.Config) // nil trusts the service
		stop   bool
		reason string
		hint   string
	}{
		"unknown host": {url: "http://nowhere.invalid:3128", reason: "the proxy's host name cannot be resolved"},
		"refused":      {url: "http://" + refusing(t), reason: "the proxy refuses the connection"},
		"407": {answer: status("407 Proxy Authentication Required"), stop: true,
			reason: "the proxy does not open a connection: HTTP 407 Proxy Authentication Required", hint: "give the right username and password of the environment's proxy"},
		"403":      {answer: status("403 Forbidden"), stop: true, reason: "does not open a connection: HTTP 403 Forbidden", hint: "allow CONNECT"},
		"429":      {answer: status("429 Slow down"), reason: "HTTP 429 Too Many Requests"},
		"502":      {answer: status("502 Bad Gateway"), reason: "HTTP 502 Bad Gateway", hint: "whether it can reach them"},
		"closed":   {answer: func(*http.Request) string { return "HTTP/1.1 200 OK\r\n" }, reason: "the connection failed before the request was sent"},
		"not HTTP": {answer: func(*http.Request) string { return "SSH-2.0-OpenSSH_9.2\r\n\r\n" }, reason: "the connection failed before the request was sent"},
		"endless head": {answer: func(*http.Request) string {
			return "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n"
		},
			reason: "the connection failed before the request was sent"},
		"more than an answer": {answer: func(*http.Request) string { return "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 201 Created\r\n\r\n" },
			reason: "before the request was sent"},
		"silence":           {answer: func(*http.Request) string { <-silent; return "" }, reason: "no connection to the proxy within the time allowed"},
		"reads the traffic": {trust: func(*apiclient.Config) {}, stop: true, reason: "the service's certificate is not trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := apitest.StartRaw(t, config, apitest.Whole("201 Created", `{"contactId":"a"}`))
			url := c.url
			if url == "" {
				url = apitest.StartProxy(t, c.answer).URL
			}
			limit := 5 * time.Second
			if name == "silence" {
				limit = 100 * time.Millisecond
			}
			if c.trust == nil {
				c.trust = trust
			}
			client := at(t, service.URL, c.trust, func(cfg *apiclient.Config) {
				cfg.Proxy, cfg.ConnectTimeout = &apiclient.Proxy{URL: url}, limit
			})
			v := client.Create(t.Context(), createContact(client))
			if v.Effect != apiclient.NotSent || v.Stop != c.stop || !strings.Contains(v.Reason, c.reason) || !strings.Contains(v.Hint, c.hint) {
				t.Errorf("%s, stop %v, %q, hint %q; want not sent, stop %v, %q, %q", v.Effect, v.Stop, v.Reason, v.Hint, c.stop, c.reason, c.hint)
			}
			if want := map[bool]apiclient.Retry{false: apiclient.Now, true: apiclient.Never}[c.stop]; v.Retry != want {
				t.Errorf("retry %v, want %v", v.Retry, want)
			}
			if service.Arrived() != 0 || len(client.Sent()) != 0 {
				t.Errorf("%d requests arrived, %v counted as sent", service.Arrived(), client.Sent())
			}
			_, err := client.Find(t.Context(), apiclient.ByEmail, "jane@example.com")
			if f, ok := err.(*apiclient.Failure); !ok || !f.NotSent || f.Stop != c.stop || (f.Retry == apiclient.Now) == c.stop {
				t.Errorf("a look-up: %+v", err)
			}
		})
	}
}

// A look-up that is cancelled while the proxy is silent ends at once.
func TestATunnelIsNotWaitedForAfterTheEnd(t *testing.T) {
	t.Parallel()
	asked, silent := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(silent) })
	proxy := apitest.StartProxy(t, func(*http.Request) string { close(asked); <-silent; return "" })
	client := at(t, "https://uat.example.com", func(cfg *apiclient.Config) { cfg.Proxy = &apiclient.Proxy{URL: proxy.URL} })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := client.Find(ctx, apiclient.ByEmail, "jane@example.com")
	if f, ok := err.(*apiclient.Failure); !ok || !f.NotSent || f.Reason != "stopped before it was sent" {
		t.Errorf("%+v", err)
	}
}

// N-7: the only proxy is the one of the environment, and it learns host and port of
// the service and nothing else.
func TestN7_OnlyTheEnvironmentsProxy(t *testing.T) {
	server, trust := secured(t, true)
	service := apitest.StartRaw(t, server, apitest.Whole("201 Created", `{"contactId":"a"}`))
	var other atomic.Int64
	named := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other.Add(1) }))
	t.Cleanup(named.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy"} {
		t.Setenv(name, named.URL)
	}
	proxy := apitest.StartProxy(t, func(r *http.Request) string {
		equal(t, "what the proxy can read", http.Header{"User-Agent": {"claimsheet"}}, r.Header)
		return ""
	})
	client := at(t, service.URL, trust, func(cfg *apiclient.Config) {
		cfg.Proxy = &apiclient.Proxy{URL: proxy.URL}
		cfg.Authorize = func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer canary")
			r.URL.RawQuery += "&key=canary"
			return nil
		}
	})
	if v := client.Create(t.Context(), createContact(client)); v.Effect != apiclient.Created {
		t.Errorf("%+v", v)
	}
	if apiclient.NewTransport(apiclient.Config{}).Proxy != nil { // net/http itself leaves services of this machine out
		t.Error("net/http asks the variables too")
	}
	if diff := cmp.Diff([]string{"CONNECT " + service.Addr}, proxy.Asked()); diff != "" || other.Load() != 0 {
		t.Errorf("%d requests at another proxy; asked (-want +got):\n%s", other.Load(), diff)
	}
}
