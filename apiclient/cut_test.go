package apiclient_test

import (
	"fmt"
	"net"
	"strings"
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

// cutConn lets so many bytes of requests through and ends.
type cutConn struct {
	*net.TCPConn
	left  int
	reset bool
}

func (c *cutConn) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p[:min(len(p), c.left)])
	if c.left -= n; n < len(p) {
		if c.reset {
			_ = c.SetLinger(0)
		}
		_ = c.Close()
		err = net.ErrClosed
	}
	return n, err
}

// A request cut after any byte is uncertain. It is "not sent" only where not one
// byte was passed on.
func TestACutRequest(t *testing.T) {
	t.Parallel()
	for name, reset := range ends {
		for _, col := range steps {
			t.Run(name+" "+col.name, func(t *testing.T) {
				t.Parallel()
				s := apitest.StartRaw(t, nil, sound(col))
				for n := 0; n < 1000; n += testform.LongOr(1, 7) {
					c := at(t, s.URL, func(cfg *apiclient.Config) {
						cfg.Wrap = func(conn net.Conn) net.Conn { return &cutConn{conn.(*net.TCPConn), n, reset} }
					})
					got, want := col.attempt(t.Context(), c, ""), "uncertain"
					if n == 0 {
						want = "not sent, retry"
					}
					if got == "created" && n > 200 { // that was the whole of it
						return
					}
					if got != want {
						t.Errorf("cut after %d bytes: %s, want %s", n, got, want)
					}
				}
				t.Error("the request has no end")
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
					believed, step := len(text), testform.LongOr(1, 29)
					if refusal {
						believed, step = strings.Index(text, "\r\n\r\n")+4, 1
					}
					for n := 0; n <= len(text); n++ {
						if n%step != 0 && n < len(text)-2 {
							continue
						}
						reply := apitest.Bytes(text[:n])
						if abort {
							reply = apitest.ThenReset(reply)
						}
						s := apitest.StartRaw(t, nil, reply)
						c := at(t, s.URL)
						if a.col.kind == apiclient.FindClient {
							noError(t, c.LearnAbsent(t.Context(), apiclient.ByEmail))
						}
						got := a.col.attempt(t.Context(), c, "")
						if s.Arrived() != 1 {
							t.Errorf("cut after %d bytes: %d requests arrived", n, s.Arrived())
						}
						if strings.HasPrefix(got, a.part) && (n < believed || abort) {
							continue
						}
						if got != a.whole || n < believed {
							t.Errorf("cut after %d of %d bytes: %s; want %s, or %s of the whole", n, len(text), got, a.part, a.whole)
						}
					}
				})
			}
		}
	}
}
