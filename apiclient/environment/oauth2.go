package environment

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const (
	// renewEarly is how long before its end a token is renewed, so that it
	// outlives the request that it goes with; one that lives for less than twice
	// as long, at half its life.
	renewEarly = time.Minute
	// freshFor is how long a token that replaced a refused one counts as fresh:
	// if it is refused too, another one would be as well.
	freshFor = time.Minute
	// tokenTimeout is how long the token endpoint may take.
	tokenTimeout = 30 * time.Second
)

// tokenCache holds one OAuth2 token and renews it. Of several goroutines that
// find it too old, one asks for a new one and the others wait for that, each
// no longer than its own context allows.
type tokenCache struct {
	clientID, clientSecret Secret
	tokenURL               string
	scopes                 []string
	style                  oauth2.AuthStyle
	client                 *http.Client

	turn   chan struct{} // one place: whoever is in it may use what follows
	token  *oauth2.Token
	renew  time.Time // when token is to be renewed; zero for never
	forced time.Time // when a refused token was last replaced
}

func newTokenCache(c credentials, id, secret Secret, tlsConfig *tls.Config) *tokenCache {
	// The style is never probed: a probe sends the secret twice and hides the
	// endpoint's first answer. RFC 6749, section 2.3.1, makes header the rule.
	style := oauth2.AuthStyleInHeader
	if c.style == "params" {
		style = oauth2.AuthStyleInParams
	}
	return &tokenCache{
		clientID: id, clientSecret: secret, tokenURL: c.tokenURL, scopes: c.scopes, style: style,
		client: tokenClient(tlsConfig),
		turn:   make(chan struct{}, 1),
	}
}

// tokenClient follows no redirect, because the secret would go with it, and
// uses no proxy, as apiclient does not either.
func tokenClient(tlsConfig *tls.Config) *http.Client {
	if tlsConfig == nil {
		tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &http.Client{
		Timeout: tokenTimeout,
		Transport: &http.Transport{
			TLSClientConfig:        tlsConfig.Clone(),
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives:      true, // tokens are fetched once in minutes or hours
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (c *tokenCache) authorize(ctx context.Context, req *http.Request) error {
	token, err := c.valid(ctx)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", bearer(token))
	return nil
}

// valid is a token that will be valid for a while yet. The error is an
// *apiclient.Failure.
func (c *tokenCache) valid(ctx context.Context) (string, error) {
	leave, err := c.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	if c.token != nil && (c.renew.IsZero() || time.Now().Before(c.renew)) {
		return c.token.AccessToken, nil
	}
	if err := c.replace(ctx); err != nil {
		if c.token == nil || !time.Now().Before(c.token.Expiry) {
			return "", err
		}
		// The endpoint may be back before the old token's end.
	}
	return c.token.AccessToken, nil
}

// again replaces the token that a request was refused with, unless that has
// been done since, and tells whether there is another one now. A token that
// has just replaced a refused one is not replaced again.
func (c *tokenCache) again(ctx context.Context, refused *http.Request) (bool, error) {
	leave, err := c.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	if c.token == nil || refused.Header.Get("Authorization") != bearer(c.token.AccessToken) {
		return true, nil
	}
	if !c.forced.IsZero() && time.Since(c.forced) < freshFor {
		return false, nil
	}
	if err := c.replace(ctx); err != nil {
		return false, err
	}
	c.forced = time.Now()
	return true, nil
}

func bearer(token string) string { return "Bearer " + token }

// enter waits for the cache to be free.
func (c *tokenCache) enter(ctx context.Context) (leave func(), err error) {
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, unsent("stopped while waiting for an OAuth2 token", ctx.Err())
	}
}

// replace fetches a token in place of the one that there is.
func (c *tokenCache) replace(ctx context.Context) error {
	now := time.Now()
	t, err := c.fetch(ctx)
	if err != nil {
		return err
	}
	c.token, c.renew = t, time.Time{}
	if !t.Expiry.IsZero() {
		c.renew = t.Expiry.Add(-min(renewEarly, t.Expiry.Sub(now)/2))
	}
	return nil
}

func (c *tokenCache) fetch(ctx context.Context) (*oauth2.Token, error) {
	config := clientcredentials.Config{
		ClientID:     c.clientID.Reveal(),
		ClientSecret: c.clientSecret.Reveal(),
		TokenURL:     c.tokenURL,
		Scopes:       c.scopes,
		AuthStyle:    c.style,
	}
	t, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, c.client))
	if err != nil {
		return nil, tokenFailure(err)
	}
	if err := checkHeaderText(t.AccessToken); err != nil {
		return nil, unsent("the token endpoint's answer holds a token that cannot be sent", nil)
	}
	return t, nil
}
