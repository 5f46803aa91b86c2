package studio

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

// Listen opens a TCP port for Serve, on 127.0.0.1 only: the page shows personal data and
// writes a file. Port 0 means any free port.
func Listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host != "127.0.0.1" && host != "localhost" {
		return nil, fmt.Errorf("%q is not an address of this computer alone: expected 127.0.0.1:PORT", addr)
	}
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() { // localhost may resolve to anything
		l.Close()
		return nil, fmt.Errorf("%q leads to %s, which others can reach", addr, l.Addr())
	}
	return l, nil
}

// Link is the address that opens the page, once.
func (s *Server) Link(l net.Listener) string {
	return fmt.Sprintf("http://%s/?token=%s", l.Addr(), s.guard.token)
}

// Serve serves the session on l until ctx ends or no page has asked for long enough. It
// closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      5 * time.Minute, // a workbook may be large
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // it may quote what strangers send
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	tick := time.NewTicker(min(time.Second, s.options.Idle))
	defer tick.Stop()
	for over := false; !over; {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			over = true
		case <-s.ctx.Done():
			over = true
		case <-tick.C:
			over = s.isIdle()
		}
	}
	s.stop()
	fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(fresh); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	err := server.Close()
	if crash := s.crash.Load(); crash != nil {
		return crash
	}
	return err
}
