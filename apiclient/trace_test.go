package apiclient_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

// traced keeps the Exchanges of a client.
type traced struct {
	mu  sync.Mutex
	all []apiclient.Exchange
}

func (t *traced) to(cfg *apiclient.Config) {
	cfg.Trace = func(e apiclient.Exchange) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.all = append(t.all, e)
	}
}

// take returns the Exchanges since the last call.
func (t *traced) take() []apiclient.Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.all
	t.all = nil
	return all
}

const tracedID = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"

// TestTrace: an Exchange says what left and what came back, with ids and without
// anything else of a request.
func TestTrace(t *testing.T) {
	t.Parallel()
	var trace traced
	c := against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Correlation-Id", "gateway-17")
		answers(201, "application/json", `{"contactId":"canary","redirectUrl":"https://x.example/canary-link"}`)(w, nil)
	}, trace.to)
	r := c.Routes()
	for _, tt := range []struct {
		request apiclient.Request
		path    string
		sent    int
	}{
		{r.Find(apiclient.ByEmail, "jane.canary@example.com"), "/funnel/v2/contacts/by-email/{email}", 0},
		{r.Find(apiclient.ByPhone, "+447911999001"), "/funnel/v2/contacts/by-phone/{phone}", 0},
		{createContact(c), "/funnel/v2/contacts?isAdministrator=true", 35},
		{r.CreateClaim(tracedID, nil, "canary"), "/funnel/v2/claims", 96},
		{r.CreateActivity("", tracedID, apiclient.Activity{}), "/funnel/v2/activities?claimId={claimId}", 63},
		{r.CreateLink(tracedID, []byte("{}")), "/funnel/v2/contacts/{contactId}/magic-link", 2},
		{r.CreateLink("jane.canary@example.com", []byte("{}")), "/funnel/v2/contacts/{contactId}/magic-link", 2}, // a name for an id
	} {
		_, _ = c.Do(apiclient.WithRow(t.Context(), 1, 7), tt.request)
		got := trace.take()
		if len(got) != 1 {
			t.Fatalf("%s: %d exchanges, want 1", tt.path, len(got))
		}
		e := got[0]
		if e.Path != tt.path || e.Sent != tt.sent || e.Status != 201 || e.Received != 68 || e.Row != 7 || e.Sheet != 1 || e.AnswerID != "gateway-17" ||
			len(e.RequestID) != 36 || e.Time.IsZero() || e.Took.Whole <= 0 || e.Failure != "" {
			t.Errorf("%s: %+v", tt.path, e)
		}
		if text, err := json.Marshal(e); err != nil || strings.Contains(strings.ToLower(string(text)), "canary") || strings.Contains(string(text), "911999001") {
			t.Errorf("%s: %s (%v)", tt.path, text, err)
		}
	}
}

// TestTraceOfFailures: without an answer the reason is there, and what was never given
// to the network is no Exchange.
func TestTraceOfFailures(t *testing.T) {
	t.Parallel()
	var trace traced
	cut := apitest.StartRaw(t, nil, apitest.Bytes("HTTP/1.1 201 Created\r\nContent-Length: 50\r\nX-Request-Id: https://x.example/1\r\n\r\n{"))
	for url, want := range map[string]apiclient.Exchange{
		"http://127.0.0.1:1": {Failure: "the service refuses the connection"},
		cut.URL:              {Failure: "HTTP 201 Created, but the connection was closed before the answer was complete", Status: 201, Received: 1},
	} {
		c := at(t, url, trace.to)
		c.Create(t.Context(), createContact(c))
		got := trace.take()
		if len(got) != 1 || got[0].Failure != want.Failure || got[0].Status != want.Status || got[0].Received != want.Received || got[0].AnswerID != "" {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	c := at(t, cut.URL, trace.to, func(cfg *apiclient.Config) { cfg.ReadOnly = true })
	c.Create(t.Context(), createContact(c))
	if got := trace.take(); len(got) != 0 {
		t.Errorf("a request that was refused here: %+v", got)
	}
}

// TestTraceHidesSecrets: a secret that is used, or repeated, as an id is left out.
func TestTraceHidesSecrets(t *testing.T) {
	t.Parallel()
	var trace traced
	const secret = "s3cret-key-1"
	c := against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", secret)
		answers(201, "application/json", `{}`)(w, nil)
	}, trace.to, func(cfg *apiclient.Config) {
		cfg.Authorize = func(_ context.Context, req *http.Request) error { req.Header.Set("X-Request-Id", secret); return nil }
	})
	c.Create(t.Context(), c.Routes().CreateLink(secret, nil))
	if text, err := json.Marshal(trace.take()); err != nil || strings.Contains(string(text), secret) {
		t.Errorf("%s (%v)", text, err)
	}
}
