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

// Guard is the service's side of an environment's auth and headers: it checks that
// requests carry what they add. The sandbox uses it, so that an environment can be
// rehearsed. It is safe for concurrent use.
type Guard struct{ expected *http.Request }

// Guard fetches the secrets of auth and headers. nil means that requests of this
// environment carry neither. The error is a problem.List.
func (e *Environment) Guard(ctx context.Context) (*Guard, error) {
	cfg, err := e.Config(ctx, apiclient.V2)
	if err != nil {
		return nil, err
	}
	g := &Guard{&http.Request{URL: new(url.URL), Header: cfg.Headers}}
	if cfg.Authorize != nil {
		err = cfg.Authorize(ctx, g.expected)
	}
	if err != nil || len(g.expected.Header) == 0 && g.expected.URL.RawQuery == "" {
		return nil, err
	}
	return g, nil
}

// Check returns what is wrong with a request's credentials; it repeats none of them.
// It takes a key in the query away from the request, because the service knows no such
// parameter.
func (g *Guard) Check(r *http.Request) error {
	for _, name := range slices.Sorted(maps.Keys(g.expected.Header)) {
		if err := compare("header "+name, r.Header.Values(name), g.expected.Header.Get(name)); err != nil {
			return err
		}
	}
	query := r.URL.Query()
	for name, want := range g.expected.URL.Query() {
		if err := compare("query parameter "+name, query[name], want[0]); err != nil {
			return err
		}
		query.Del(name)
		r.URL.RawQuery = query.Encode()
	}
	return nil
}

func compare(what string, got []string, want string) error {
	switch {
	case len(got) != 1:
		return fmt.Errorf("the %s is missing, or there twice", what)
	case !equal(got[0], want):
		return fmt.Errorf("the value of the %s is wrong", what)
	}
	return nil
}

// Challenge returns the WWW-Authenticate header of a refusal; "" for none.
func (g *Guard) Challenge() string {
	scheme, _, _ := strings.Cut(g.expected.Header.Get("Authorization"), " ")
	switch scheme {
	case "Bearer":
		return scheme
	case "Basic":
		return `Basic realm="sandbox"`
	}
	return ""
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
	const advice = "give --like a copy of the entry, with "
	base, _ := url.Parse(e.BaseURL) // it was checked when the file was read
	switch {
	case e.Sandbox:
		return "", problem.New("usage", "--like needs an environment with a base_url, and “%s” is the sandbox inside a run", e.Name).
			Hinted(advice + "base_url: http://127.0.0.1:8080")
	case base.Scheme != "http" || base.Port() == "" || strings.Trim(base.Path, "/") != "":
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: its base_url is not http://127.0.0.1 and a port", e.Name).
			Hinted(advice + "base_url: http://127.0.0.1:8080")
	case e.auth.kind == authOAuth2:
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: it grants no tokens of oauth2", e.Name).
			Hinted(advice + "auth: {type: bearer, token: env:REHEARSAL_TOKEN}")
	}
	return base.Host, nil
}
