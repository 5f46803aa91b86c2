package apiclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"claimsheet/apiclient/rate"
)

const (
	maxHead = 64 << 10
	// idleTimeout is shorter than any server's. If the server closed an idle
	// connection just as a POST goes out, the outcome would be unknown. A part of it
	// is left for a request that waits on the connection.
	idleTimeout = 2 * time.Second
	// maxIdle is above any sensible concurrency, so that every worker can reuse
	// its connection.
	maxIdle = 128
)

// NewTransport returns the transport to the service of a Config, or to its token endpoint. It speaks HTTP/1.1 only,
// because over HTTP/2 net/http may send a request again after a stream was
// reset. The only proxy is that of the Config, never one named by an environment
// variable; net/http does not know of it, because tunnels are opened while
// dialling. The transport does not decompress, so that the limit on the size of an
// answer is the limit on what is read.
func NewTransport(cfg Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	limit := cmp.Or(cfg.ConnectTimeout, connectTimeout)
	dialer := &net.Dialer{Timeout: limit}
	connect := dialer.DialContext
	if cfg.Proxy != nil {
		connect = cfg.Proxy.through(dialer)
	}
	open := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := connect(ctx, network, address)
		if err == nil && cfg.Wrap != nil {
			conn = cfg.Wrap(conn)
		}
		return conn, err
	}
	trust := tlsConfig(cfg.TLS)
	openTLS := func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		plain, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return handshake(ctx, plain, trust, host, limit)
	}
	return &http.Transport{
		Protocols:              protocols,
		Proxy:                  nil,
		DialContext:            counted(open),
		DialTLSContext:         counted(openTLS),
		DisableCompression:     true,
		IdleConnTimeout:        idleTimeout - rate.Lead,
		MaxIdleConnsPerHost:    maxIdle,
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  cfg.Timeout,
	}
}

// counted counts what is written to connections: above TLS, so that handshakes and alerts
// do not count as parts of a request.
func counted(open dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

// dial opens a connection to base in the same way as t does for a request.
func dial(ctx context.Context, t *http.Transport, base *url.URL) (net.Conn, error) {
	open, port := t.DialContext, "80"
	if base.Scheme == "https" {
		open, port = t.DialTLSContext, "443"
	}
	return open(ctx, "tcp", net.JoinHostPort(base.Hostname(), cmp.Or(base.Port(), port)))
}

// handshake starts TLS on a connection to host, and closes it when that fails.
func handshake(ctx context.Context, plain net.Conn, cfg *tls.Config, host string, limit time.Duration) (net.Conn, error) {
	cfg = cfg.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = host
	}
	conn := tls.Client(plain, cfg)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = plain.Close() // the error of the handshake is the one to report
		return nil, err
	}
	return conn, nil
}

// tlsConfig returns cfg with what is not negotiable: at least TLS 1.2, HTTP/1.1,
// and verified certificates.
func tlsConfig(cfg *tls.Config) *tls.Config {
	if cfg == nil {
		cfg = new(tls.Config)
	}
	cfg = cfg.Clone()
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	cfg.NextProtos = []string{"http/1.1"}
	cfg.InsecureSkipVerify = false
	return cfg
}

// InProcess returns a transport that calls h directly, without a socket, for a
// service in the same program. The answer is buffered and returned when h
// returns, which is soon after the request's context ends. A panic of h, also http.ErrAbortHandler, is an error,
// as a broken connection would be.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(req *http.Request) (res *http.Response, err error) {
	in := req.Clone(req.Context()) // as a server sees it
	in.RequestURI, in.RemoteAddr = req.URL.RequestURI(), "127.0.0.1:0"
	in.URL.Scheme, in.URL.Host = "", ""
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer func() {
		if recover() != nil { // its value may hold personal data
			res, err = nil, fmt.Errorf("the service broke off the request: %w", io.ErrUnexpectedEOF)
		}
	}()
	answer := httptest.NewRecorder()
	t.handler.ServeHTTP(answer, in)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	res = answer.Result()
	res.ContentLength, res.Request = int64(answer.Body.Len()), req
	return res, nil
}
