package apiclient_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
)

// The transport in the same process behaves like a socket.
func TestInProcessIsLikeASocket(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("Retry-After", "8") // too late
		fmt.Fprintf(w, "%s %s %s %q %v %d %s", r.Method, r.URL.Path, r.URL.RawQuery, body, err, r.ContentLength, r.Header.Get("Content-Type"))
	})
	server := httptest.NewServer(h)
	defer server.Close()
	socket := at(t, server.URL+"/api")
	direct := against(t, h)
	for _, req := range everyRequest(socket.Routes()) {
		want, err := socket.Do(t.Context(), req)
		noError(t, err)
		got, err := direct.Do(t.Context(), req)
		for _, ofTheSocket := range []string{"Date", "Content-Length"} {
			want.Header.Del(ofTheSocket)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v; -socket +direct:\n%s", req.Route, err, diff)
		}
		if want.RetryAfter != 7*time.Second {
			t.Errorf("retry after %v, want 7s", want.RetryAfter)
		}
	}
}

func TestAHandlerThatPanicsIsABrokenConnection(t *testing.T) {
	for _, value := range []any{http.ErrAbortHandler, "jane.canary@example.com"} {
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"contactId":"a"}`)
			panic(value)
		})
		v := c.Create(t.Context(), createContact(c))
		if v.Effect != apiclient.Uncertain || v.Reason != "the connection was closed before the answer was complete" {
			t.Errorf("%s, %q", v.Effect, v.Reason)
		}
	}
}

// piped is a listener of connections in memory.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p piped) Close() error   { return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{} }

// overPipes returns a client of a service over connections in memory, by the clock of a bubble, and how many it has opened.
func overPipes(t *testing.T, h http.HandlerFunc) (c *apiclient.Client, opened *int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	p, server, ended := make(piped), &http.Server{Handler: h}, make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(p) }()
	t.Cleanup(func() {
		_ = l.Close()
		close(p)
		_ = server.Close()
		<-ended
	})
	opened = new(int)
	return at(t, "http://"+l.Addr().String(), func(cfg *apiclient.Config) {
		cfg.Wrap = func(conn net.Conn) net.Conn {
			_ = conn.Close()
			ours, theirs := net.Pipe()
			*opened++
			p <- theirs
			return ours
		}
	}), opened
}

// A server that closes idle connections just when the next request comes makes
// outcomes uncertain although nothing is wrong. The client closes them before any server does.
func TestIdleConnectionsAreClosedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, opened := overPipes(t, answers(201, "application/json", `{"contactId":"a"}`))
		for i, idle := range []time.Duration{0, 500 * time.Millisecond, 2 * time.Second} {
			time.Sleep(idle)
			if v := c.Create(t.Context(), createContact(c)); v.Effect != apiclient.Created || *opened != []int{1, 1, 2}[i] {
				t.Errorf("after %v: %s over connection %d", idle, v.Effect, *opened)
			}
		}
	})
}
