package apiclient_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer/testform"
)

// lookUp is the column of look-ups.
var lookUp = columns[1]

// ends are the two ways in which a connection is cut.
var ends = map[string]bool{"end": false, "reset": true}

// framings are the ways in which HTTP marks the end of an answer's body.
var framings = map[string]func(status, body string) string{
	"length": func(status, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
	},
	"chunks": func(status, body string) string {
		half := len(body) / 2
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n",
			status, half, body[:half], len(body)-half, body[half:])
	},
	"closing": func(status, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\n\r\n%s", status, body)
	},
}

// cutAt reports whether an exchange of so many bytes is cut after n of them: after all but the
// last few, every 29th without -long.
func cutAt(n, length int64) bool { return *testform.Long || n%29 == 0 || n > length-3 }

// uncut is an exchange without a cut.
var uncut = cut{after: 1 << 20}

// exchange makes one request through the proxy, with a client of its own, which
// has learnt the answer for nobody if it is a look-up.
func exchange(t *testing.T, p *cuttingProxy, col column, c cut, do func(*apiclient.Client)) {
	client := at(t, p.URL)
	if p.cutNext(uncut); col.kind == apiclient.FindClient {
		if err := client.LearnAbsent(t.Context(), apiclient.ByEmail); err != nil {
			t.Fatal(err)
		}
	}
	p.cutNext(c)
	do(client)
}

// cutAttempt is an exchange whose result is in the words of the table.
func cutAttempt(t *testing.T, p *cuttingProxy, col column, c cut) (got string) {
	exchange(t, p, col, c, func(client *apiclient.Client) { got = col.attempt(t.Context(), client, "") })
	return got
}

// A request cut after any byte is uncertain. It is "not sent" only where not one
// byte was passed on.
func TestACutRequest(t *testing.T) {
	t.Parallel()
	for name, abort := range ends {
		for _, col := range steps {
			t.Run(name+" "+col.name, func(t *testing.T) {
				t.Parallel()
				p := startCuttingProxy(t, sound(col))
				if got := cutAttempt(t, p, col, uncut); got != "created" {
					t.Fatalf("uncut: %s", got)
				}
				length := p.bytes()
				for n := range length + 1 {
					if !cutAt(n, length) {
						continue
					}
					got := cutAttempt(t, p, col, cut{request: true, after: n, reset: abort})
					if passed := p.bytes(); got != "uncertain" && (got != "not sent, retry" || passed > 0) {
						t.Errorf("cut after %d of %d bytes: %s, %d passed on", n, length, got, passed)
					}
				}
			})
		}
	}
}

// An answer cut after any byte is uncertain; a complete one is believed. An answer
// that ends with its connection is complete when it is JSON.
func TestACutAnswer(t *testing.T) {
	t.Parallel()
	for framing, write := range framings {
		for name, abort := range ends {
			for _, col := range steps {
				if framing == "closing" && col.kind == apiclient.CreateActivity {
					continue // it needs nothing from the answer but the status
				}
				t.Run(framing+" "+name+" "+col.name, func(t *testing.T) {
					t.Parallel()
					cutAnswers(t, col, abort, write("201 Created", col.body(`"https://a.example/b"`)))
				})
			}
		}
	}
}

func cutAnswers(t *testing.T, col column, abort bool, answer string) {
	p := startCuttingProxy(t, apitest.Bytes(answer))
	length := int64(len(answer))
	cuts := int64(0)
	for n := range length + 1 {
		if !cutAt(n, length) {
			continue
		}
		cuts++
		var v apiclient.Verdict
		exchange(t, p, col, cut{after: n, reset: abort}, func(c *apiclient.Client) {
			v = c.Create(t.Context(), col.request(c.Routes(), ""))
		})
		switch {
		case v.Effect == apiclient.Uncertain && (n < length || abort):
		case v.Effect != apiclient.Created || n < length:
			t.Errorf("cut after %d of %d bytes: %s (%s)", n, length, v.Effect, v.Reason)
		case v.ID+v.URL != "https://a.example/b" && col.kind != apiclient.CreateActivity:
			t.Errorf("whole: id %q, url %q", v.ID, v.URL)
		}
	}
	if in := p.Service.Arrived(); in != cuts {
		t.Errorf("%d requests arrived for %d attempts", in, cuts)
	}
}

// A refusal is believed once its head is complete: its body is not needed.
func TestACutRefusal(t *testing.T) {
	t.Parallel()
	for framing, write := range framings {
		answer := write("422 Unprocessable Content", `{"message":"no"}`)
		headEnd := strings.Index(answer, "\r\n\r\n") + 4
		p := startCuttingProxy(t, apitest.Bytes(answer))
		for n := range len(answer) + 1 {
			got := cutAttempt(t, p, steps[0], cut{after: int64(n)})
			want := "uncertain"
			if n >= headEnd {
				want = "refused"
			}
			if got != want {
				t.Errorf("%s, cut after %d of %d bytes: %s, want %s", framing, n, len(answer), got, want)
			}
		}
	}
}

// A look-up with a cut answer gives neither an id nor "nobody".
func TestACutLookUp(t *testing.T) {
	t.Parallel()
	answers := []struct{ status, body, want string }{
		{"200 OK", `{"contactId":"a-1"}`, "found"},
		{"200 OK", `[{"contactId":"a-1"}]`, "found"},
		{"404 Not Found", apitest.NobodyBody, "absent"},
	}
	for framing, write := range framings {
		for name, abort := range ends {
			for _, a := range answers {
				t.Run(framing+" "+name+" "+a.want, func(t *testing.T) {
					t.Parallel()
					answer := write(a.status, a.body)
					p := startCuttingProxy(t, apitest.Bytes(answer))
					if got := cutAttempt(t, p, lookUp, uncut); got != a.want {
						t.Fatalf("uncut: %s, want %s", got, a.want)
					}
					for n := range len(answer) {
						if !cutAt(int64(n), int64(len(answer))) {
							continue
						}
						if got := cutAttempt(t, p, lookUp, cut{after: int64(n), reset: abort}); !strings.HasPrefix(got, "fails") {
							t.Errorf("cut after %d of %d bytes: %s", n, len(answer), got)
						}
					}
				})
			}
		}
	}
}

// cut is the point at which a cuttingProxy ends an exchange.
type cut struct {
	request bool  // in the request; otherwise in the answer
	after   int64 // bytes
	reset   bool  // with a reset instead of an end
}

// cuttingProxy stands before a Raw service and lets only a part of an exchange
// through. It handles one exchange at a time.
type cuttingProxy struct {
	URL     string
	Service *apitest.Raw

	next   atomic.Pointer[cut]
	passed atomic.Int64
}

// startCuttingProxy starts a proxy, and the service with this reply behind it.
func startCuttingProxy(t testing.TB, reply apitest.RawReply) *cuttingProxy {
	t.Helper()
	p := &cuttingProxy{Service: apitest.StartRaw(t, nil, reply)}
	p.URL = "http://" + apitest.Listen(t, p.serve).Addr().String()
	return p
}

// cutNext sets how the next exchange ends, and sets passed to 0.
func (p *cuttingProxy) cutNext(c cut) {
	p.passed.Store(0)
	p.next.Store(&c)
}

// bytes counts the bytes of requests that were passed on since cutNext. The count is
// never behind what the service has.
func (p *cuttingProxy) bytes() int64 { return p.passed.Load() }

func (p *cuttingProxy) serve(conn *net.TCPConn) {
	c := p.next.Load()
	up, err := net.Dial("tcp", p.Service.Addr)
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
	if c.reset {
		_ = conn.SetLinger(0)
		_ = up.(*net.TCPConn).SetLinger(0)
		return
	}
	// For an end, and not a reset, everything that still arrives must be read.
	_ = conn.CloseWrite()
	up.Close()
	_, _ = io.Copy(io.Discard, conn)
}

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
