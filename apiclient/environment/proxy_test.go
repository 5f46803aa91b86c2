package environment_test

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/mapping/problem"
)

// Tokens are fetched through the environment's proxy too, with its credentials. A
// proxy that refuses proves that neither was sent.
func TestTokensThroughAProxy(t *testing.T) {
	t.Setenv("CANARY", canary)
	service := &guarded{Server: apitest.New()}
	service.accepts = func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer token-1" }
	tokens := &tokenServer{answer: lasting(3600)}
	// The certificate of httptest is for example.com.
	serviceTLS, tokensTLS := httptest.NewTLSServer(service), httptest.NewTLSServer(tokens)
	t.Cleanup(serviceTLS.Close)
	t.Cleanup(tokensTLS.Close)
	refuse := ""
	proxy := apitest.StartProxy(t, func(r *http.Request) string {
		if r.RequestURI == "example.com:443" {
			return refuse
		}
		return ""
	})
	proxy.Route = map[string]string{"example.com:443": tokensTLS.Listener.Addr().String(), "example.com:8443": serviceTLS.Listener.Addr().String()}
	dir := t.TempDir()
	write(t, dir, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serviceTLS.Certificate().Raw})))
	keys := "    auth: {type: oauth2, token_url: 'https://example.com/token', client_id: me, client_secret: env:CANARY}\n" +
		"    tls: {ca: ca.pem}\n    proxy: {url: " + proxy.URL + ", username: intake, password: env:CANARY}\n"
	c := connect(t, dir, "https://example.com:8443", keys)
	for range 2 { // over one tunnel
		if v := create(t.Context(), c); v.Effect != apiclient.Created {
			t.Errorf("%+v", v)
		}
	}
	basic := " Basic " + base64.StdEncoding.EncodeToString([]byte("intake:"+canary))
	same(t, "the proxy was asked", []string{"CONNECT example.com:443" + basic, "CONNECT example.com:8443" + basic}, proxy.Asked())

	refuse = "HTTP/1.1 403 Forbidden\r\n\r\n"
	v := create(t.Context(), connect(t, dir, "https://example.com:8443", keys))
	if v.Effect != apiclient.NotSent || !v.Stop || v.Reason != "the token endpoint cannot be reached: the proxy does not open a connection: HTTP 403 Forbidden" ||
		!strings.Contains(v.Hint, "proxy") || len(service.Calls()) != 2 {
		t.Errorf("%+v", v)
	}

	refuse = "HTTP/1.1 502 Bad Gateway\r\n\r\n"
	_, err := connect(t, dir, "https://example.com:8443", keys).Find(t.Context(), apiclient.ByEmail, "jane@example.com")
	if f, ok := errors.AsType[*apiclient.Failure](err); !ok || !f.NotSent || f.Stop || f.Retry != apiclient.Now {
		t.Errorf("a proxy that may recover: %+v", err)
	}
}

// A token endpoint on this machine is not reached through the proxy, which could read the
// secret where the endpoint speaks http.
func TestTokensOfThisMachinePastTheProxy(t *testing.T) {
	t.Setenv("CANARY", canary)
	proxy := apitest.StartProxy(t, nil)
	tokens := serve(t, &tokenServer{answer: lasting(3600)})
	cfg := must(only(t, t.TempDir(), "    auth: {type: oauth2, token_url: '"+tokens.URL+"', client_id: me, client_secret: env:CANARY}\n"+
		"    proxy: "+proxy.URL+"\n").Config(t.Context(), apiclient.V2))(t)
	same(t, "headers", http.Header{"Authorization": {"Bearer token-1"}}, sent(t, cfg))
	if asked := proxy.Asked(); len(asked) > 0 {
		t.Errorf("the proxy was asked: %q", asked)
	}
}

// The proxy's credentials are secrets: they are read by Config, hidden in what the
// service answers, and listed.
func TestProxyCredentials(t *testing.T) {
	t.Setenv("CANARY", canary)
	const keys = "    proxy: {url: 'http://proxy.example.com:3128', username: intake, password: env:CANARY}\n"
	e := only(t, t.TempDir(), keys)
	same(t, "secrets", []string{"password (env:CANARY)"}, e.Secrets())
	cfg := must(e.Config(t.Context(), apiclient.V2))(t)
	if name, password := cfg.Proxy.Credentials(); name != "intake" || password != canary || cfg.Proxy.URL != "http://proxy.example.com:3128" {
		t.Errorf("%s, %s, %+v", name, password, cfg.Proxy)
	}
	same(t, "what is hidden", []string{canary}, cfg.Secrets())
	t.Setenv("CANARY", "")
	t.Setenv("NAME", "a:b")
	_, err := only(t, t.TempDir(), strings.Replace(keys, "intake", "env:NAME", 1)).Config(t.Context(), apiclient.V2)
	var list problem.List
	if list.Collect(err) != nil || len(list) != 2 || list[0].Where.Line != 4 ||
		!strings.Contains(err.Error(), "“username”: it has a colon") || !strings.Contains(err.Error(), "CANARY is empty") {
		t.Errorf("%v", err)
	}
}
