package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// DefaultAddress is where the sandbox listens unless another address is asked for.
// Redirect urls that a run makes without a server lead there.
const DefaultAddress = "127.0.0.1:8080"

// shutdownTime is how long running requests may still take when Serve ends.
const shutdownTime = 5 * time.Second

// Listen opens a TCP port for Serve, on a loopback address only, because the
// sandbox has no authentication. Port 0 means any free port.
func Listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address: expected one such as 127.0.0.1:8080", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%q is not a loopback address: expected one such as 127.0.0.1:8080", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() { // localhost may resolve to anything
		l.Close()
		return nil, fmt.Errorf("%q leads to %s, which is not a loopback address", addr, l.Addr())
	}
	return l, nil
}

// Serve serves a Service, or what stands in front of one, on l until ctx ends. Then
// it waits at most 5 s for running requests and returns nil if they finished. It
// closes l. The contexts of requests end with ctx. A web page that the user visits
// cannot use the service: requests for another host (DNS rebinding) and cross-origin
// requests get a 403, and there are no CORS headers.
func Serve(ctx context.Context, l net.Listener, service http.Handler) error {
	server := &http.Server{
		Handler:           guarded(service, l.Addr()),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute, // longer than any client's, so that no request meets a closing connection
		MaxHeaderBytes:    64 << 10,
	}
	stopped := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		stopped <- server.Shutdown(fresh)
	})()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// guarded returns the service behind the checks of Host and Origin.
func guarded(service http.Handler, addr net.Addr) http.Handler {
	_, port, _ := net.SplitHostPort(addr.String())
	hosts := []string{addr.String(), "localhost:" + port}
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(http.StatusForbidden, "cross-origin", "Origin", "the request comes from a web page of another origin: expected none").write(w)
	}))
	inner := origins.Handler(service)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(hosts, r.Host) {
			refuse(http.StatusForbidden, "wrong-host", "Host", "the request is for another host: expected %s", hosts[0]).write(w)
			return
		}
		inner.ServeHTTP(w, r)
	})
}
