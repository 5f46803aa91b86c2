package apiclient

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Proxy is an HTTP proxy between this machine and the service. Every connection is
// a tunnel (CONNECT, RFC 9110, section 9.3.6) with TLS inside, so the proxy learns
// the service's host and port and nothing of the requests. A request leaves only
// when its tunnel and the TLS inside are open: whatever goes wrong before that
// proves that it was not sent.
type Proxy struct {
	// URL is http://host:port, and nothing else.
	URL string
	// Credentials returns the user name and password for the proxy (Basic); nil for
	// none. (It is a function so that a Proxy can be printed.)
	Credentials func() (username, password string)
}

// open makes a transport open its connections through the proxy. What the proxy refuses is a *Failure.
func (p *Proxy) open(t *http.Transport) {
	u, err := url.Parse(p.URL)
	if err == nil && p.Credentials != nil {
		u.User = url.UserPassword(p.Credentials())
	}
	t.Proxy = func(*http.Request) (*url.URL, error) { return u, err }
	t.ProxyConnectHeader = http.Header{"User-Agent": {"claimsheet"}}
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
		if res.StatusCode != http.StatusOK {
			return refusal(res.StatusCode)
		}
		return nil
	}
}

// refusal is the failure of a proxy that answered with another status than 200. Every
// request goes to the same host: after most refusals no other request will do
// better.
func refusal(status int) *Failure {
	f := unsent(fmt.Sprintf("the proxy does not open a connection: %s", statusText(status)), nil)
	switch {
	case status == http.StatusProxyAuthRequired:
		f.Stop, f.Hint = true, "give the right username and password of the environment's proxy; they are sent as Basic, the only scheme that is supported"
	case statusMeaning(status).passes || status == http.StatusTooManyRequests:
		f.Retry, f.Hint = Now, "if it stays so, check host and port in base_url, and ask the proxy's administrator whether it can reach them"
	default:
		f.Stop, f.Hint = true, "check the environment's proxy, and ask its administrator to allow CONNECT to host and port of base_url"
	}
	return f
}
