package environment

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"claimsheet/mapping/problem"
)

// Guard is the service's side of an environment's auth and headers: it checks that
// requests carry what they add. The sandbox uses it, so that an environment can be
// rehearsed. It is safe for concurrent use.
type Guard struct {
	checks []func(r *http.Request, body []byte) error
	scheme string // of Authorization; "" when nothing is expected there
	tokens *tokenEndpoint
}

// maxGuarded is how much of a body is read to check a signature. The service takes less.
const maxGuarded = 4 << 20

// Guard fetches the secrets of auth and headers. nil means that requests of this
// environment carry neither. The error is a problem.List.
func (e *Environment) Guard(ctx context.Context) (*Guard, error) {
	r := &resolver{ctx: ctx, dir: e.dir, file: e.where.File}
	g := &Guard{}
	for _, ref := range e.headers {
		g.checks = append(g.checks, carries(ref.key, "", r.secret(ref)))
	}
	now := e.Now
	if now == nil {
		now = time.Now
	}
	e.auth.guard(g, r, now)
	if err := r.problems.Err(); err != nil || len(g.checks) == 0 {
		return nil, err
	}
	return g, nil
}

// guard adds the check of the credentials.
func (c credentials) guard(g *Guard, r *resolver, now func() time.Time) {
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
		g.checks = append(g.checks, func(r *http.Request, _ []byte) error {
			name, word, ok := r.BasicAuth()
			if !ok {
				return errors.New("the header Authorization is missing or not Basic: expected a user name and a password")
			}
			if !equal(name+":"+word, username.Reveal()+":"+password.Reveal()) {
				return errors.New("the user name or the password is wrong")
			}
			return nil
		})
	case authOAuth2:
		g.scheme = "Bearer"
		g.tokens = newTokenEndpoint(c, r.secret(c.clientID), r.secret(c.clientSecret), now)
		g.checks = append(g.checks, g.tokens.check)
	case authHMAC:
		g.checks = append(g.checks, signer{c.signature, c.signature.fetchKey(r)}.check)
	}
}

// Check returns what is wrong with a request's credentials; it repeats none of them.
// It takes a key in the query away from the request, and leaves the body to be read
// again.
func (g *Guard) Check(r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxGuarded))
	if err != nil {
		return errors.New("the request could not be read to its end")
	}
	r.Body = readAgain{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	for _, check := range g.checks {
		if err := check(r, body); err != nil {
			return err
		}
	}
	return nil
}

type readAgain struct {
	io.Reader
	io.Closer
}

// Challenge returns the WWW-Authenticate header of a refusal; "" for none.
func (g *Guard) Challenge() string {
	if g.scheme == "Basic" {
		return `Basic realm="sandbox"`
	}
	return g.scheme
}

// WithTokens puts the token endpoint of oauth2, at the path of token_url, in front of
// a service. Without oauth2, and for a nil Guard, it returns the service.
func (g *Guard) WithTokens(service http.Handler) http.Handler {
	if g == nil || g.tokens == nil {
		return service
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == g.tokens.path {
			g.tokens.ServeHTTP(w, r)
			return
		}
		service.ServeHTTP(w, r)
	})
}

// equal compares secrets, in the same time whatever they are.
func equal(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// carries requires a header, once: the value behind a scheme, or the value alone.
func carries(name, scheme string, value Secret) func(*http.Request, []byte) error {
	return func(r *http.Request, _ []byte) error {
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
func takesQuery(name string, value Secret) func(*http.Request, []byte) error {
	return func(r *http.Request, _ []byte) error {
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

// check verifies the signature of a request that was received. Timestamp and nonce are
// those that its headers carry: how old they may be is not described.
func (s signer) check(r *http.Request, body []byte) error {
	received := *r.URL
	received.Scheme = "http"
	one := &signing{req: &http.Request{Method: r.Method, Host: r.Host, Header: r.Header, URL: &received}, body: body}
	for _, h := range s.headers {
		values := r.Header.Values(h.name)
		if len(values) != 1 || !h.value.capture(one, values[0]) {
			return fmt.Errorf("the header %s is missing or does not have the form that “headers” of hmac describes", h.name)
		}
	}
	one.signature = s.signatureOf(one)
	for _, h := range s.headers {
		if !hmac.Equal([]byte(r.Header.Get(h.name)), []byte(h.value.expand(one))) {
			return fmt.Errorf("the header %s is wrong: it does not fit the request and the secret", h.name)
		}
	}
	return nil
}

// capture takes timestamp and nonce from a header that the pattern has made. It
// reports whether the header can be one.
func (p textPattern) capture(one *signing, header string) bool {
	var form strings.Builder
	form.WriteString("^")
	var into []*string
	for _, piece := range p {
		switch piece.name {
		case "timestamp":
			into = append(into, &one.timestamp)
			form.WriteString("(.+)")
		case "nonce":
			into = append(into, &one.nonce)
			form.WriteString("(.+)")
		case "signature":
			form.WriteString(".+")
		default:
			form.WriteString(regexp.QuoteMeta(textPattern{piece}.expand(one)))
		}
	}
	m := regexp.MustCompile(form.String() + "$").FindStringSubmatch(header)
	if m == nil {
		return false
	}
	for i, text := range m[1:] {
		*into[i] = text
	}
	return true
}

// tokenEndpoint grants OAuth2 tokens (RFC 6749, section 4.4) and knows those that it
// has granted.
type tokenEndpoint struct {
	path     string
	id       Secret
	secret   Secret
	inParams bool // where the client's id and secret are
	scopes   string
	now      func() time.Time

	mu     sync.Mutex
	tokens map[string]time.Time // until when each is valid
}

// tokenLife is how long a token is valid.
const tokenLife = time.Hour

func newTokenEndpoint(c credentials, id, secret Secret, now func() time.Time) *tokenEndpoint {
	at, _ := url.Parse(c.tokenURL) // checked when the file was read
	return &tokenEndpoint{path: at.Path, id: id, secret: secret, inParams: c.style == "params", scopes: strings.Join(c.scopes, " "), now: now, tokens: map[string]time.Time{}}
}

// check requires a token that was granted and is still valid.
func (t *tokenEndpoint) check(r *http.Request, _ []byte) error {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return errors.New("the header Authorization is missing or not Bearer: expected a token from token_url")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if until, granted := t.tokens[token]; !granted || !t.now().Before(until) {
		return errors.New("the token was not granted by this sandbox, or is too old")
	}
	return nil
}

// ServeHTTP answers one request for a token, with the errors of RFC 6749, section 5.2.
func (t *tokenEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, answer := t.grant(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // fails only when the client has gone
}

func (t *tokenEndpoint) grant(w http.ResponseWriter, r *http.Request) (status int, answer map[string]any) {
	refused := func(status int, code, text string) (int, map[string]any) {
		return status, map[string]any{"error": code, "error_description": text}
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return refused(http.StatusMethodNotAllowed, "invalid_request", "only POST is possible here")
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "invalid_request", "the body is not a form")
	}
	switch {
	case r.PostForm.Get("grant_type") != "client_credentials":
		return refused(http.StatusBadRequest, "unsupported_grant_type", "expected client_credentials")
	case !t.isClient(r):
		if !t.inParams {
			w.Header().Set("WWW-Authenticate", `Basic realm="sandbox"`)
		}
		return refused(http.StatusUnauthorized, "invalid_client", "the client's id or secret is wrong or not where “style” says")
	case r.PostForm.Get("scope") != t.scopes:
		return refused(http.StatusBadRequest, "invalid_scope", "expected the scopes of the environment")
	}
	token := rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	for old, until := range t.tokens {
		if !t.now().Before(until) {
			delete(t.tokens, old)
		}
	}
	t.tokens[token] = t.now().Add(tokenLife)
	return http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(tokenLife / time.Second)}
}

// isClient compares the client's id and secret. In the header they are written as in
// a form (RFC 6749, section 2.3.1).
func (t *tokenEndpoint) isClient(r *http.Request) bool {
	id, secret, inHeader := r.BasicAuth()
	if inHeader == t.inParams {
		return false
	}
	if t.inParams {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	} else {
		var errs [2]error
		id, errs[0] = url.QueryUnescape(id)
		secret, errs[1] = url.QueryUnescape(secret)
		if errors.Join(errs[:]...) != nil {
			return false
		}
	}
	return equal(id+"\n"+secret, t.id.Reveal()+"\n"+t.secret.Reveal())
}

// RehearsalAddress returns the address, host and port, at which the sandbox can be the
// service of the environment. The error is a problem.Problem: it cannot.
func (e *Environment) RehearsalAddress() (string, error) {
	const advice = "give --like a copy of the entry, with base_url: http://127.0.0.1:8080"
	if e.Sandbox {
		return "", problem.New("usage", "--like needs an environment with a base_url, and “%s” is the sandbox inside a run", e.Name).Hinted("%s", advice)
	}
	base, _ := url.Parse(e.BaseURL) // both urls were checked when the file was read
	if base.Scheme != "http" || base.Port() == "" || strings.Trim(base.Path, "/") != "" {
		return "", problem.New("usage", "the sandbox cannot be the service of the environment “%s”: its base_url is not http://127.0.0.1 and a port", e.Name).Hinted("%s", advice)
	}
	at, _ := url.Parse(e.auth.tokenURL)
	taken := at.Path == "" || slices.Contains([]string{"", "funnel", "start", "dashboard", "style.css"}, strings.Split(at.Path, "/")[1])
	if e.auth.kind == authOAuth2 && (at.Scheme != "http" || at.Host != base.Host || taken) {
		return "", problem.New("usage", "token_url of the environment “%s” does not lead to a free path of the sandbox", e.Name).
			Hinted("write token_url: http://%s/token", base.Host)
	}
	return base.Host, nil
}

// CheckListener refuses a url to which the sandbox posts no events: it sends nothing to
// other machines.
func CheckListener(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || !isLoopback(u.Hostname()) || u.User != nil || u.Fragment != "" {
		return problem.New("usage", "--webhook cannot be “%s”: the sandbox posts events to this machine only", problem.Shorten(text)).
			Hinted("give the url that claimsheet listen prints, such as http://127.0.0.1:8090/hook")
	}
	return nil
}
