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

// listen serves s until the test ends or the returned function is called, which
// returns the result of Serve.
func listen(t *testing.T, s *sandbox.Service) (addr string, stop func() error) {
	t.Helper()
	l := must(serve.Loopback("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve.Until(ctx, l, sandbox.Guard(s, l.Addr())) }()
	t.Cleanup(cancel)
	return l.Addr().String(), func() error { cancel(); return <-ended }
}

// C-4 of docs/security.md.
func TestC4_ServesThisMachineOnly(t *testing.T) {
	s := open(t, "")
	addr, stop := listen(t, s)
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
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("still listening after Serve has returned")
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
