package environment

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"

	"claimsheet/mapping/problem"
)

// authorize puts credentials on a request; see apiclient.Config.Authorize.
type authorize func(ctx context.Context, req *http.Request) error

// resolver fetches secrets and collects what is wrong with them.
type resolver struct {
	ctx      context.Context
	dir      string
	problems problem.List
	secrets  []Secret // all that were fetched from elsewhere
}

// secret fetches a secret; the empty one when it cannot be had.
func (r *resolver) secret(ref reference) Secret {
	value, err := ref.resolve(r.ctx, r.dir)
	if err != nil {
		r.note(problem.At(ref.where, "secret", "“%s”: %s", ref.key, err))
	}
	secret := NewSecret(value)
	if ref.source != literal && err == nil {
		r.secrets = append(r.secrets, secret)
	}
	return secret
}

// reveal is what apiclient.Config.Secrets takes: nil when there are none.
func (r *resolver) reveal() func() []string {
	if len(r.secrets) == 0 {
		return nil
	}
	return func() []string {
		var values []string
		for _, s := range r.secrets {
			values = append(values, s.Reveal())
		}
		return values
	}
}

func (r *resolver) note(problems ...problem.Problem) {
	r.problems = append(r.problems, problems...)
}

// renew replaces credentials that were refused; see apiclient.Config.Renew.
type renew func(ctx context.Context, refused *http.Request) (bool, error)

// authorize resolves the auth section; nil when nothing is to be added, or
// nothing can be renewed.
func (c credentials) authorize(r *resolver, tlsConfig *tls.Config) (authorize, renew) {
	switch c.kind {
	case authBearer:
		token := r.secret(c.token)
		return func(_ context.Context, req *http.Request) error {
			req.Header.Set("Authorization", bearer(token.Reveal()))
			return nil
		}, nil
	case authAPIKey:
		return setHeader(c.header, r.secret(c.key)), nil
	case authBasic:
		username, password := r.secret(c.username), r.secret(c.password)
		if strings.Contains(username.Reveal(), ":") {
			r.note(problem.At(c.username.where, "secret", "“username”: it has a colon inside, which basic authentication cannot send"))
		}
		return func(_ context.Context, req *http.Request) error {
			req.SetBasicAuth(username.Reveal(), password.Reveal())
			return nil
		}, nil
	case authOAuth2:
		cache := newTokenCache(c, r.secret(c.clientID), r.secret(c.clientSecret), tlsConfig)
		return cache.authorize, cache.again
	}
	return nil, nil
}

func setHeader(name string, value Secret) authorize {
	return func(_ context.Context, req *http.Request) error {
		req.Header.Set(name, value.Reveal())
		return nil
	}
}

// splitHeaders tells the headers that may be seen from those that hold secrets.
// The latter go the way of credentials, so that a Config can be printed.
func splitHeaders(r *resolver, refs []reference) (plain http.Header, secret []authorize) {
	plain = http.Header{}
	for _, ref := range refs {
		if ref.source == literal {
			plain.Set(ref.key, ref.name)
			continue
		}
		secret = append(secret, setHeader(ref.key, r.secret(ref)))
	}
	return plain, secret
}

// all runs every step in order, and is nil when there is none.
func all(steps []authorize) func(context.Context, *http.Request) error {
	if len(steps) == 0 {
		return nil
	}
	return func(ctx context.Context, req *http.Request) error {
		for _, step := range steps {
			if err := step(ctx, req); err != nil {
				return err
			}
		}
		return nil
	}
}
