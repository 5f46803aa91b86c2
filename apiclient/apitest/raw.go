package apitest

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// NobodyBody is the body with which a Raw service says, with a 404, that it does
// not know an invented client.
const NobodyBody = `{"error":"nobody"}`

// Raw is a service on bare connections, plain or TLS, that can answer in ways in
// which no HTTP server would. It counts the requests whose head has arrived. Look-ups
// of invented clients do not count and always get NobodyBody: with them a client
// learns what the answer for nobody looks like.
type Raw struct {
	Addr string // host:port
	URL  string

	listener net.Listener
	config   *tls.Config // nil for plain
	reply    RawReply
	arrived  atomic.Int64

	mu    sync.Mutex
	conns []*net.TCPConn
}

// RawRequest is one request at a Raw service: the head has been read, the body has
// not. Whatever is written to it is the answer.
type RawRequest struct {
	net.Conn
	TCP     *net.TCPConn // below TLS, if there is TLS
	Request *http.Request
	Attempt int64 // 1 for the first counted request
}

// ReadBody reads the request's body to its end.
func (r RawRequest) ReadBody() { _, _ = io.Copy(io.Discard, r.Request.Body) }

// Reset makes closing the connection a reset.
func (r RawRequest) Reset() { _ = r.TCP.SetLinger(0) }

// RawReply answers a request. When it returns false, the connection is closed.
type RawReply func(RawRequest) (keep bool)

// StartRaw starts a Raw service on a loopback address until the test ends. config
// is nil for plain connections.
func StartRaw(t testing.TB, config *tls.Config, reply RawReply) *Raw {
	t.Helper()
	s := &Raw{config: config, reply: reply}
	s.listener = Listen(t, s.serve)
	s.Addr = s.listener.Addr().String()
	s.URL = "http://" + s.Addr
	if config != nil {
		s.URL = "https://" + s.Addr
	}
	return s
}

// Listen listens on a loopback address until the test ends. It serves every
// connection in its own goroutine and closes it afterwards.
func Listen(t testing.TB, serve func(*net.TCPConn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn.(*net.TCPConn))
			}()
		}
	}()
	return l
}

// Arrived counts the requests whose head has arrived.
func (s *Raw) Arrived() int64 { return s.arrived.Load() }

// BreakDown resets every connection and closes the listener.
func (s *Raw) BreakDown() {
	s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.SetLinger(0)
		conn.Close()
	}
}

func (s *Raw) serve(tcp *net.TCPConn) {
	s.mu.Lock()
	s.conns = append(s.conns, tcp)
	s.mu.Unlock()
	_ = tcp.SetReadBuffer(4 << 10) // so that a large request does not fit into the buffers
	conn := net.Conn(tcp)
	if s.config != nil {
		conn = tls.Server(tcp, s.config)
	}
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		r := RawRequest{Conn: conn, TCP: tcp, Request: req}
		if strings.Contains(req.URL.Path, "/nobody.") {
			Whole("404 Not Found", NobodyBody, "Connection: close")(r)
			return
		}
		r.Attempt = s.arrived.Add(1)
		if !s.reply(r) {
			return
		}
	}
}

// Whole answers with a complete JSON answer and keeps the connection.
func Whole(status, body string, headers ...string) RawReply {
	return func(r RawRequest) bool {
		r.ReadBody()
		headers := append([]string{"Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}, headers...)
		_, err := io.WriteString(r, "HTTP/1.1 "+status+"\r\n"+strings.Join(headers, "\r\n")+"\r\n\r\n"+body)
		return err == nil
	}
}

// Bytes answers with the text as it is and closes the connection.
func Bytes(text string) RawReply {
	return func(r RawRequest) bool {
		r.ReadBody()
		_, _ = io.WriteString(r, text)
		return false
	}
}

// ThenReset is a reply after which the connection is reset.
func ThenReset(reply RawReply) RawReply {
	return func(r RawRequest) bool {
		defer r.Reset()
		return reply(r)
	}
}
