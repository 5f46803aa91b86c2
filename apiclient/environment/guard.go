package environment

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
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
		want, got, scheme := g.expected.Header.Get(name), sent(r, name), ""
		if name == "Authorization" {
			scheme = g.scheme()
		}
		_, _, isBasic := r.BasicAuth()
		switch {
		case scheme == "Basic" && !isBasic:
			return fmt.Errorf("the header %s is missing or not Basic: expected a user name and a password", name)
		case scheme == "Basic" && !equal(got, want):
			return errors.New("the user name or the password is wrong")
		case scheme != "" && !strings.HasPrefix(got, scheme+" "):
			return fmt.Errorf("the header %s is missing or not %s", name, scheme)
		case got == "":
			return fmt.Errorf("the header %s is missing, or there twice", name)
		case !equal(got, want):
			return fmt.Errorf("the value of the header %s is wrong", name)
		}
	}
	query := r.URL.Query()
	for name, values := range g.expected.URL.Query() {
		switch got := query[name]; {
		case len(got) != 1:
			return fmt.Errorf("the query parameter %s is missing, or there twice", name)
		case !equal(got[0], values[0]):
			return fmt.Errorf("the value of the query parameter %s is wrong", name)
		}
		query.Del(name)
		r.URL.RawQuery = query.Encode()
	}
	return nil
}

// scheme returns the scheme of the header Authorization that is expected; "" for none, or
// for a key without one.
func (g *Guard) scheme() string {
	for _, scheme := range []string{"Bearer", "Basic"} {
		if strings.HasPrefix(g.expected.Header.Get("Authorization"), scheme+" ") {
			return scheme
		}
	}
	return ""
}

// Challenge returns the WWW-Authenticate header of a refusal; "" for none.
func (g *Guard) Challenge() string {
	if g.scheme() == "Basic" {
		return `Basic realm="sandbox"`
	}
	return g.scheme()
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
	const advice = "give --like a copy of the entry, with base_url: http://127.0.0.1:8080"
	if e.Sandbox {
		return "", problem.New("usage", "--like needs an environment with a base_url, and “%s” is the sandbox inside a run", e.Name).
			Hinted("%s", advice)
	}
	base, _ := url.Parse(e.BaseURL) // it was checked when the file was read
	if base.Scheme != "http" || base.Port() == "" || strings.Trim(base.Path, "/") != "" {
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: its base_url is not http://127.0.0.1 and a port", e.Name).
			Hinted("%s", advice)
	}
	if e.auth.kind == authOAuth2 {
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: it grants no tokens of oauth2", e.Name).
			Hinted("give --like a copy of the entry, with auth: {type: bearer, token: env:REHEARSAL_TOKEN}")
	}
	return base.Host, nil
}
