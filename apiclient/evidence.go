package apiclient

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
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

// mark returns the count so far.
func (c *countedConn) mark() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// seal ends all writing and returns the final count. Without it a late write of
// an abandoned request could make the proof untrue afterwards.
func (c *countedConn) seal() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = true
	return c.written
}

// evidence records whether one request reached the network. In HTTP/1.1 a
// connection carries one request at a time, so everything written to it after
// the request got the connection belongs to that request.
type evidence struct {
	ownTransport bool // the transport is ours: a request that never got a connection was not sent
	once         bool // the request may leave on its first connection only

	goOn func(httptrace.GotConnInfo) error // waits, on a connection, until the request may leave; nil for at once

	mu      sync.Mutex
	conns   []got // that the request got
	foreign bool  // one of them is not ours
	held    error // why goOn did not let it leave
}

// got is a connection, and its count when the request got it.
type got struct {
	conn *countedConn
	base int64
}

// watch returns ctx with a trace that records which connections the request gets, and
// lets it leave on them. It is called before the first byte of the request is written.
// cancel ends ctx: net/http would take another connection for a look-up that may not leave.
func (e *evidence) watch(ctx context.Context, cancel func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		e.mu.Lock()
		defer e.mu.Unlock()
		conn, ok := info.Conn.(*countedConn)
		if !ok {
			e.foreign = true
			return
		}
		e.conns = append(e.conns, got{conn, conn.mark()})
		if e.once && len(e.conns) > 1 {
			conn.seal()
			return
		}
		if e.goOn != nil && e.held == nil {
			e.held = e.goOn(info)
		}
		if e.held != nil {
			cancel()
			conn.seal()
		}
	}})
}

// failure is what became of a request for which the transport has no answer.
func (e *evidence) failure(err error) *Failure {
	notSent := e.notSent(err)
	if held, ok := errors.AsType[*Failure](e.held); ok {
		f := *held
		f.NotSent = notSent // a look-up may have left on another connection before
		return &f
	}
	return classify(err, notSent)
}

// notSent reports, after the request failed with err, whether it is proved that
// not one byte of it was sent. Its connections cannot be used any more.
func (e *evidence) notSent(err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.conns) == 0 && !e.foreign {
		return e.ownTransport || dialling(err)
	}
	sent := e.foreign
	for _, c := range e.conns {
		sent = c.conn.seal() != c.base || sent
	}
	return !sent
}

// dialling reports whether err means that there was no connection, also for a
// transport that is not ours.
func dialling(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
