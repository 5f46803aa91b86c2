package environment_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

// guarded is a service that refuses requests without the right credentials.
type guarded struct {
	*apitest.Server
	accepts func(r *http.Request) bool
	refused int
}

func (s *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.accepts(r) {
		s.refused++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	query := r.URL.Query()
	query.Del("api-key")
	r.URL.RawQuery = query.Encode()
	s.Server.ServeHTTP(w, r)
}

// connect makes a client of an entry with these keys.
func connect(t *testing.T, dir, url, keys string) *apiclient.Client {
	t.Helper()
	e := only(t, dir, keys)
	e.BaseURL = must(apiclient.NormaliseBaseURL(url))(t)
	return must(apiclient.New(must(e.Config(t.Context(), apiclient.V2))(t)))(t)
}

func create(ctx context.Context, c *apiclient.Client) apiclient.Verdict {
	return c.Create(ctx, c.Routes().CreateClient([]byte(`{"email":"jane@example.com"}`), true))
}

// Every kind of authentication works over every kind of connection. A wrong secret
// gets one 401, which stops the run.
func TestEveryKindOfAuthOverEveryConnection(t *testing.T) {
	a := newAuthority(t)
	dir := t.TempDir()
	cert, key := a.issue(t)
	write(t, dir, "client.pem", cert)
	write(t, dir, "client.key", key)
	write(t, dir, "ca.pem", a.pem())

	is := func(name, value string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Header.Get(name) == value }
	}
	kinds := map[string]struct {
		keys    string // %s is the token endpoint
		accepts func(*http.Request) bool
	}{
		"none":         {"type: none", func(r *http.Request) bool { return r.Header.Get("Authorization") == "" }},
		"bearer":       {"type: bearer, token: env:CANARY", is("Authorization", "Bearer "+canary)},
		"api key":      {"type: api_key, header: X-Api-Key, key: env:CANARY", is("X-Api-Key", canary)},
		"bare api key": {"type: api_key, header: Authorization, key: env:CANARY", is("Authorization", canary)},
		"key in the query": {"type: api_key, query: api-key, key: env:CANARY", func(r *http.Request) bool {
			return r.URL.Query().Get("api-key") == canary && r.Header.Get("Authorization") == "" && (r.Method == http.MethodGet || r.URL.Query().Get("isAdministrator") == "true")
		}},
		"basic":         {"type: basic, username: jo, password: env:CANARY", is("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("jo:"+canary)))},
		"oauth2":        {`type: oauth2, token_url: "%s", client_id: me, client_secret: env:CANARY`, is("Authorization", "Bearer token-1")},
		"oauth2 params": {`type: oauth2, token_url: "%s", client_id: me, client_secret: env:CANARY, style: params`, is("Authorization", "Bearer token-1")},
	}
	own := func(t *testing.T, h http.Handler) *httptest.Server { return a.serve(t, h, false) }
	clients := func(t *testing.T, h http.Handler) *httptest.Server { return a.serve(t, h, true) }
	connections := map[string]struct {
		serve func(*testing.T, http.Handler) *httptest.Server
		keys  string
	}{
		"loopback http":      {serve, ""},
		"own authority":      {own, "    tls: {ca: ca.pem}\n"},
		"client certificate": {clients, "    tls: {cert: client.pem, key: client.key, ca: ca.pem}\n"},
		"proxy":              {own, "    tls: {ca: ca.pem}\n    proxy: PROXY\n"},
	}
	for kind, k := range kinds {
		for connection, via := range connections {
			t.Run(kind+"/"+connection, func(t *testing.T) {
				t.Setenv("CANARY", canary)
				service := &guarded{apitest.New(), k.accepts, 0}
				tokens := &tokenServer{answer: lasting(3600)}
				keys := k.keys
				if strings.Contains(keys, `"%s"`) {
					keys = fmt.Sprintf(keys, via.serve(t, tokens).URL+"/token")
				}
				proxy := apitest.StartProxy(t, nil)
				c := connect(t, dir, via.serve(t, service).URL, "    auth: {"+keys+"}\n"+strings.ReplaceAll(via.keys, "PROXY", proxy.URL))
				if _, _, err := c.Templates(t.Context()); err != nil {
					t.Error(err)
				}
				if v := create(t.Context(), c); v.Effect != apiclient.Created {
					t.Errorf("%s, %s", v.Effect, v.Reason)
				}
				service.accepts = func(*http.Request) bool { return false }
				if v := create(t.Context(), c); v.Effect != apiclient.Refused || !v.Stop || v.Status != 401 {
					t.Errorf("refused: %+v", v)
				}
				if service.refused != 1 || len(service.Calls()) != 2 {
					t.Errorf("a refused request was sent %d times, want once; others: %v", service.refused, service.Calls())
				}
				if n := tokens.count.Load(); n > 1 {
					t.Errorf("%d tokens were fetched, want 1", n)
				}
				if used := len(proxy.Asked()) > 0; used != (connection == "proxy") {
					t.Errorf("the proxy was used: %v", used)
				}
			})
		}
	}
}
