package apiclient_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

// steps are the columns that create something.
var steps = columns[2:]

// A reused connection ends after the service has read the second request: here
// net/http sends a request again if it has any reason to. It may so send a request
// for a magic link without a body that was to leave on a kept connection.
func TestAKeptConnectionThatEndsMultipliesNothing(t *testing.T) {
	bodiless := steps[4]
	bodiless.name = "link without a body"
	bodiless.request = func(r apiclient.Routes, _ string) apiclient.Request { return r.CreateLink("contact-1", nil) }
	ends := map[string]apitest.RawReply{"closed": apitest.Bytes(""), "reset": apitest.ThenReset(apitest.Bytes(""))}
	for name, end := range ends {
		for _, withTLS := range []bool{false, true} {
			for _, col := range append(slices.Clone(steps), bodiless) {
				server, trust := secured(t, withTLS)
				var first atomic.Pointer[net.TCPConn]
				s := apitest.StartRaw(t, server, func(v apitest.RawRequest) bool {
					if head := v.Request.Header; col.name == bodiless.name && (head.Get("Content-Length") != "0" || head.Get("Content-Type") != "") {
						t.Errorf("%s: the head is %v", col.name, head)
					}
					if v.Attempt == 1 {
						first.Store(v.TCP)
						return sound(col)(v)
					}
					if v.TCP != first.Load() {
						t.Errorf("TLS %v, %s: the connection was not kept", withTLS, col.name)
					}
					return end(v)
				})
				c := at(t, s.URL, trust)
				got := []string{col.attempt(t.Context(), c, ""), col.attempt(t.Context(), c, "")}
				if got[0] != "created" || got[1] != "uncertain" || s.Arrived() != 2 {
					t.Errorf("%s, TLS %v, %s: %q, %d arrived; want created, uncertain, 2", name, withTLS, col.name, got, s.Arrived())
				}
			}
		}
	}
}

// closing is a connection that tells when it is closed.
type closing struct {
	net.Conn
	closed chan struct{}
}

func (c closing) Close() error {
	err := c.Conn.Close()
	close(c.closed)
	return err
}

// A kept connection that the service ends before a request leaves on it proves that the request was not sent, also
// where TLS would still write that it closes.
func TestAConnectionThatEndsBeforeTheRequestLeaves(t *testing.T) {
	for _, withTLS := range []bool{false, true} {
		server, trust := secured(t, withTLS)
		end, closed := make(chan struct{}), make(chan struct{})
		s := apitest.StartRaw(t, server, func(v apitest.RawRequest) bool {
			_ = sound(steps[0])(v)
			<-end
			return false
		})
		c := at(t, s.URL, trust, func(cfg *apiclient.Config) {
			cfg.Wrap = func(conn net.Conn) net.Conn { return closing{conn, closed} }
		})
		if v := c.Create(t.Context(), createContact(c)); v.Effect != apiclient.Created {
			t.Fatalf("%+v", v)
		}
		gotConn := func(httptrace.GotConnInfo) { close(end); <-closed }
		v := c.Create(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: gotConn}), createContact(c))
		if v.Effect != apiclient.NotSent || v.Retry != apiclient.Now || s.Arrived() != 1 || c.Sent()[apiclient.CreateClient] != 1 {
			t.Errorf("TLS %v: %+v, %d arrived, %v are counted; want not sent", withTLS, v, s.Arrived(), c.Sent())
		}
	}
}

// The headers that make net/http send a POST again are never sent, whoever sets them,
// also on a reused connection.
func TestHeadersThatPromiseIdempotencyAreNeverSent(t *testing.T) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "x-idempotency-key"} {
		cfg := config(apiclient.V2)
		cfg.Headers = http.Header{name: {"k"}}
		if _, err := apiclient.New(cfg); err == nil {
			t.Errorf("%s is taken as a configured header", name)
		}
		for _, col := range steps {
			promise := false
			s := apitest.StartRaw(t, nil, sound(col))
			c := at(t, s.URL, func(cfg *apiclient.Config) {
				cfg.Authorize = func(_ context.Context, req *http.Request) error {
					if promise {
						req.Header.Set(name, "k")
					}
					return nil
				}
			})
			got := col.attempt(t.Context(), c, "")
			promise = true
			if again := col.attempt(t.Context(), c, ""); got != "created" || again != "not sent, retry" || s.Arrived() != 1 {
				t.Errorf("%s, %s: %s without, %s with it, %d arrived; want created, not sent, retry, 1", name, col.name, got, again, s.Arrived())
			}
		}
	}
}

// Over HTTP/2 the library may send one POST more than a thousand times.
func TestHTTP2IsNeverSpoken(t *testing.T) {
	var other atomic.Value
	var arrived atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		if r.ProtoMajor != 1 || r.TLS.NegotiatedProtocol == "h2" {
			other.Store(r.Proto + " " + r.TLS.NegotiatedProtocol)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"contactId":"https://a.example","claimId":"https://a.example","id":"a","redirectUrl":"https://a.example"}`)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := at(t, s.URL, func(cfg *apiclient.Config) {
		cfg.TLS = &tls.Config{RootCAs: roots, NextProtos: []string{"h2", "http/1.1"}}
	})
	for _, col := range steps {
		if got := col.attempt(t.Context(), c, ""); got != "created" {
			t.Errorf("%s: %s", col.name, got)
		}
	}
	if other.Load() != nil || arrived.Load() != int64(len(steps)) {
		t.Errorf("%v was spoken, %d arrived; want HTTP/1.1 and %d", other.Load(), arrived.Load(), len(steps))
	}
}
