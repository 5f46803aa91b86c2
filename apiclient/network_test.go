package apiclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

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
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, tokens.URL, nil)
			res, err := tokens.Client().Do(req)
			if err == nil {
				res.Body.Close()
			}
			return err
		}
	})
	if v := c.Create(t.Context(), createContact(c)); v.Effect != apiclient.NotSent || v.Retry != apiclient.Now {
		t.Errorf("%+v; want not sent", v)
	}
	if len(c.Sent()) != 0 {
		t.Errorf("counted as sent: %v", c.Sent())
	}
}
