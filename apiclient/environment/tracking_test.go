package environment_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
	h, err := tracked(t, "webhook: {client_id: /c, kind: /k, "+keys+"}").Webhook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	const signed = "header: X-Signature, secret: env:HOOK, algorithm: sha256, encoding: hex"
	const prefixed = signed + ", value: \"sha256={signature}\", message: \"{header:X-Time}.{body}\""
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
		{"a signature of a header and the body", prefixed, http.Header{"X-Time": {"5"}, "X-Signature": {"sha256=" + signature("hunter2", "5."+body)}}, true},
		{"another header than was signed", prefixed, http.Header{"X-Time": {"6"}, "X-Signature": {"sha256=" + signature("hunter2", "5."+body)}}, false},
		{"no prefix", prefixed, http.Header{"X-Time": {"5"}, "X-Signature": {signature("hunter2", "5."+body)}}, false},
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
	if _, ok := env.TrackingExport(); ok || !env.Tracks() {
		t.Error("an environment with a webhook only")
	}
}

// TestWebhookSender: what the sandbox posts for an environment, claimsheet listen takes
// for the same environment, and not with another secret.
func TestWebhookSender(t *testing.T) {
	t.Parallel()
	const completed, place = "      completed: {kinds: [done], statuses: [Accepted]}\n", "id: /id, kind: /kind, status: /status, client_id: /data/client, activity: /data/name, time: /at}\n"
	for name, keys := range map[string]string{
		"token":     "    tracking:\n      webhook: {path: /hook, header: X-Token, token: \"file:secret\", " + place + completed,
		"signature": "    tracking:\n      webhook: {path: /hook, header: X-Signature, secret: \"file:secret\", algorithm: sha256, encoding: hex, " + place + completed,
		"signature with a time": "    tracking:\n      webhook: {path: /hook, header: X-Signature, secret: \"file:secret\", algorithm: sha512, encoding: base64, " +
			"message: \"{method} {target} {header:X-At}.{body}\", value: \"at={header:X-At},is={signature}\", " + place + completed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "secret", canary)
			e := only(t, dir, keys)
			hook, err := e.Webhook(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			taken := make(chan tracking.Event, 10)
			hook.Keep = func(events []tracking.Event) error {
				for _, one := range events {
					taken <- one
				}
				return nil
			}
			server := httptest.NewServer(hook)
			defer server.Close()
			other := t.TempDir()
			write(t, other, "secret", "another secret")
			refused := make(chan string, 100)
			for _, from := range []*environment.Environment{only(t, other, keys), e} {
				s, err := from.WebhookSender(t.Context(), server.URL+"/hook")
				if err != nil {
					t.Fatal(err)
				}
				s.Log = func(text string) { refused <- text }
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan int)
				go func() { ended <- s.Run(ctx) }()
				at := time.Date(2026, 4, 1, 10, 0, 0, 0, time.UTC)
				s.Send(tracking.Event{Key: "1", Client: "c", Template: "Sign", At: at})
				if from != e {
					if got := <-refused; !strings.Contains(got, "HTTP 401") {
						t.Errorf("with another secret: %s", got)
					}
				} else if got := <-taken; got.Key != "1" || got.Kind != "done" || got.Status != "Accepted" || got.Client != "c" || got.Template != "Sign" || !got.At.Equal(at) {
					t.Errorf("taken: %+v", got)
				}
				stop()
				<-ended
			}
		})
	}
	if _, err := only(t, t.TempDir(), "    tracking:\n      webhook: {header: X, token: \"env:HOME\", client_id: /a, claim_id: /a/b}\n"+completed).WebhookSender(t.Context(), "http://127.0.0.1"); err == nil || !strings.Contains(err.Error(), "no event can have") {
		t.Errorf("two pointers that exclude each other: %v", err)
	}
}

// TestCheckListener: events leave this machine for nobody.
func TestCheckListener(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{"http://127.0.0.1:8090/hook": true, "http://[::1]:8090": true, "http://localhost:1": true,
		"https://127.0.0.1:8090": false, "http://192.0.2.1/hook": false, "http://127.0.0.1.example.com/": false, "http://me:x@127.0.0.1/": false, "127.0.0.1:8090": false, "": false} {
		if err := environment.CheckListener(url); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
}
