package apitest

import (
	"bufio"
	"cmp"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// Proxy is an HTTP proxy that opens tunnels.
type Proxy struct {
	URL string
	// Route maps addresses to others that are reached in their place. It may be set
	// while nobody uses the proxy.
	Route map[string]string

	answer func(*http.Request) string

	mu    sync.Mutex
	asked []string
}

// StartProxy starts a proxy on a loopback address until the test ends. answer returns what the proxy writes instead of opening
// a tunnel, before it closes the connection; "" opens the tunnel, and so does a nil
// answer.
func StartProxy(t testing.TB, answer func(*http.Request) string) *Proxy {
	t.Helper()
	p := &Proxy{answer: answer}
	p.URL = "http://" + Listen(t, p.serve).Addr().String()
	return p
}

// Asked lists what the proxy was asked so far: method and address, and the header
// Proxy-Authorization if there was one.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *Proxy) serve(conn *net.TCPConn) {
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	asked := req.Method + " " + req.RequestURI
	if credentials := req.Header.Get("Proxy-Authorization"); credentials != "" {
		asked += " " + credentials
	}
	p.mu.Lock()
	p.asked = append(p.asked, asked)
	p.mu.Unlock()
	if p.answer != nil {
		if text := p.answer(req); text != "" {
			_, _ = io.WriteString(conn, text)
			return
		}
	}
	if req.Method != http.MethodConnect || in.Buffered() > 0 {
		_, _ = io.WriteString(conn, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
		return
	}
	up, err := net.Dial("tcp", cmp.Or(p.Route[req.RequestURI], req.RequestURI))
	if err != nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer up.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		_, _ = io.Copy(up, conn)
		_ = up.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, up)
}
