//go:build linux

package pgtest

import (
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// Proxy is a way to the server over TCP on loopback, which a test can cut.
type Proxy struct {
	server   *Server
	port     int
	passing  func()
	mu       sync.Mutex
	accepted map[*net.TCPConn]net.Conn // with the connections to the server
}

// Proxy opens one that lasts until the test ends. passing is called before each piece of
// bytes goes on, to the server or from it; also in the middle of transactions.
func (s *Server) Proxy(t testing.TB, passing func()) *Proxy {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: s, port: listener.Addr().(*net.TCPAddr).Port, passing: passing, accepted: map[*net.TCPConn]net.Conn{}}
	t.Cleanup(func() {
		_ = listener.Close()
		p.Reset()
	})
	go func() {
		for {
			conn, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

// URLOf is the url of the ledger in a schema, by this way. name is the application's.
func (p *Proxy) URLOf(schema, name string) string {
	return "postgres://postgres@" + net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) + "/postgres?" +
		url.Values{"sslmode": {"disable"}, "search_path": {schema}, "application_name": {name}}.Encode()
}

// Reset resets all connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn, server := range p.accepted {
		_ = errors.Join(conn.SetLinger(0), conn.Close(), server.Close())
	}
	clear(p.accepted)
}

func (p *Proxy) serve(conn *net.TCPConn) {
	server, err := net.Dial("unix", filepath.Join(p.server.sockets, ".s.PGSQL.5432"))
	if err != nil { // it is stopped
		_ = conn.Close()
		return
	}
	p.mu.Lock()
	p.accepted[conn] = server
	p.mu.Unlock()
	go p.pass(server, conn)
	p.pass(conn, server)
	p.mu.Lock()
	delete(p.accepted, conn)
	p.mu.Unlock()
}

// pass passes bytes on until one of the two has ended.
func (p *Proxy) pass(to, from net.Conn) {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			p.passing()
			_, err = to.Write(piece[:n])
		}
		if err != nil {
			break
		}
	}
	_ = errors.Join(to.Close(), from.Close())
}
