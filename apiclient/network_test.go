package apiclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

func TestAfterTheRequestArrivedNothingIsProved(t *testing.T) {
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	tests := []struct {
		name   string
		reply  apitest.RawReply
		reason string
	}{
		{"closed", apitest.Bytes(""), "connection was closed"},
		{"reset", apitest.ThenReset(apitest.Bytes("")), "connection was closed"},
		{"silence", func(r apitest.RawRequest) bool { r.ReadBody(); <-silent; return false }, "no answer within the time allowed"},
		{"half a status line", apitest.Bytes("HTTP/1.1 20"), ""},
		{"not HTTP", apitest.Bytes("SSH-2.0-OpenSSH_9.2\r\n\r\n"), "could not be read as HTTP"},
		{"head too large", apitest.Bytes("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n"), ""},
		{"cut body", apitest.Bytes("HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{\"contactId\":\"a\""), "HTTP 201 Created, but the connection was closed"},
		{"endless body", apitest.Bytes("HTTP/1.1 201 Created\r\n\r\n" + strings.Repeat(" ", 2<<20)), "larger than 1 MiB"},
		{"web page", apitest.Bytes("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"), "a web page"},
		{"server error", apitest.Bytes("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), "HTTP 500 Internal Server Error"},
		{"compressed", apitest.Bytes("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00"), "not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.StartRaw(t, nil, tt.reply)
			c := at(t, s.URL, func(cfg *apiclient.Config) {
				if tt.name == "silence" {
					cfg.Timeout = 100 * time.Millisecond
				}
			})
			v := c.Create(t.Context(), createContact(c))
			if v.Effect != apiclient.Uncertain || v.Stop || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("%s, stop %v, %q; want uncertain with %q", v.Effect, v.Stop, v.Reason, tt.reason)
			}
			if s.Arrived() != 1 || c.Sent()[apiclient.CreateClient] != 1 {
				t.Errorf("%d POSTs arrived, %d counted; want 1", s.Arrived(), c.Sent()[apiclient.CreateClient])
			}
		})
	}
}

// A server that drops every connection after one answer races with the next
// POST. Whichever wins: a request that is "not sent" never arrived, and none arrived
// twice, also one without a body, which net/http sends again when it was not written.
func TestWhatIsCalledNotSentNeverArrived(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer  string
		request func(*apiclient.Client) apiclient.Request
	}{
		"contact": {`{"contactId":"a"}`, createContact},
		"link": {`{"redirectUrl":"http://x.test/y"}`, func(c *apiclient.Client) apiclient.Request {
			return c.Routes().CreateLink("a", nil)
		}},
	} {
		s := apitest.StartRaw(t, nil, apitest.Bytes(fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", len(tt.answer), tt.answer)))
		c := at(t, s.URL)
		sent := 0
		for range 300 {
			before := s.Arrived()
			v := c.Create(t.Context(), tt.request(c))
			arrived := s.Arrived() - before
			if v.Effect != apiclient.NotSent {
				sent++
			}
			if v.Effect == apiclient.NotSent && arrived != 0 || v.Effect == apiclient.Created && arrived != 1 || arrived > 1 {
				t.Fatalf("%s: %s (%s), but %d POSTs arrived", name, v.Effect, v.Reason, arrived)
			}
		}
		if got := c.Sent()[tt.request(c).Kind]; got != sent {
			t.Errorf("%s: %d counted as sent, want %d", name, got, sent)
		}
	}
}

// The connection to a token server says nothing about the request: without a
// connection to the service nothing was sent.
func TestATokensConnectionIsNoEvidence(t *testing.T) {
	tokens := httptest.NewServer(answers(200, asJSON, `{}`))
	defer tokens.Close()
	c := at(t, "http://"+refusing(t), func(cfg *apiclient.Config) {
		cfg.Authorize = func(ctx context.Context, _ *http.Request) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, tokens.URL, nil)
			if err != nil {
				return err
			}
			res, err := tokens.Client().Do(req)
			if err != nil {
				return err
			}
			return res.Body.Close()
		}
	})
	if v := c.Create(t.Context(), createContact(c)); v.Effect != apiclient.NotSent || v.Retry != apiclient.Now {
		t.Errorf("%+v; want not sent", v)
	}
	if len(c.Sent()) != 0 {
		t.Errorf("counted as sent: %v", c.Sent())
	}
}
