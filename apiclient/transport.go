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
	"net/http/httptrace"
	"sync"
	"time"
)

const (
	maxHead = 64 << 10
	// idleTimeout is shorter than any server's. If the server closed an idle
	// connection just as a POST goes out, the outcome would be unknown.
	idleTimeout = 1500 * time.Millisecond
	// maxIdle is above any sensible concurrency, so that every worker can reuse its connection.
	maxIdle = 128
)

// NewTransport returns the transport to the service of a Config, or to its token endpoint. It speaks HTTP/1.1 only,
// because over HTTP/2 net/http may send a request again after a stream was
// reset. The only proxy is that of the Config, never one named by an environment
// variable. The transport does not decompress, so that the limit on the size of an
// answer is the limit on what is read.
func NewTransport(cfg Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	limit := cmp.Or(cfg.ConnectTimeout, connectTimeout)
	dialer := &net.Dialer{Timeout: limit}
	t := &http.Transport{
		Protocols: protocols,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if cfg.Wrap != nil {
				conn = cfg.Wrap(conn)
			}
			if cfg.Proxy != nil { // which may be silent
				err = conn.SetReadDeadline(time.Now().Add(limit))
			}
			return &countedConn{Conn: conn, limited: cfg.Proxy != nil}, err
		},
		TLSClientConfig:        tlsConfig(cfg.TLS),
		TLSHandshakeTimeout:    limit,
		DisableCompression:     true,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    maxIdle,
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  cfg.Timeout,
	}
	if cfg.Proxy != nil {
		cfg.Proxy.open(t)
	}
	return t
}

// tlsConfig returns cfg with what is not negotiable: at least TLS 1.2, HTTP/1.1, and verified certificates.
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

// countedConn counts the bytes written to a connection, so that "not one byte of
// this request was sent" can be proved. net/http knows this too but does not
// report it. It counts below TLS: what a handshake writes counts before a request has the connection.
type countedConn struct {
	net.Conn
	limited bool // the first read has a deadline

	mu      sync.Mutex
	written int64 // bytes that may have left: added before a write, subtracted again when it fails
	sealed  bool  // no further byte will leave
}

// countedBelow returns the countedConn of a connection that a transport of NewTransport has opened.
func countedBelow(conn net.Conn) *countedConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return conn.(*countedConn)
}

// Read seals a connection that the other side has closed: otherwise TLS would write an alert, which might be a request.
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.count(true)
	} else if c.limited {
		c.limited, err = false, c.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Write counts before it writes, so that the count is never too low while the write is under way.
func (c *countedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.sealed {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	c.written += int64(len(p))
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	c.written -= int64(len(p) - n)
	c.mu.Unlock()
	return n, err
}

// count returns the count so far. With seal it is final: otherwise a late write of
// an abandoned request could make the proof untrue afterwards.
func (c *countedConn) count(seal bool) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = c.sealed || seal
	return c.written
}

// evidence records whether one request reached the network. In HTTP/1.1 a
// connection carries one request at a time, so everything written to it after
// the request got the connection belongs to that request. Of a transport that is not
// ours it proves nothing.
type evidence struct {
	own  bool // the transport is ours
	once bool // the request may leave on its first connection only

	conn  *countedConn // that the request got last; nil for none
	base  int64        // its count then
	wrote bool         // a look-up may have left on another connection before
}

// watch returns ctx with a trace that records which connections the request gets. net/http calls it in RoundTrip, before
// the first byte of the request is written.
func (e *evidence) watch(ctx context.Context) context.Context {
	if !e.own {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		conn := countedBelow(info.Conn)
		if e.conn != nil && e.once {
			conn.count(true)
			return
		}
		e.wrote = e.wrote || e.conn != nil && e.conn.count(true) != e.base
		e.conn, e.base = conn, conn.count(false)
	}})
}

// lacks reports whether a part of a request's body, which has so many bytes, was not written to the connection, and sees
// to it that the rest never is: the connection cannot be used any more. It may overlook as many bytes as the headers have.
func (e *evidence) lacks(body int) bool {
	return e.conn != nil && body > 0 && e.conn.count(true)-e.base <= int64(body)
}

// failure is what became of a request for which the transport has the error err instead of an answer. It was not
// sent where not one byte was written to a connection of it; these cannot be used any more.
func (e *evidence) failure(err error) *Failure {
	return failureOf(err, e.own && !e.wrote && (e.conn == nil || e.conn.count(true) == e.base))
}
