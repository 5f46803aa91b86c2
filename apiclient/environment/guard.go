package environment

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"claimsheet/mapping/problem"
)

// Guard is the service's side of an environment's auth and headers: it checks that
// requests carry what they add. The sandbox uses it, so that an environment can be
// rehearsed. It is safe for concurrent use.
type Guard struct {
	checks []func(*http.Request) error
	scheme string // of Authorization; "" when nothing is expected there
}

// Guard fetches the secrets of auth and headers. nil means that requests of this
// environment carry neither. The error is a problem.List.
func (e *Environment) Guard(ctx context.Context) (*Guard, error) {
	r := &resolver{ctx: ctx, dir: e.dir, file: e.where.File}
	g := &Guard{}
	for _, ref := range e.headers {
		g.checks = append(g.checks, carries(ref.key, "", r.secret(ref)))
	}
	e.auth.guard(g, r)
	if err := r.problems.Err(); err != nil || len(g.checks) == 0 {
		return nil, err
	}
	return g, nil
}

// guard adds the check of the credentials.
func (c credentials) guard(g *Guard, r *resolver) {
	switch c.kind {
	case authBearer:
		g.scheme = "Bearer"
		g.checks = append(g.checks, carries("Authorization", "Bearer", r.secret(c.token)))
	case authAPIKey:
		if c.query != "" {
			g.checks = append(g.checks, takesQuery(c.query, r.secret(c.key)))
			return
		}
		g.checks = append(g.checks, carries(c.header, "", r.secret(c.key)))
	case authBasic:
		username, password := r.secret(c.username), r.secret(c.password)
		r.refuseColon(c.username, username)
		g.scheme = "Basic"
		g.checks = append(g.checks, func(r *http.Request) error {
			name, word, ok := r.BasicAuth()
			if !ok {
				return errors.New("the header Authorization is missing or not Basic: expected a user name and a password")
			}
			if !equal(name+":"+word, username.Reveal()+":"+password.Reveal()) {
				return errors.New("the user name or the password is wrong")
			}
			return nil
		})
	}
}

// Check returns what is wrong with a request's credentials; it repeats none of them.
// It takes a key in the query away from the request.
func (g *Guard) Check(r *http.Request) error {
	for _, check := range g.checks {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// Challenge returns the WWW-Authenticate header of a refusal; "" for none.
func (g *Guard) Challenge() string {
	if g.scheme == "Basic" {
		return `Basic realm="sandbox"`
	}
	return g.scheme
}

// equal compares secrets, in the same time whatever they are.
func equal(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// carries requires a header, once: the value behind a scheme, or the value alone.
func carries(name, scheme string, value Secret) func(*http.Request) error {
	return func(r *http.Request) error {
		got := r.Header.Values(name)
		word, found := "", len(got) == 1
		if found && scheme != "" {
			word, found = strings.CutPrefix(got[0], scheme+" ")
		} else if found {
			word = got[0]
		}
		switch {
		case !found && scheme != "":
			return fmt.Errorf("the header %s is missing or not %s", name, scheme)
		case !found:
			return fmt.Errorf("the header %s is missing, or there twice", name)
		case !equal(word, value.Reveal()):
			return fmt.Errorf("the value of the header %s is wrong", name)
		}
		return nil
	}
}

// takesQuery requires a query parameter, once, and takes it away: the service knows no
// such parameter.
func takesQuery(name string, value Secret) func(*http.Request) error {
	return func(r *http.Request) error {
		var got, rest []string
		for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
			if word, is := strings.CutPrefix(pair, name+"="); is {
				got = append(got, word)
			} else if pair != "" {
				rest = append(rest, pair)
			}
		}
		if len(got) != 1 {
			return fmt.Errorf("the query parameter %s is missing, or there twice", name)
		}
		if word, err := url.QueryUnescape(got[0]); err != nil || !equal(word, value.Reveal()) {
			return fmt.Errorf("the value of the query parameter %s is wrong", name)
		}
		r.URL.RawQuery = strings.Join(rest, "&")
		return nil
	}
}

// RehearsalAddress returns the address, host and port, at which the sandbox can be the
// service of the environment. The error is a problem.Problem: it cannot.
func (e *Environment) RehearsalAddress() (string, error) {
	const advice = "give --like a copy of the entry, with base_url: http://127.0.0.1:8080"
	if e.Sandbox {
		return "", problem.New("usage", "--like needs an environment with a base_url, and “%s” is the sandbox inside a run", e.Name).Hinted("%s", advice)
	}
	base, _ := url.Parse(e.BaseURL) // it was checked when the file was read
	if base.Scheme != "http" || base.Port() == "" || strings.Trim(base.Path, "/") != "" {
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: its base_url is not http://127.0.0.1 and a port", e.Name).Hinted("%s", advice)
	}
	if e.auth.kind == authOAuth2 {
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: it grants no tokens of oauth2", e.Name).
			Hinted("give --like a copy of the entry, with auth: {type: bearer, token: env:REHEARSAL_TOKEN}")
	}
	return base.Host, nil
}
