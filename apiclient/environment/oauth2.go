package environment

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"

	"claimsheet/apiclient"
)

// tokenTimeout is how long the token endpoint may take.
const tokenTimeout = 30 * time.Second

// tokens returns a function that returns an OAuth2 token; its error is an *apiclient.Failure. A token is fetched 10 s
// before the last one expires, by one caller for all. A caller waits tokenTimeout for it, and not after its context has ended.
func tokens(c credentials, id, secret Secret, cfg *apiclient.Config) func(context.Context) (string, error) {
	config := clientcredentials.Config{ClientID: id.Reveal(), ClientSecret: secret.Reveal(), TokenURL: c.tokenURL, Scopes: c.scopes}
	// The style is never probed: a probe sends the secret twice and hides the
	// endpoint's first answer. RFC 6749, section 2.3.1, prefers the header.
	config.AuthStyle = oauth2.AuthStyleInHeader
	if c.style == "params" {
		config.AuthStyle = oauth2.AuthStyleInParams
	}
	connection := *cfg
	if u, err := url.Parse(c.tokenURL); err == nil && apiclient.IsLoopback(u.Hostname()) {
		connection.Proxy = nil // which would read the secret in http, and has a loopback address of its own
	}
	client := &http.Client{Timeout: tokenTimeout, Transport: apiclient.NewTransport(connection),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the secret would go with it
	var fetching singleflight.Group
	source := config.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, client))
	return func(ctx context.Context) (string, error) {
		waits, end := context.WithTimeout(ctx, tokenTimeout)
		defer end()
		select {
		case <-waits.Done():
			if ctx.Err() != nil {
				return "", &apiclient.Failure{NotSent: true, Reason: "stopped while waiting for an OAuth2 token", Err: context.Cause(ctx)}
			}
			return "", unsent("the token endpoint does not answer in time", waits.Err())
		case got := <-fetching.DoChan("", func() (any, error) { return source.Token() }):
			if got.Err != nil {
				return "", tokenFailure(got.Err)
			}
			token := got.Val.(*oauth2.Token).AccessToken
			if checkHeaderText(token) != nil {
				return "", unsent("the token endpoint's answer holds a token that cannot be sent", nil)
			}
			return token, nil
		}
	}
}

// tokenFailure keeps the part of an error that can be shown. The library's errors
// quote the endpoint's answer, which may quote the secret; a url.Error repeats the
// whole url. The request that needed the token was not sent.
func tokenFailure(err error) *apiclient.Failure {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return tokenRefused(refused)
	}
	if f, ok := errors.AsType[*apiclient.Failure](err); ok { // of the proxy
		return &apiclient.Failure{NotSent: true, Stop: f.Stop, Retry: f.Retry, Hint: f.Hint, Err: f,
			Reason: "the token endpoint cannot be reached: " + f.Reason}
	}
	failed, ok := errors.AsType[*url.Error](err)
	if !ok {
		return unsent("the token endpoint's answer holds no token", nil)
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](failed.Err); untrusted {
		return &apiclient.Failure{NotSent: true, Stop: true, Reason: "the token endpoint's certificate is not trusted", Err: failed.Err}
	}
	if failed.Timeout() {
		return unsent("the token endpoint does not answer in time", failed.Err)
	}
	return unsent("the token endpoint cannot be reached", failed.Err)
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
	if status < 500 && status != 408 && status != 429 {
		return &apiclient.Failure{NotSent: true, Stop: true, Reason: reason}
	}
	return unsent(reason, nil)
}

// tokenErrorCodes are those of RFC 6749, section 5.2.
var tokenErrorCodes = []string{
	"invalid_request", "invalid_client", "invalid_grant",
	"unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

// unsent is the failure of a request without a token, where another attempt may get one.
func unsent(reason string, cause error) *apiclient.Failure {
	return &apiclient.Failure{NotSent: true, Retry: apiclient.Now, Reason: reason, Err: cause}
}
