package environment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// The ways to authenticate. The service document shows none (section "Authentication"), so the common ones are offered.
const (
	authNone   = "none"
	authBearer = "bearer"
	authAPIKey = "api_key"
	authBasic  = "basic"
	authOAuth2 = "oauth2"
)

// credentials is the auth section. Only what belongs to kind is set.
type credentials struct {
	kind               string // "" means authNone
	token              reference
	header, query      string // one of the two
	key                reference
	username, password reference
	tokenURL           string
	clientID           reference
	clientSecret       reference
	scopes             []string
	style              string // header or params
}

func authKeys(k *yamltree.Keys, c *credentials) {
	yamltree.To(k, "type", &c.kind, yamltree.OneOf(authNone, authBearer, authAPIKey, authBasic, authOAuth2),
		"none (default), bearer, api_key, basic or oauth2 (client credentials)").Required()
	yamltree.To(k, "token", &c.token, secretReference, "bearer: the token; "+referenceForms)
	yamltree.To(k, "header", &c.header, authHeader, "api_key: the header that carries the key")
	yamltree.To(k, "query", &c.query, authQuery, "api_key: the query parameter that carries the key; servers may log it")
	yamltree.To(k, "key", &c.key, secretReference, "api_key: the key; "+referenceForms)
	yamltree.To(k, "username", &c.username, openReference, "basic: the user's name; may be a secret")
	yamltree.To(k, "password", &c.password, secretReference, "basic: the password; "+referenceForms)
	yamltree.To(k, "token_url", &c.tokenURL, tokenURL, "oauth2: the token endpoint; https, or http to this machine")
	yamltree.To(k, "client_id", &c.clientID, openReference, "oauth2: the client's id; may be a secret")
	yamltree.To(k, "client_secret", &c.clientSecret, secretReference, "oauth2: the client's secret; "+referenceForms)
	yamltree.To(k, "scopes", &c.scopes, yamltree.List(yamltree.Text), "oauth2: the scopes to ask for; default: none")
	yamltree.To(k, "style", &c.style, yamltree.OneOf("header", "params"), "oauth2: where id and secret are sent: header (default) or params")
}

// keysOfAuth are the keys that each type needs, and those that it may have. api_key has either header or query.
var keysOfAuth = map[string]struct{ needs, optional []string }{
	authNone:   {},
	authBearer: {needs: []string{"token"}},
	authAPIKey: {needs: []string{"key"}, optional: []string{"header", "query"}},
	authBasic:  {needs: []string{"username", "password"}},
	authOAuth2: {needs: []string{"token_url", "client_id", "client_secret"}, optional: []string{"scopes", "style"}},
}

// checkAuth compares the keys given with those that the type takes.
func checkAuth(r *yamltree.Reader, n *yamltree.Node, c *credentials) {
	keys, known := keysOfAuth[c.kind]
	if !known {
		return
	}
	takes := slices.Concat(keys.needs, keys.optional)
	var all yamltree.Keys
	authKeys(&all, c)
	for _, k := range all[1:] { // the first is the type
		switch v := n.Given(k.Name); {
		case v != nil && !slices.Contains(takes, k.Name):
			r.WrongAt(v.KeyAt(), "auth-key", "“%s” does not go with auth type %s", k.Name, c.kind).
				Hint = "expected " + cmp.Or(problem.OrList(takes), "no other key")
		case v == nil && slices.Contains(keys.needs, k.Name):
			_, meaning, _ := strings.Cut(k.Doc, ": ")
			r.Wrong(n, "missing-key", "auth type %s needs “%s”", c.kind, k.Name).Hint = meaning
		}
	}
	header, query := n.Given("header"), n.Given("query")
	switch {
	case c.kind == authAPIKey && header == nil && query == nil:
		r.Wrong(n, "missing-key", "auth type %s needs “header” or “query”", c.kind).Hint = "say where the service expects the key"
	case c.kind == authAPIKey && header != nil && query != nil:
		r.WrongAt(query.KeyAt(), "auth-key", "“header” and “query” are both given; auth type %s takes one of them", c.kind).
			Hint = "keep the one that the service expects"
	}
}

const headerHint = "use letters, digits and hyphens"

var (
	// headerName is a token of RFC 9110, section 5.6.2.
	headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	// secretName matches the names of headers that most likely hold a secret.
	secretName = regexp.MustCompile(`(?i)(^|[-_])(api)?(key|token|secret|password|cookie)$`)
)

// refusedHeaders are set by this program or by HTTP itself, and why that must stay so.
var refusedHeaders = map[string]string{
	"Authorization":       "it belongs to “auth”",
	"Proxy-Authorization": "it would give a proxy's credentials to the service",
	"Idempotency-Key":     replayReason,
	"X-Idempotency-Key":   replayReason,
	"Host":                "it follows from “base_url”",
	"Content-Length":      "it follows from the body",
	"Content-Type":        "bodies are always JSON",
	"Transfer-Encoding":   "it follows from the body",
	"Connection":          "it belongs to the connection, not to the request",
}

// Go's HTTP transport takes these headers as the service's promise to be
// idempotent, and sends a POST again when a connection breaks. The service
// document makes no such promise.
const replayReason = "it makes requests be sent twice, and the service does not promise to notice"

// headers are the headers of every request; the key of each is its name.
var headers = yamltree.Value[[]reference]{
	Kinds: yamltree.Objects, Wants: yamltree.WantsObject, Schema: yamltree.Map(yamltree.Text).Schema,
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *[]reference) bool {
		for _, v := range r.Pairs(n) {
			name := http.CanonicalHeaderKey(v.Key())
			if !headerName.MatchString(v.Key()) {
				r.WrongAt(v.KeyAt(), "header-name", "%s cannot be the name of a header", v.Name()).
					Hint = headerHint
				continue
			}
			if why, refused := refusedHeaders[name]; refused {
				r.WrongAt(v.KeyAt(), "refused-header", "the header “%s” cannot be set: %s", name, why)
				continue
			}
			value := openReference
			if secretName.MatchString(name) {
				value = secretReference
			}
			ref := reference{}
			value.Read(r, v, &ref)
			ref.key = name
			*into = append(*into, ref)
		}
		return true
	},
}

// authHeader is the header that carries an API key. It may be Authorization, which some services use with a bare key.
var authHeader = matching("header-name", "a text", yamltree.Text.Schema, headerName.String(), "the name of a header", headerHint).
	Then(func(r *yamltree.Reader, n *yamltree.Node, name *string) {
		*name = http.CanonicalHeaderKey(*name)
		if why, refused := refusedHeaders[*name]; refused && *name != "Authorization" {
			r.Wrong(n, "refused-header", "the header “%s” cannot be set: %s", *name, why)
		}
	})

// authQuery is the query parameter that carries an API key; it needs no escaping.
var authQuery = matching("query-name", "a text", yamltree.Text.Schema, `^[A-Za-z0-9._~-]+$`, "the name of a query parameter", "use letters, digits, dots, hyphens and underscores")

// authenticate fetches the credentials. Config.Headers get what may be seen; Authorize adds
// what is secret, so that a Config can be printed. Authorize stays nil when there is
// nothing.
func (e *Environment) authenticate(r *resolver, cfg *apiclient.Config) {
	carried := &http.Request{URL: new(url.URL), Header: http.Header{}}
	for _, ref := range e.headers {
		if ref.source == literal {
			cfg.Headers.Set(ref.key, ref.name)
		} else {
			carried.Header.Set(ref.key, r.secret(ref).Reveal())
		}
	}
	var token func(context.Context) (string, error) // nil for none
	switch c := e.auth; c.kind {
	case authBearer:
		carried.Header.Set("Authorization", bearer(r.secret(c.token).Reveal()))
	case authAPIKey:
		key := r.secret(c.key).Reveal()
		if c.query != "" {
			carried.URL.RawQuery = url.Values{c.query: {key}}.Encode()
		} else {
			carried.Header.Set(c.header, key)
		}
	case authBasic:
		username, password := r.login(c.username, c.password)
		carried.SetBasicAuth(username.Reveal(), password.Reveal())
	case authOAuth2:
		token = tokens(c, r.secret(c.clientID), r.secret(c.clientSecret), cfg)
	}
	if len(carried.Header) == 0 && carried.URL.RawQuery == "" && token == nil {
		return
	}
	cfg.Authorize = func(ctx context.Context, req *http.Request) error {
		maps.Copy(req.Header, carried.Header.Clone())
		req.URL.RawQuery = carried.URL.RawQuery
		if token == nil {
			return nil
		}
		text, err := token(ctx)
		if err == nil {
			req.Header.Set("Authorization", bearer(text))
		}
		return err
	}
}

func bearer(token string) string { return "Bearer " + token }

// Guard returns the service's side of auth and headers: a check that requests carry what they add, so that the
// sandbox can rehearse an environment. The check repeats no credentials. It takes a key in the query away from the
// request, because the service knows no such parameter. The error joins problems.
func (e *Environment) Guard(ctx context.Context) (check func(*http.Request) error, err error) {
	cfg, err := e.Config(ctx, apiclient.V2)
	if err != nil {
		return nil, err
	}
	expected := &http.Request{URL: new(url.URL), Header: cfg.Headers}
	if cfg.Authorize != nil {
		if err := cfg.Authorize(ctx, expected); err != nil {
			return nil, err
		}
	}
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
	}, nil
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
