package environment

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"claimsheet/apiclient"
)

const (
	// renewEarly is how long before its expiry a token is renewed, so that it stays
	// valid while its request is on the way. A token that lives for less than twice
	// as long is renewed at half its life.
	renewEarly = time.Minute
	// tokenTimeout is how long the token endpoint may take.
	tokenTimeout = 30 * time.Second
)

// tokenCache holds one OAuth2 token and renews it. When several goroutines find it
// too old, one of them fetches a new one and the others wait for it.
type tokenCache struct {
	config clientcredentials.Config
	secret Secret
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex // guards the fields below
	token   *oauth2.Token
	renewAt time.Time // zero means never
}

func newTokenCache(c credentials, id, secret Secret, cfg *apiclient.Config) *tokenCache {
	t := &tokenCache{secret: secret, client: tokenClient(cfg.TLS, cfg.Proxy), now: cfg.Now,
		config: clientcredentials.Config{ClientID: id.Reveal(), TokenURL: c.tokenURL, Scopes: c.scopes}}
	// The style is never probed: a probe sends the secret twice and hides the
	// endpoint's first answer. RFC 6749, section 2.3.1, prefers the header.
	t.config.AuthStyle = oauth2.AuthStyleInHeader
	if c.style == "params" {
		t.config.AuthStyle = oauth2.AuthStyleInParams
	}
	if t.now == nil {
		t.now = time.Now
	}
	return t
}

// tokenClient follows no redirect, because the secret would go with it. It uses the
// environment's proxy and no other, except for a token endpoint on this machine.
func tokenClient(tlsConfig *tls.Config, proxy *apiclient.Proxy) *http.Client {
	if tlsConfig == nil {
		tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	var dialer net.Dialer
	dial := dialer.DialContext
	if proxy != nil {
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, err := net.SplitHostPort(address); err == nil && apiclient.IsLoopback(host) {
				return dialer.DialContext(ctx, network, address)
			}
			return proxy.DialContext(ctx, network, address)
		}
	}
	return &http.Client{
		Timeout: tokenTimeout,
		Transport: &http.Transport{
			DialContext:            dial,
			TLSClientConfig:        tlsConfig.Clone(),
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives:      true, // tokens are fetched once in minutes or hours
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// authorize puts a token that stays valid for a while on a request. The error is an
// *apiclient.Failure.
func (c *tokenCache) authorize(ctx context.Context, req *http.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == nil || !c.renewAt.IsZero() && !c.now().Before(c.renewAt) {
		// The endpoint may be back before the old token expires.
		if err := c.replace(ctx); err != nil && (c.token == nil || !c.now().Before(c.token.Expiry)) {
			return err
		}
	}
	req.Header.Set("Authorization", bearer(c.token.AccessToken))
	return nil
}

// replace fetches a new token.
func (c *tokenCache) replace(ctx context.Context) error {
	now, config := c.now(), c.config
	config.ClientSecret = c.secret.Reveal()
	t, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, c.client))
	var f *apiclient.Failure
	switch {
	case err != nil:
		f = tokenFailure(err)
	case t.AccessToken == "" || checkHeaderText(t.AccessToken) != nil:
		f = unsent("the token endpoint's answer holds a token that cannot be sent", nil)
	default:
		c.token, c.renewAt = t, time.Time{}
		if !t.Expiry.IsZero() {
			c.renewAt = t.Expiry.Add(-min(renewEarly, t.Expiry.Sub(now)/2))
		}
		return nil
	}
	if !f.Stop && !errors.Is(ctx.Err(), context.Canceled) {
		f.Retry = apiclient.Now
	}
	return f
}

// tokenFailure keeps the part of an error that can be shown. The library's errors
// quote the endpoint's answer, which may quote the secret; a url.Error repeats the
// whole url. The request that needed the token was not sent.
func tokenFailure(err error) *apiclient.Failure {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return tokenRefused(refused)
	}
	if f, ok := errors.AsType[*apiclient.Failure](err); ok { // of the proxy
		return &apiclient.Failure{NotSent: true, Stop: f.Stop, Hint: f.Hint, Err: f, Reason: "the token endpoint cannot be reached: " + f.Reason}
	}
	failed, ok := errors.AsType[*url.Error](err)
	if !ok {
		return unsent("the token endpoint's answer holds no token", nil)
	}
	cause := failed.Err
	switch _, untrusted := errors.AsType[*tls.CertificateVerificationError](cause); {
	case untrusted:
		f := unsent("the token endpoint's certificate is not trusted", cause)
		f.Stop = true
		return f
	case errors.Is(cause, context.Canceled):
		return unsent("stopped while waiting for an OAuth2 token", cause)
	case failed.Timeout():
		return unsent("the token endpoint does not answer in time", cause)
	}
	return unsent("the token endpoint cannot be reached", cause)
}

// tokenRefused is an answer without a token. When it blames the request, the next
// request would get the same answer, so the run stops; a busy or broken endpoint
// may recover.
func tokenRefused(refused *oauth2.RetrieveError) *apiclient.Failure {
	status := refused.Response.StatusCode
	reason := fmt.Sprintf("the token endpoint answered with status %d", status)
	if slices.Contains(tokenErrorCodes, refused.ErrorCode) {
		reason += " (" + refused.ErrorCode + ")"
	}
	f := unsent(reason, nil)
	f.Stop = status < 500 && status != 408 && status != 429
	return f
}

// tokenErrorCodes are those of RFC 6749, section 5.2.
var tokenErrorCodes = []string{
	"invalid_request", "invalid_client", "invalid_grant",
	"unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

func unsent(reason string, cause error) *apiclient.Failure {
	return &apiclient.Failure{NotSent: true, Reason: reason, Err: cause}
}
