package apiclient_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// learntNobody is how the services of these tests say that they know nobody.
const learntNobody = `{"error":"nobody"}`

// visit is one request at a service: its head has been read, its body has not.
type visit struct {
	net.Conn
	tcp     *net.TCPConn // below TLS, where there is TLS
	req     *http.Request
	attempt int64 // 1 for the first that is counted
}

// swallow reads the request's body to its end.
func (v visit) swallow() { _, _ = io.Copy(io.Discard, v.req.Body) }

// abort makes closing the connection a reset.
func (v visit) abort() { _ = v.tcp.SetLinger(0) }

// reply answers a visit; when it returns false the connection is closed.
type reply func(visit) (keep bool)

// faultService is a service made of bare connections, plain or TLS, so that it
// can answer in ways in which no HTTP server would. It counts the requests whose
// head arrived, except look-ups of invented clients, which it always answers
// soundly: by them a client learns what nobody looks like.
type faultService struct {
	address string
	arrived atomic.Int64

	listener net.Listener
	config   *tls.Config // nil for plain
	reply    reply

	mu    sync.Mutex
	conns []*net.TCPConn
}

// newFaultService listens on the loopback address until the test ends.
func newFaultService(t testing.TB, config *tls.Config, r reply) *faultService {
	t.Helper()
	s := &faultService{listener: listen(t), config: config, reply: r}
	s.address = s.listener.Addr().String()
	go eachConnection(s.listener, s.serve)
	return s
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// eachConnection serves every connection in a goroutine of its own until the
// listener is closed, and closes it afterwards.
func eachConnection(l net.Listener, serve func(*net.TCPConn)) {
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
}

func (s *faultService) url() string {
	if s.config == nil {
		return "http://" + s.address
	}
	return "https://" + s.address
}

// breakDown resets every connection and listens no longer.
func (s *faultService) breakDown() {
	s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.SetLinger(0)
		conn.Close()
	}
}

func (s *faultService) serve(tcp *net.TCPConn) {
	s.mu.Lock()
	s.conns = append(s.conns, tcp)
	s.mu.Unlock()
	_ = tcp.SetReadBuffer(4 << 10) // a large request does not fit on the way
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
		v := visit{Conn: conn, tcp: tcp, req: req}
		if strings.Contains(req.URL.Path, "/nobody.") {
			whole("404 Not Found", learntNobody, "Connection: close")(v)
			return
		}
		v.attempt = s.arrived.Add(1)
		if !s.reply(v) {
			return
		}
	}
}

// whole is an answer as it should be, of JSON.
func whole(status, body string, headers ...string) reply {
	return func(v visit) bool {
		v.swallow()
		headers := append([]string{"Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}, headers...)
		_, err := io.WriteString(v, "HTTP/1.1 "+status+"\r\n"+strings.Join(headers, "\r\n")+"\r\n\r\n"+body)
		return err == nil
	}
}

// rawly answers with text as it is and closes the connection.
func rawly(text string) reply {
	return func(v visit) bool {
		v.swallow()
		_, _ = io.WriteString(v, text)
		return false
	}
}

// identity is a certificate for 127.0.0.1 and the authority to trust it by.
func identity(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.TLS.Certificates[0], roots
}
