package environment_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/tracking"
)

// tracked is an environment with these keys under tracking.
func tracked(t *testing.T, keys string) *environment.Environment {
	t.Helper()
	return only(t, t.TempDir(), "    tracking: {completed: {kinds: [done]}, "+keys+"}\n")
}

// hookOf is the webhook of an environment with these keys under webhook.
func hookOf(t *testing.T, keys string) *tracking.Webhook {
	t.Helper()
	h := must(tracked(t, "webhook: {client_id: /c, kind: /k, "+keys+"}").Webhook(t.Context()))(t)
	h.Log = func(int, int, string) {}
	return h
}

// TestWebhookProof: only a request with the whole proof is taken.
func TestWebhookProof(t *testing.T) {
	t.Setenv("HOOK", "hunter2")
	const body = `{"c":"1","k":"done"}`
	signature := func(key, message string) string {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(message))
		return hex.EncodeToString(mac.Sum(nil))
	}
	raw := must(hex.DecodeString(signature("hunter2", body)))(t)
	const signed = "header: X-Signature, secret: env:HOOK"
	tests := []struct {
		name, keys string
		headers    http.Header
		want       bool
	}{
		{"the token", "header: X-Token, token: env:HOOK", http.Header{"X-Token": {"hunter2"}}, true},
		{"no token", "header: X-Token, token: env:HOOK", nil, false},
		{"a part of the token", "header: X-Token, token: env:HOOK", http.Header{"X-Token": {"hunter"}}, false},
		{"two tokens", "header: X-Token, token: env:HOOK", http.Header{"X-Token": {"hunter2", "x"}}, false},
		{"a signature", signed, http.Header{"X-Signature": {signature("hunter2", body)}}, true},
		{"a signature in capitals", signed, http.Header{"X-Signature": {strings.ToUpper(signature("hunter2", body))}}, true},
		{"a signature by another key", signed, http.Header{"X-Signature": {signature("hunter3", body)}}, false},
		{"a signature of another body", signed, http.Header{"X-Signature": {signature("hunter2", body+" ")}}, false},
		{"no signature", signed, nil, false},
		{"two signatures", signed, http.Header{"X-Signature": {signature("hunter2", body), signature("hunter2", body)}}, false},
		{"a signature with its algorithm", signed, http.Header{"X-Signature": {"sha256=" + signature("hunter2", body)}}, true},
		{"a signature by another algorithm", signed, http.Header{"X-Signature": {"sha1=" + signature("hunter2", body)}}, false},
		{"a signature in base64", signed, http.Header{"X-Signature": {base64.StdEncoding.EncodeToString(raw)}}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := hookOf(t, test.keys)
			var kept []tracking.Event
			h.Keep = func(events []tracking.Event) error { kept = events; return nil }
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			if test.headers != nil {
				r.Header = test.headers
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Code == http.StatusNoContent; got != test.want || (len(kept) == 1) != test.want {
				t.Errorf("HTTP %d, kept %+v; want taken: %v", w.Code, kept, test.want)
			}
			if strings.Contains(w.Body.String(), "hunter2") {
				t.Error("the answer has the secret")
			}
		})
	}
}

func TestWebhookWithoutItsSecret(t *testing.T) {
	env := tracked(t, "webhook: {claim_id: /c, header: X-Token, token: env:NO_SUCH_VARIABLE}")
	if _, err := env.Webhook(t.Context()); err == nil || !strings.Contains(report(t, err), "NO_SUCH_VARIABLE is not set") {
		t.Errorf("%v, want the variable named", err)
	}
	if env.Tracking.Export != nil || !env.Tracks() {
		t.Error("an environment with a webhook only")
	}
}
