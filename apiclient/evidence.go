package apiclient

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
)

// countedConn counts what was written to a connection, so that "not one byte
// of this request was sent" can be proved. The network library knows it too
// but does not tell.
type countedConn struct {
	net.Conn

	mu      sync.Mutex
	written int64 // bytes that may have left: counted before the write, taken back when it fails
	sealed  bool  // no further byte will leave
}

// Write counts before it writes: whoever looks meanwhile sees too much, never
// too little.
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

// mark is the count so far.
func (c *countedConn) mark() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// seal ends all writing and is the final count: a late write of a request that
// was given up cannot make the proof untrue afterwards.
func (c *countedConn) seal() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = true
	return c.written
}

// evidence is what is known of one request's way to the wire. Under HTTP/1.1 a
// connection carries one request at a time, so what is written to it from the
// moment it is handed over is this request.
type evidence struct {
	counted bool // the transport is ours: a connection that was never handed over proves something

	mu    sync.Mutex
	given int // connections that the request was given
	conn  *countedConn
	base  int64 // conn's count when it was handed over
}

// watch attaches the evidence to a request's context.
func (e *evidence) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.given++
		if conn, ok := info.Conn.(*countedConn); ok {
			e.conn, e.base = conn, conn.mark()
		}
	}})
}

// notSent tells, after err, whether it is proved that nothing was sent. It
// ends the connection's use.
func (e *evidence) notSent(err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.given == 0 {
		return e.counted || dialling(err)
	}
	return e.given == 1 && e.conn != nil && e.conn.seal() == e.base
}

// dialling tells whether err came up before there was a connection, whatever
// transport it is from.
func dialling(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
