package environment_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
)

// guardedBy serves a service that only requests with the environment's credentials
// reach, and returns the environment at its address.
func guardedBy(t *testing.T, keys string) (*environment.Environment, *httptest.Server) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "secret", canary)
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String()
	e := only(t, dir, keys)
	e.BaseURL = base
	g, err := e.Guard(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := g.Check(r); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "%v", err)
			return
		}
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != `{"email":"jane@example.com"}` || r.URL.RawQuery != "isAdministrator=true" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, `{"contactId":"c-1"}`)
	})
	server.Start()
	t.Cleanup(server.Close)
	return e, server
}

// TestGuard: a guard admits the client of the same environment and no other, and says
// what is wrong without the credentials.
func TestGuard(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, keys, spoil, says string }{
		{"bearer", "    auth: {type: bearer, token: \"file:secret\"}\n", "Authorization", "the value of the header Authorization is wrong"},
		{"basic", "    auth: {type: basic, username: intake, password: \"file:secret\"}\n", "Authorization", "the value of the header Authorization is wrong"},
		{"key", "    auth: {type: api_key, header: X-Key, key: \"file:secret\"}\n", "X-Key", "the value of the header X-Key is wrong"},
		{"query", "    auth: {type: api_key, query: api-key, key: \"file:secret\"}\n", "?", "the value of the query parameter api-key is wrong"},
		{"headers", "    headers: {X-Tenant: acme, X-Secret: \"file:secret\"}\n", "X-Secret", "the value of the header X-Secret is wrong"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e, server := guardedBy(t, test.keys)
			if address, err := e.RehearsalAddress(); "http://"+address != server.URL || err != nil {
				t.Errorf("the sandbox listens at %s (%v), not at %s", address, err, server.URL)
			}
			cfg, err := e.Config(t.Context(), apiclient.V2)
			if err != nil {
				t.Fatal(err)
			}
			c, err := apiclient.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if v := create(t.Context(), c); v.Status != http.StatusOK {
				t.Fatalf("the client of the environment got %+v", v)
			}
			for spoilt, want := range map[bool]string{false: "", true: test.says} {
				text := spoiltAnswer(t, cfg, server.URL, test.spoil, spoilt)
				if spoilt && text != want || !spoilt && text != `{"contactId":"c-1"}` || strings.Contains(text, canary) {
					t.Errorf("spoilt %v: %s", spoilt, text)
				}
			}
		})
	}
}

// spoiltAnswer sends a request with the credentials of cfg, one of them spoilt if
// asked for, and returns the text of the answer.
func spoiltAnswer(t *testing.T, cfg apiclient.Config, url, what string, spoil bool) string {
	t.Helper()
	body := `{"email":"jane@example.com"}`
	req, err := http.NewRequest(http.MethodPost, url+"/funnel/v2/contacts?isAdministrator=true", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range cfg.Headers {
		req.Header[name] = values
	}
	if cfg.Authorize != nil {
		if err := cfg.Authorize(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case spoil && what == "?":
		req.URL.RawQuery += "x"
	case spoil && strings.HasPrefix(req.Header.Get(what), "Basic"):
		req.Header.Set(what, "Basic ?")
	case spoil:
		req.Header.Set(what, req.Header.Get(what)+"x")
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGuardWithAnotherSecret: a client with another secret gets nothing, with any kind
// of credentials.
func TestGuardWithAnotherSecret(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{
		"    auth: {type: bearer, token: \"file:secret\"}\n",
		"    auth: {type: basic, username: intake, password: \"file:secret\"}\n",
	} {
		e, _ := guardedBy(t, keys)
		dir := t.TempDir()
		write(t, dir, "secret", "another secret")
		other := only(t, dir, keys)
		other.BaseURL = e.BaseURL
		cfg, err := other.Config(t.Context(), apiclient.V2)
		if err != nil {
			t.Fatal(err)
		}
		c, err := apiclient.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if v := create(t.Context(), c); v.ID != "" {
			t.Errorf("%s: created: %+v", keys, v)
		}
	}
}

// TestRehearsalAddress: the sandbox is not taken for a service that it cannot be.
func TestRehearsalAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ baseURL, keys, says string }{
		{"https://uat.example.com", "", "its base_url is not http://127.0.0.1 and a port"},
		{"http://127.0.0.1:8080/api", "", "its base_url is not http://127.0.0.1 and a port"},
		{"http://localhost", "", "its base_url is not http://127.0.0.1 and a port"},
		{"http://127.0.0.1:8080", "    auth: {type: oauth2, token_url: \"http://127.0.0.1:8081/token\", client_id: me, client_secret: \"env:S\"}", "it grants no tokens of oauth2"},
	} {
		e := only(t, t.TempDir(), test.keys)
		e.BaseURL = test.baseURL
		if address, err := e.RehearsalAddress(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s, %s: %s, %v", test.baseURL, test.keys, address, err)
		}
	}
}
