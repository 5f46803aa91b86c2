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
	// outlives the request that it goes with.
	renewEarly = time.Minute
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

	turn  chan struct{} // one place: whoever is in it may use token
	token *oauth2.Token
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
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}

// valid is a token that will be valid for a while yet. The error is an
// *apiclient.Failure.
func (c *tokenCache) valid(ctx context.Context) (string, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return "", unsent("stopped while waiting for an OAuth2 token", ctx.Err())
	}
	if t := c.token; t != nil && (t.Expiry.IsZero() || time.Until(t.Expiry) > renewEarly) {
		return t.AccessToken, nil
	}
	t, err := c.fetch(ctx)
	if err != nil {
		return "", err
	}
	c.token = t
	return t.AccessToken, nil
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
