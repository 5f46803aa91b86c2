package apiclient_test

import (
	"bufio"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"claimsheet/apiclient"
)

// cut is where a proxy ends an exchange.
type cut struct {
	request bool // it cuts the request; otherwise the answer
	after   int64
	abort   bool // by a reset instead of an end
}

// cuttingProxy stands before a service and lets a part of an exchange through,
// one exchange at a time.
type cuttingProxy struct {
	url     string
	service *faultService
	next    atomic.Pointer[cut] // how the next exchange ends
	passed  atomic.Int64        // bytes of its request that were passed on
}

func newCuttingProxy(t testing.TB, r reply) *cuttingProxy {
	t.Helper()
	p := &cuttingProxy{service: newFaultService(t, nil, r)}
	l := listen(t)
	p.url = "http://" + l.Addr().String()
	go eachConnection(l, p.serve)
	return p
}

func (p *cuttingProxy) serve(conn *net.TCPConn) {
	c := p.next.Load()
	up, err := net.Dial("tcp", p.service.address)
	if err != nil {
		return
	}
	defer up.Close()
	if c.request {
		p.passOn(up, io.LimitReader(conn, c.after))
	} else {
		go p.passOn(up, conn)
		answer := bufio.NewReader(up)
		_, _ = answer.Peek(1) // by then the service has the request
		_, _ = io.CopyN(conn, answer, c.after)
	}
	if c.abort {
		_ = conn.SetLinger(0)
		_ = up.(*net.TCPConn).SetLinger(0)
		return
	}
	// An end, not a reset: what still comes is read.
	_ = conn.CloseWrite()
	up.Close()
	_, _ = io.Copy(io.Discard, conn)
}

// passOn counts what it copies before it copies it, so that the count is never
// behind what the service has.
func (p *cuttingProxy) passOn(service io.Writer, request io.Reader) {
	buf := make([]byte, 4<<10)
	for {
		n, err := request.Read(buf)
		p.passed.Add(int64(n))
		if _, e := service.Write(buf[:n]); e != nil || err != nil {
			return
		}
	}
}

// uncut is an exchange of which nothing is missing.
var uncut = cut{after: 1 << 20}

// exchange makes one request through the proxy, with a client of its own that
// has learnt what nobody looks like if it is to look up.
func (p *cuttingProxy) exchange(t *testing.T, col column, c cut, do func(*apiclient.Client)) {
	client := at(t, p.url)
	if p.next.Store(&uncut); col.kind == apiclient.FindClient {
		if err := client.LearnAbsent(t.Context(), apiclient.ByEmail); err != nil {
			t.Fatal(err)
		}
	}
	p.passed.Store(0)
	p.next.Store(&c)
	do(client)
}

// attempt is an exchange of which only the table's words matter.
func (p *cuttingProxy) attempt(t *testing.T, col column, c cut) (got string) {
	p.exchange(t, col, c, func(client *apiclient.Client) { got = col.attempt(t.Context(), client, "") })
	return got
}
