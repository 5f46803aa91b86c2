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

// cutAttempt makes one request through the proxy, with a client of its own, which has learnt the
// answer for nobody if it is a look-up. The result is in the words of the table.
func cutAttempt(t *testing.T, p *cuttingProxy, col column, c cut) string {
	client := at(t, p.URL)
	if p.cutNext(uncut); col.kind == apiclient.FindClient {
		noError(t, client.LearnAbsent(t.Context(), apiclient.ByEmail))
	}
	p.cutNext(c)
	return col.attempt(t.Context(), client, "")
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

// An answer cut after any byte is uncertain, and that to a look-up neither an id nor "nobody". A complete one is
// believed, and a refusal once its head is complete: its body is not needed. An answer that ends with its connection is
// complete when it is JSON.
func TestACutAnswer(t *testing.T) {
	t.Parallel()
	type answer struct {
		col          column
		status, body string
		whole, part  string // what is known then
	}
	answers := []answer{
		{lookUp, "200 OK", `{"contactId":"a-1"}`, "found", "fails"},
		{lookUp, "200 OK", `[{"contactId":"a-1"}]`, "found", "fails"},
		{lookUp, "404 Not Found", apitest.NobodyBody, "absent", "fails"},
		{steps[0], "422 Unprocessable Content", `{"message":"no"}`, "refused", "uncertain"},
	}
	for _, col := range steps {
		whole := "created, id https://a.example/b"
		if col.kind == apiclient.CreateActivity {
			whole = "created"
		}
		answers = append(answers, answer{col, "201 Created", col.body(`"https://a.example/b"`), whole, "uncertain"})
	}
	for framing, write := range framings {
		for name, abort := range ends {
			for _, a := range answers {
				refusal := a.whole == "refused"
				if framing == "closing" && a.whole == "created" || abort && refusal {
					continue // these need nothing from the answer but the status, and a reset may overtake that
				}
				t.Run(framing+" "+name+" "+a.col.name+" "+a.body, func(t *testing.T) {
					t.Parallel()
					text := write(a.status, a.body)
					length, believed := int64(len(text)), int64(len(text))
					if refusal {
						believed = int64(strings.Index(text, "\r\n\r\n") + 4)
					}
					p := startCuttingProxy(t, apitest.Bytes(text))
					cuts := int64(0)
					for n := range length + 1 {
						if !cutAt(n, length) && !refusal {
							continue
						}
						cuts++
						got := cutAttempt(t, p, a.col, cut{after: n, reset: abort})
						if strings.HasPrefix(got, a.part) && (n < believed || abort) {
							continue
						}
						if got != a.whole || n < believed {
							t.Errorf("cut after %d of %d bytes: %s; want %s, or %s of the whole", n, length, got, a.part, a.whole)
						}
					}
					if in := p.Service.Arrived(); in != cuts {
						t.Errorf("%d requests arrived for %d attempts", in, cuts)
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
