package environment

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// Guard returns the service's side of auth and headers: a check that requests carry what they add, so that the
// sandbox can rehearse an environment, and the WWW-Authenticate header of a refusal, "" for none. The check repeats no
// credentials. It takes a key in the query away from the request, because the service knows no such parameter. The error
// is a problem.List.
func (e *Environment) Guard(ctx context.Context) (check func(*http.Request) error, challenge string, err error) {
	cfg, err := e.Config(ctx, apiclient.V2)
	if err != nil {
		return nil, "", err
	}
	expected := &http.Request{URL: new(url.URL), Header: cfg.Headers}
	if cfg.Authorize != nil {
		if err := cfg.Authorize(ctx, expected); err != nil {
			return nil, "", err
		}
	}
	scheme, _, _ := strings.Cut(expected.Header.Get("Authorization"), " ")
	challenge = map[string]string{"Bearer": "Bearer", "Basic": `Basic realm="sandbox"`}[scheme]
	return func(r *http.Request) error {
		for _, name := range slices.Sorted(maps.Keys(expected.Header)) {
			if !equal(sent(r, name), expected.Header.Get(name)) {
				return fmt.Errorf("the header %s is missing, there twice or wrong", name)
			}
		}
		query := r.URL.Query()
		for name, want := range expected.URL.Query() {
			if got := query[name]; len(got) != 1 || !equal(got[0], want[0]) {
				return fmt.Errorf("the query parameter %s is missing, there twice or wrong", name)
			}
			query.Del(name)
			r.URL.RawQuery = query.Encode()
		}
		return nil
	}, challenge, nil
}

// sent returns the value of a header that a request has once; "" for any other.
func sent(r *http.Request, name string) string {
	if values := r.Header.Values(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

// equal compares secrets, in the same time whatever they are.
func equal(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// RehearsalAddress returns the address, host and port, at which the sandbox can be the
// service of the environment. The error is a problem.Problem: it cannot.
func (e *Environment) RehearsalAddress() (string, error) {
	base, _ := url.Parse(e.BaseURL) // it was checked when the file was read
	if e.Sandbox || base.Scheme != "http" || base.Port() == "" || strings.Trim(base.Path, "/") != "" || e.auth.kind == authOAuth2 {
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: it needs a base_url of http://127.0.0.1 and a port, and another auth than oauth2", e.Name).
			Hinted("give --like a copy of the entry, with base_url: http://127.0.0.1:8080, for example, and auth: {type: bearer, token: env:REHEARSAL_TOKEN}")
	}
	return base.Host, nil
}
