package apiclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Proxy is an HTTP proxy between this machine and the service. Every connection is
// a tunnel (CONNECT, RFC 9110, section 9.3.6) with TLS inside, so the proxy learns
// the service's host and port and nothing of the requests. A request leaves only
// when its tunnel and the TLS inside are open: whatever goes wrong before that
// proves that it was not sent.
type Proxy struct {
	// URL is http://host:port; see CheckProxyURL.
	URL string
	// Credentials returns the user name and password for the proxy (Basic); nil for
	// none. (It is a function so that a Proxy can be printed.)
	Credentials func() (username, password string)
}

// CheckProxyURL says why raw cannot be the url of a proxy; nil for a valid one. It
// must be http with host and port and nothing else. The error never
// repeats the url, which may hold a password.
func CheckProxyURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		return errors.New("it is not a url with a host")
	case u.Scheme != "http":
		return errors.New("its scheme must be http: that is how the proxy is asked, and TLS to the service runs through it")
	case u.User != nil:
		return errors.New("it has a user name or password inside")
	case u.Port() == "":
		return errors.New("it has no port")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("it has more than scheme, host and port")
	case !isPort(u.Port()):
		return errors.New("its port must be between 1 and 65535")
	}
	return nil
}

// dialFunc opens a connection to an address, host:port.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// DialContext opens a connection to an address through the proxy. It takes at most
// 10 s for each step. The error is a *Failure with NotSent, or ctx's.
func (p *Proxy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return p.through(&net.Dialer{Timeout: connectTimeout})(ctx, network, address)
}

// through returns a function that opens tunnels. The dialer opens the connections
// to the proxy, and its Timeout limits each step.
func (p *Proxy) through(dialer *net.Dialer) dialFunc {
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
	res, early, err := p.ask(conn, address)
	again := &Failure{NotSent: true, Retry: Now, Err: err} // another attempt may succeed
	var timeout net.Error
	switch {
	case !stop():
		return unsent("stopped before it was sent", context.Cause(ctx))
	case err == nil && res.StatusCode/100 != 2:
		return p.refusal(res.StatusCode)
	case err == nil && !early:
		return conn.SetDeadline(time.Time{})
	case err == nil:
		again.Reason = "the proxy sent more than an answer before the connection was used"
	case errors.As(err, &timeout) && timeout.Timeout():
		again.Reason = "the proxy did not open a connection within the time allowed"
	case closed(err):
		again.Reason = "the proxy closed the connection instead of opening one"
	default:
		again.Reason = "the proxy's answer could not be read as HTTP"
	}
	return again
}

// ask sends CONNECT and reads the head of the answer. early is set when more than the head has arrived.
func (p *Proxy) ask(conn net.Conn, address string) (res *http.Response, early bool, err error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address,
		Header: http.Header{"User-Agent": {"claimsheet"}}}
	if p.Credentials != nil {
		name, password := p.Credentials()
		basic := &http.Request{Header: http.Header{}}
		basic.SetBasicAuth(name, password)
		req.Header.Set("Proxy-Authorization", basic.Header.Get("Authorization"))
	}
	if err := req.Write(conn); err != nil {
		return nil, false, err
	}
	in := bufio.NewReader(io.LimitReader(conn, maxHead))
	res, err = http.ReadResponse(in, req)
	return res, in.Buffered() > 0, err
}

// refusal is the failure of a proxy that answered with another status than 2xx. Every
// request goes to the same host: after most refusals no other request will do
// better.
func (p *Proxy) refusal(status int) *Failure {
	f := unsent(fmt.Sprintf("the proxy does not open a connection: %s", statusText(status)), nil)
	switch {
	case status == http.StatusProxyAuthRequired && p.Credentials == nil:
		f.Stop, f.Hint = true, "the proxy wants a user name and a password: give them as username and password of the environment's proxy"
	case status == http.StatusProxyAuthRequired:
		f.Stop, f.Hint = true, "check username and password of the environment's proxy; they are sent as Basic, the only scheme that is supported"
	case statusMeaning(status).passes || status == http.StatusTooManyRequests:
		f.Retry, f.Hint = Now, "if it stays so, check host and port in base_url, and ask the proxy's administrator whether it can reach them"
	default:
		f.Stop, f.Hint = true, "check the environment's proxy, and ask its administrator to allow CONNECT to host and port of base_url"
	}
	return f
}
