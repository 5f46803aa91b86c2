package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"
	"claimsheet/apiclient/serve"
)

// C-4 and C-10 of docs/security.md.
func TestC4_ServesThisMachineOnly(t *testing.T) {
	s := open(t, "")
	l := must(serve.Loopback("tcp", "127.0.0.1:0"))(t)
	addr := l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.Until(ctx, l, sandbox.Guard(s, l.Addr())) }()
	_, port, err := net.SplitHostPort(addr)
	noError(t, err)
	for _, c := range []struct {
		name, host, header, value string
		status                    int
		code                      string
	}{
		{"own address", addr, "", "", http.StatusCreated, ""},
		{"localhost", "localhost:" + port, "", "", http.StatusCreated, ""},
		{"same origin", addr, "Origin", "http://" + addr, http.StatusCreated, ""},
		{"foreign host", "evil.test", "", "", http.StatusForbidden, "wrong-host"},
		{"foreign host, own port", "evil.test:" + port, "", "", http.StatusForbidden, "wrong-host"},
		{"other port", "127.0.0.1:1", "", "", http.StatusForbidden, "wrong-host"},
		{"no port", "127.0.0.1", "", "", http.StatusForbidden, "wrong-host"},
		{"foreign origin", addr, "Origin", "http://evil.test", http.StatusForbidden, "cross-origin"},
		{"null origin", addr, "Origin", "null", http.StatusForbidden, "cross-origin"},
		{"cross-site fetch", addr, "Sec-Fetch-Site", "cross-site", http.StatusForbidden, "cross-origin"},
	} {
		r := must(http.NewRequest("POST", "http://"+addr+v2+"/contacts", strings.NewReader(`{"a":1}`)))(t)
		r.Host = c.host
		r.Header.Set("Content-Type", "application/json")
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		held := len(s.Snapshot().Clients)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.status || !strings.Contains(string(body), c.code) {
			t.Errorf("%s: %d %s (%v), want %d %s", c.name, answer.StatusCode, body, err, c.status, c.code)
		}
		for name := range answer.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: CORS header %s", c.name, name)
			}
		}
		if created := len(s.Snapshot().Clients) > held; created != (c.status == http.StatusCreated) {
			t.Errorf("%s: created: %t", c.name, created)
		}
	}
	for host, status := range map[string]int{addr: http.StatusOK, "evil.test": http.StatusForbidden} { // of a page
		r := must(http.NewRequest("GET", "http://"+addr+s.Dashboard(), nil))(t)
		r.Host = host
		answer := must(http.DefaultTransport.RoundTrip(r))(t)
		if answer.Body.Close(); answer.StatusCode != status {
			t.Errorf("the dashboard, Host %s: %d, want %d", host, answer.StatusCode, status)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Until: %v", err)
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("still listening after Until has returned")
	}
}

// decode returns an answer's fields; none if it has none.
func decode(w *httptest.ResponseRecorder) map[string]string {
	var fields map[string]string
	if json.Unmarshal(w.Body.Bytes(), &fields) != nil {
		return nil
	}
	return fields
}
