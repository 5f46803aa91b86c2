package trial

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
)

// wire is the network of a run with one worker: one request at a time.
type wire struct {
	mu      sync.Mutex
	step    string // what is being sent; "" for what has no places
	written []byte // of its request
}

func (w *wire) begin(step string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step, w.written = step, nil
}

// wrap returns a connection that has places before a request is written, when part
// of it is written, and when all of it is.
func (t *Trial) wrap(c net.Conn) net.Conn { return conn{c, &t.wire} }

type conn struct {
	net.Conn
	wire *wire
}

func (c conn) Write(p []byte) (int, error) {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.written) == 0 {
		reach("before-write", w.step)
	}
	half := 0
	if w.step != "" && len(w.written) == 0 { // a request as a rule is written at once
		half = len(p) / 2
		if n, err := c.Conn.Write(p[:half]); err != nil {
			return n, err
		}
		reach("half-written", w.step)
	}
	n, err := c.Conn.Write(p[half:])
	n += half
	if w.step == "" || err != nil {
		return n, err
	}
	if w.written = append(w.written, p[:n]...); whole(w.written) {
		reach("after-write", w.step)
	}
	return n, err
}

// whole reports whether data is a whole HTTP request.
func whole(data []byte) bool {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}
