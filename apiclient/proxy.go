package apiclient

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
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

// through returns a function that opens a tunnel to an address, host:port. The dialer opens the
// connections to the proxy, and its Timeout limits each step.
func (p *Proxy) through(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		u, err := url.Parse(p.URL)
		if err != nil {
			return nil, unsent("the proxy's url cannot be used", err)
		}
		conn, err := dialer.DialContext(ctx, network, u.Host)
		if err != nil {
			return nil, failureOf("proxy", err, true)
		}
		if err := p.tunnel(ctx, conn, address, dialer.Timeout); err != nil {
			_ = conn.Close() // the error of the tunnel is the one to report
			return nil, err
		}
		return conn, nil
	}
}

// tunnel asks the proxy for a connection to address. The error is a *Failure.
func (p *Proxy) tunnel(ctx context.Context, conn net.Conn, address string, limit time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return failureOf("proxy", err, true)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	res, err := p.ask(conn, address)
	switch {
	case !stop():
		return unsent(StoppedBefore, context.Cause(ctx))
	case err != nil:
		return failureOf("proxy", err, true)
	case res.StatusCode/100 != 2:
		return refusal(res.StatusCode)
	}
	return conn.SetDeadline(time.Time{})
}

// ask sends CONNECT and reads the head of the answer. (What a proxy sends behind it is lost, and TLS does not begin.)
func (p *Proxy) ask(conn net.Conn, address string) (*http.Response, error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address,
		Header: http.Header{"User-Agent": {"claimsheet"}}}
	if p.Credentials != nil {
		name, password := p.Credentials()
		basic := &http.Request{Header: http.Header{}}
		basic.SetBasicAuth(name, password)
		req.Header.Set("Proxy-Authorization", basic.Header.Get("Authorization"))
	}
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxHead)), req)
}

// refusal is the failure of a proxy that answered with another status than 2xx. Every
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
