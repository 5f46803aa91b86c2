package apiclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	maxHead          = 64 << 10
	// idleTimeout is shorter than any server's: a connection that the server
	// closes just as a POST goes out makes its outcome unknown.
	idleTimeout = 2 * time.Second
	// maxIdle is above any sensible concurrency, so that workers keep their
	// connections between two requests.
	maxIdle = 128
)

// newTransport speaks to the service over HTTP/1.1 only: over HTTP/2 the
// library may send a request again after a stream was reset. It uses no proxy,
// not even one named by the environment's variables, and never decompresses,
// so that the limit of an answer's size is the limit of what is read.
func newTransport(cfg Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	dialer := &net.Dialer{Timeout: dialTimeout}
	return &http.Transport{
		Protocols:              protocols,
		Proxy:                  nil,
		DialContext:            dialPlain(dialer),
		DialTLSContext:         dialTLS(dialer, tlsConfig(cfg.TLS)),
		DisableCompression:     true,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    maxIdle,
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  cfg.Timeout,
	}
}

// dial opens a connection to base as t does for a request.
func dial(ctx context.Context, t *http.Transport, base *url.URL) (net.Conn, error) {
	open, port := t.DialContext, "80"
	if base.Scheme == "https" {
		open, port = t.DialTLSContext, "443"
	}
	return open(ctx, "tcp", net.JoinHostPort(base.Hostname(), cmp.Or(base.Port(), port)))
}

func dialPlain(dialer *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

// dialTLS counts above the TLS layer: handshakes, alerts and goodbyes are not
// requests.
func dialTLS(dialer *net.Dialer, cfg *tls.Config) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		plain, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		cfg := cfg.Clone()
		if cfg.ServerName == "" {
			cfg.ServerName = host
		}
		conn := tls.Client(plain, cfg)
		ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
		defer cancel()
		if err := conn.HandshakeContext(ctx); err != nil {
			_ = plain.Close() // the handshake's error is the one that matters
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

// tlsConfig is cfg with what is not negotiable: TLS 1.2, HTTP/1.1, and
// certificates that are verified.
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
