package apiclient

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// countedConn counts the bytes written to a connection, so that "not one byte of
// this request was sent" can be proved. net/http knows this too but does not
// report it.
type countedConn struct {
	net.Conn

	mu      sync.Mutex
	written int64 // bytes that may have left: added before a write, subtracted again when it fails
	sealed  bool  // no further byte will leave
}

// Write counts before it writes, so that the count is never too low while the
// write is under way.
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
	own   bool                           // the transport is ours
	once  bool                           // the request may leave on its first connection only
	leave func(idle time.Duration) error // waits, on a connection that was idle so long, until the request may leave

	conns []usedConn // that the request got
	held  error      // why it was not let leave
}

// usedConn is a connection, and its count when the request got it.
type usedConn struct {
	conn *countedConn
	base int64
}

// watch returns ctx with a trace that records which connections the request gets, and
// lets it leave on them. net/http calls it in RoundTrip, before the first byte of the request is written.
// cancel ends ctx: net/http would take another connection for a look-up that may not leave.
func (e *evidence) watch(ctx context.Context, cancel func()) context.Context {
	if !e.own {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		conn := info.Conn.(*countedConn)
		e.conns = append(e.conns, usedConn{conn, conn.count(false)})
		if e.once && len(e.conns) > 1 {
			conn.count(true)
			return
		}
		if e.held == nil {
			e.held = e.leave(info.IdleTime)
		}
		if e.held != nil {
			cancel()
			conn.count(true)
		}
	}})
}

// lacks reports whether a part of a request's body, which has so many bytes, was not written to the connection, and sees
// to it that the rest never is: the connection cannot be used any more. It may overlook as many bytes as the headers have.
func (e *evidence) lacks(body int) bool {
	if len(e.conns) == 0 || body == 0 {
		return false
	}
	last := e.conns[len(e.conns)-1]
	return last.conn.count(true)-last.base <= int64(body)
}

// failure is what became of a request for which the transport has the error err instead of an answer. It was not
// sent where not one byte was written to a connection of it; these cannot be used any more.
func (e *evidence) failure(err error) *Failure {
	notSent := e.own
	for _, c := range e.conns {
		notSent = c.conn.count(true) == c.base && notSent
	}
	if held, ok := errors.AsType[*Failure](e.held); ok {
		f := *held
		f.NotSent = notSent // a look-up may have left on another connection before
		return &f
	}
	return classify(err, notSent)
}
