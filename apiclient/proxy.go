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

// ThroughProxy returns a function that opens connections through the proxy at a url. Each is a tunnel (CONNECT, RFC 9110,
// section 9.3.6), in which TLS is spoken, so the proxy learns the service's host and port and nothing of the requests. A
// request leaves only when its tunnel and the TLS inside are open: whatever goes wrong before that proves that it was not
// sent. Each step takes at most 10 s. An error is a *Failure with NotSent, or ctx's.
func ThroughProxy(proxy string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return throughProxy(proxy, &net.Dialer{Timeout: connectTimeout})
}

// throughProxy is ThroughProxy with a dialer that opens the connections to the proxy; its Timeout limits each step.
func throughProxy(proxy string, dialer *net.Dialer) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		u, err := url.Parse(proxy)
		if err != nil {
			return nil, unsent("the proxy's url cannot be used", err)
		}
		conn, err := dialer.DialContext(ctx, network, u.Host)
		if err != nil {
			return nil, failureOf("proxy", err, true)
		}
		if err := openTunnel(ctx, conn, address, dialer.Timeout); err != nil {
			_ = conn.Close() // the error of the tunnel is the one to report
			return nil, err
		}
		return conn, nil
	}
}

// openTunnel asks the proxy for a connection to address. The error is a *Failure.
func openTunnel(ctx context.Context, conn net.Conn, address string, limit time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return failureOf("proxy", err, true)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	res, early, err := askProxy(conn, address)
	again := &Failure{NotSent: true, Retry: Now, Err: err} // another attempt may succeed
	var timeout net.Error
	switch {
	case !stop():
		return unsent("stopped before it was sent", context.Cause(ctx))
	case err == nil && res.StatusCode/100 != 2:
		return proxyRefusal(res.StatusCode)
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

// askProxy sends CONNECT and reads the head of the answer. early is set when more than the head has arrived.
func askProxy(conn net.Conn, address string) (res *http.Response, early bool, err error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address,
		Header: http.Header{"User-Agent": {"claimsheet"}}}
	if err := req.Write(conn); err != nil {
		return nil, false, err
	}
	in := bufio.NewReader(io.LimitReader(conn, maxHead))
	res, err = http.ReadResponse(in, req)
	return res, in.Buffered() > 0, err
}

// proxyRefusal is the failure of a proxy that answered with another status than 2xx. Every
// request goes to the same host: after most refusals no other request will do
// better.
func proxyRefusal(status int) *Failure {
	f := unsent(fmt.Sprintf("the proxy does not open a connection: %s", statusText(status)), nil)
	switch {
	case status == http.StatusProxyAuthRequired:
		f.Stop, f.Hint = true, "the proxy wants a user name and a password, and Claimsheet has none for proxies: ask its administrator to let this machine through, or name a proxy on this machine that has them"
	case statusMeaning(status).passes || status == http.StatusTooManyRequests:
		f.Retry, f.Hint = Now, "if it stays so, check host and port in base_url, and ask the proxy's administrator whether it can reach them"
	default:
		f.Stop, f.Hint = true, "check the environment's proxy, and ask its administrator to allow CONNECT to host and port of base_url"
	}
	return f
}
