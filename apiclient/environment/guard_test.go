package environment_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient"
)

// TestGuard: a guard admits a request with the credentials of its environment and no other,
// says what is wrong without repeating them, and takes a key from the query.
func TestGuard(t *testing.T) {
	t.Parallel()
	for keys, test := range map[string]struct{ header, says string }{
		"auth: {type: bearer, token: 'file:secret'}":                     {"Authorization", "the header Authorization is missing, there twice or wrong"},
		"auth: {type: basic, username: jo, password: 'file:secret'}":     {"Authorization", "the header Authorization is missing, there twice or wrong"},
		"auth: {type: api_key, header: X-Key, key: 'file:secret'}":       {"X-Key", "the header X-Key is missing, there twice or wrong"},
		"auth: {type: api_key, query: api-key, key: 'file:secret'}":      {"", "the query parameter api-key is missing, there twice or wrong"},
		"headers: {X-Tenant: acme, X-Secret: 'file:secret'}":             {"X-Secret", "the header X-Secret is missing, there twice or wrong"},
		"auth: {type: api_key, header: authorization, key: file:secret}": {"Authorization", "the header Authorization is missing, there twice or wrong"},
	} {
		dir := t.TempDir()
		write(t, dir, "secret", canary)
		e := only(t, dir, "    "+keys+"\n")
		check := must(e.Guard(t.Context()))(t)
		cfg := must(e.Config(t.Context(), apiclient.V2))(t)
		request := func(spoil func(*http.Request)) *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/funnel/v2/contacts", nil)
			r.Header = cfg.Headers.Clone()
			noError(t, cfg.Authorize(t.Context(), r))
			r.URL.RawQuery = strings.Trim("isAdministrator=true&"+r.URL.RawQuery, "&")
			spoil(r)
			return r
		}
		r := request(func(*http.Request) {})
		err := check(r)
		if err != nil || r.URL.RawQuery != "isAdministrator=true" {
			t.Errorf("%s: %v, and the query is %s", keys, err, r.URL.RawQuery)
		}
		err = check(request(func(r *http.Request) {
			if test.header == "" {
				r.URL.RawQuery += "x"
			} else {
				r.Header.Set(test.header, r.Header.Get(test.header)+"x")
			}
		}))
		if err == nil || err.Error() != test.says {
			t.Errorf("%s: another secret: %v", keys, err)
		}
		for name, spoil := range map[string]func(*http.Request){
			"none": func(r *http.Request) { r.Header, r.URL.RawQuery = http.Header{}, "" },
			"two":  func(r *http.Request) { r.Header.Add(test.header, "x"); r.URL.RawQuery += "&api-key=x" },
		} {
			if err := check(request(spoil)); err == nil || !strings.Contains(err.Error(), "is missing, there twice or wrong") {
				t.Errorf("%s: %s: %v", keys, name, err)
			}
		}
	}
}

// TestRehearsalAddress: the sandbox is not taken for a service that it cannot be.
func TestRehearsalAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ baseURL, keys, says string }{
		{"https://uat.example.com", "", "it needs a base_url of http://127.0.0.1 and a port"},
		{"http://127.0.0.1:8080/api", "", "it needs a base_url of http://127.0.0.1 and a port"},
		{"http://localhost", "", "it needs a base_url of http://127.0.0.1 and a port"},
		{"http://127.0.0.1:8080", "    auth: {type: oauth2, token_url: \"http://127.0.0.1:8081/token\", client_id: me, client_secret: \"env:S\"}", "another auth than oauth2"},
		{"http://127.0.0.1:8080", "", ""},
	} {
		e := only(t, t.TempDir(), test.keys)
		e.BaseURL = test.baseURL
		address, err := e.RehearsalAddress()
		if test.says == "" && address != "127.0.0.1:8080" || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s, %s: %s, %v", test.baseURL, test.keys, address, err)
		}
	}
}
