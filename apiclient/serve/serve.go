// Package serve answers HTTP requests until it is told to stop: for the sandbox, for studio, and for webhooks.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// shutdownTime is how long running requests may still take when Until ends.
const shutdownTime = 5 * time.Second

// Loopback opens a TCP port that only this computer can reach, for a server without
// authentication or with personal data. The network is tcp, or tcp4 to refuse ::1. Port 0 means any free port.
func Loopback(network, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address: expected one such as 127.0.0.1:8080", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%q is not a loopback address: expected one such as 127.0.0.1:8080", addr)
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() { // localhost may resolve to anything
		l.Close()
		return nil, fmt.Errorf("%q leads to %s, which is not a loopback address", addr, l.Addr())
	}
	return l, nil
}

// Until answers requests on l until ctx ends. Then it waits at most 5 s for those under
// way and returns nil if they finished. It closes l. The contexts of requests end with ctx.
func Until(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      5 * time.Minute, // of a workbook, which may be large
		IdleTimeout:       2 * time.Minute, // longer than any client's, so that no request meets a closing connection
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // it may quote what strangers send
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
