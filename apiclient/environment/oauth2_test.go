package environment_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"claimsheet/apiclient"
)

var quiet = log.New(io.Discard, "", 0)

// tokenServer answers each request for a token with the next number.
type tokenServer struct {
	answer func(w http.ResponseWriter, n int64)
	count  atomic.Int64

	mu   sync.Mutex
	seen http.Header
	form map[string][]string
}

func (s *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.count.Add(1)
	_ = r.ParseForm()
	s.mu.Lock()
	s.seen, s.form = r.Header.Clone(), r.PostForm
	s.mu.Unlock()
	s.answer(w, n)
}

// lasting answers with tokens that live for that many seconds; 0 leaves the life
// out.
func lasting(seconds int) func(http.ResponseWriter, int64) {
	return func(w http.ResponseWriter, n int64) {
		w.Header().Set("Content-Type", "application/json")
		expires := ""
		if seconds > 0 {
			expires = fmt.Sprintf(`,"expires_in":%d`, seconds)
		}
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"bearer"%s}`, n, expires)
	}
}

// oauth2 is a Config that fetches tokens from the server.
func oauth2(t *testing.T, url, more string) apiclient.Config {
	t.Helper()
	t.Setenv("CANARY", canary)
	keys := "    auth: {type: oauth2, token_url: \"" + url + "\", client_id: me@x, client_secret: env:CANARY" + more + "}\n"
	return must(only(t, t.TempDir(), keys).Config(t.Context(), apiclient.V2))(t)
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestOAuth2SendsTheSecretAsAsked(t *testing.T) {
	for name, test := range map[string]struct {
		more      string
		basic     string
		form      map[string][]string
		wantToken string
	}{
		"header": {", scopes: [a, b]", "Basic bWUlNDB4OmNhbmFyeS01ZjBk",
			map[string][]string{"grant_type": {"client_credentials"}, "scope": {"a b"}}, "Bearer token-1"},
		"params": {", style: params", "",
			map[string][]string{"grant_type": {"client_credentials"}, "client_id": {"me@x"}, "client_secret": {canary}}, "Bearer token-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &tokenServer{answer: lasting(3600)}
			got := sent(t, oauth2(t, serve(t, s).URL+"/token?tenant=a", test.more))
			same(t, "headers", http.Header{"Authorization": {test.wantToken}}, got)
			if got := s.seen.Get("Authorization"); got != test.basic {
				t.Errorf("the endpoint saw Authorization %q, want %q", got, test.basic)
			}
			same(t, "form", test.form, s.form)
		})
	}
}

// One token serves many requests, whether it never ends (0), ends late or soon; but not in the last 10 s of its life.
func TestOAuth2AsksOnceForManyRequests(t *testing.T) {
	for seconds, again := range map[int]int64{0: 0, 3600: 0, 30: 0, 9: 1} {
		s := &tokenServer{answer: lasting(seconds)}
		c := oauth2(t, serve(t, s).URL, "")
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if err := c.Authorize(t.Context(), httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		many := s.count.Load()
		sent(t, c)
		if last := s.count.Load() - many; again == 0 && many != 1 || last != again {
			t.Errorf("tokens of %d s: %d were fetched for many requests, and %d for one more, want %d", seconds, many, last, again)
		}
	}
}

// Whatever the endpoint answers, the error has neither the secret nor the answer nor
// the url. Only an answer that would not change stops the run.
func TestOAuth2Failures(t *testing.T) {
	elsewhere := &tokenServer{answer: lasting(3600)}
	target := serve(t, elsewhere).URL
	body := `{"error":"%s","error_description":"` + canary + `"}`
	status := func(code int, body string) func(http.ResponseWriter, int64) {
		return func(w http.ResponseWriter, _ int64) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", target)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, int64)
		want   string
		stop   bool
	}{
		"refused":      {status(401, fmt.Sprintf(body, "invalid_client")), "the token endpoint answered with status 401 (invalid_client)", true},
		"strange code": {status(400, fmt.Sprintf(body, canary)), "the token endpoint answered with status 400", true},
		"error in 200": {status(200, fmt.Sprintf(body, "invalid_scope")), "the token endpoint answered with status 200 (invalid_scope)", true},
		"redirect":     {status(307, ""), "the token endpoint answered with status 307", true},
		"busy":         {status(429, canary), "the token endpoint answered with status 429", false},
		"broken":       {status(503, canary), "the token endpoint answered with status 503", false},
		"not JSON":     {status(200, canary), "the token endpoint's answer holds no token", false},
		"no token":     {status(200, `{"id_token":"`+canary+`"}`), "the token endpoint's answer holds no token", false},
		"bad token":    {status(200, `{"access_token":"`+canary+`\r\nX: y"}`), "the token endpoint's answer holds a token that cannot be sent", false},
		"hangs up":     {func(http.ResponseWriter, int64) { panic(http.ErrAbortHandler) }, "the token endpoint cannot be reached", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := oauth2(t, serve(t, &tokenServer{answer: test.answer}).URL+"/"+canary, "")
			req := httptest.NewRequest(http.MethodPost, "/", nil)
			err := c.Authorize(t.Context(), req)
			f, ok := errors.AsType[*apiclient.Failure](err)
			if !ok {
				t.Fatalf("error %v, want a Failure", err)
			}
			retry := apiclient.Now
			if test.stop {
				retry = apiclient.Never
			}
			if f.Error() != test.want || f.Stop != test.stop || !f.NotSent || f.Retry != retry {
				t.Errorf("%+v, want %q, stop %v, retry %v", f, test.want, test.stop, retry)
			}
			if shown := fmt.Sprintf("%v %+v %v", err, f, errors.Unwrap(f)); strings.Contains(shown, canary) {
				t.Errorf("something secret shows: %s", shown)
			}
			if req.Header.Get("Authorization") != "" {
				t.Error("the request carries a token all the same")
			}
		})
	}
	if n := elsewhere.count.Load(); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

// The endpoint's certificate must be trusted; that of every connection is in the tests of auth.
func TestOAuth2WithoutTheAuthority(t *testing.T) {
	c := oauth2(t, newAuthority(t).serve(t, &tokenServer{answer: lasting(3600)}, true).URL, "")
	err := c.Authorize(t.Context(), httptest.NewRequest(http.MethodGet, "/", nil))
	if f, ok := errors.AsType[*apiclient.Failure](err); !ok || !f.Stop || f.Reason != "the token endpoint's certificate is not trusted" {
		t.Errorf("%v", err)
	}
}

// A token endpoint that hangs does not keep a request whose context ends.
func TestOAuth2IsNotWaitedForLongerThanTheRequest(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	open := make(chan struct{})
	c := oauth2(t, serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stop(); <-open })).URL, "")
	defer close(open)
	err := c.Authorize(ctx, httptest.NewRequest(http.MethodGet, "/", nil))
	f, ok := errors.AsType[*apiclient.Failure](err)
	if !ok || !f.NotSent || f.Stop || f.Retry != apiclient.Never || f.Reason != "stopped while waiting for an OAuth2 token" {
		t.Errorf("%+v", err)
	}
}
