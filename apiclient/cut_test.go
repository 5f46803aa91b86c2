package apiclient_test

import (
	"fmt"
	"strings"
	"testing"

	"claimsheet/apiclient"
)

// lookUp is the column of look-ups.
var lookUp = columns[1]

// ends are the two ways in which a connection is cut.
var ends = map[string]bool{"end": false, "reset": true}

// framings are the ways in which HTTP tells where an answer's body ends.
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

// A request that is cut after any byte: the outcome is uncertain, and "not
// sent" only where not one byte was passed on.
func TestACutRequest(t *testing.T) {
	t.Parallel()
	for name, abort := range ends {
		for _, col := range steps {
			t.Run(name+" "+col.name, func(t *testing.T) {
				t.Parallel()
				p := newCuttingProxy(t, sound(col))
				if got := p.attempt(t, col, uncut); got != "created" {
					t.Fatalf("uncut: %s", got)
				}
				length := p.passed.Load()
				counts := map[string]int{}
				for n := range length + 1 {
					got := p.attempt(t, col, cut{request: true, after: n, abort: abort})
					if passed := p.passed.Load(); got != "uncertain" && (got != "not sent" || passed > 0) {
						t.Errorf("cut after %d of %d bytes: %s, %d passed on", n, length, got, passed)
					}
					counts[got]++
				}
				t.Logf("%d cuts: %v", length+1, counts)
			})
		}
	}
}

// An answer that is cut after any byte is uncertain; a whole one is what it
// says. Of an answer that ends with its connection, what is JSON is whole.
func TestACutAnswer(t *testing.T) {
	t.Parallel()
	for framing, write := range framings {
		for name, abort := range ends {
			for _, col := range steps {
				if framing == "closing" && col.kind == apiclient.CreateActivity {
					continue // it needs nothing from the answer: its status is the whole of it
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
	p := newCuttingProxy(t, rawly(answer))
	length := int64(len(answer))
	var uncertain int
	for n := range length + 1 {
		var v apiclient.Verdict
		p.exchange(t, col, cut{after: n, abort: abort}, func(c *apiclient.Client) {
			v = c.Create(t.Context(), col.request(c.Routes(), ""))
		})
		switch {
		case v.Effect == apiclient.Uncertain && (n < length || abort):
			uncertain++
		case v.Effect != apiclient.Created || n < length:
			t.Errorf("cut after %d of %d bytes: %s (%s)", n, length, v.Effect, v.Reason)
		case v.ID+v.URL != "https://a.example/b" && col.kind != apiclient.CreateActivity:
			t.Errorf("whole: id %q, url %q", v.ID, v.URL)
		}
	}
	if in := p.service.arrived.Load(); in != length+1 {
		t.Errorf("%d requests arrived for %d attempts", in, length+1)
	}
	t.Logf("%d cuts, %d uncertain", length+1, uncertain)
}

// A refusal is believed once its head is whole, for nothing hangs on its body.
func TestACutRefusal(t *testing.T) {
	t.Parallel()
	for framing, write := range framings {
		answer := write("422 Unprocessable Content", `{"message":"no"}`)
		headEnd := strings.Index(answer, "\r\n\r\n") + 4
		p := newCuttingProxy(t, rawly(answer))
		for n := range len(answer) + 1 {
			got := p.attempt(t, steps[0], cut{after: int64(n)})
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

// A look-up whose answer is cut says nothing: neither an id nor "nobody".
func TestACutLookUp(t *testing.T) {
	t.Parallel()
	answers := []struct{ status, body, want string }{
		{"200 OK", `{"contactId":"a-1"}`, "found"},
		{"200 OK", `[{"contactId":"a-1"}]`, "found"},
		{"404 Not Found", learntNobody, "absent"},
	}
	for framing, write := range framings {
		for name, abort := range ends {
			for _, a := range answers {
				t.Run(framing+" "+name+" "+a.want, func(t *testing.T) {
					t.Parallel()
					answer := write(a.status, a.body)
					p := newCuttingProxy(t, rawly(answer))
					if got := p.attempt(t, lookUp, uncut); got != a.want {
						t.Fatalf("uncut: %s, want %s", got, a.want)
					}
					for n := range len(answer) {
						if got := p.attempt(t, lookUp, cut{after: int64(n), abort: abort}); got != "fails" {
							t.Errorf("cut after %d of %d bytes: %s", n, len(answer), got)
						}
					}
				})
			}
		}
	}
}
