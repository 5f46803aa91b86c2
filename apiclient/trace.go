package apiclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Exchange is one request that was given to the network and what came of it, for
// Config.Trace. It has no bodies, no personal data, no secrets and no urls.
type Exchange struct {
	Time      time.Time `json:"time"`            // when the request left, UTC
	Sheet     int       `json:"sheet,omitempty"` // of WithRow; 0 for none
	Row       int       `json:"row,omitempty"`   // of WithRow; 0 for none
	Kind      Kind      `json:"kind"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`                // Request.Route with the ids in it; e-mail addresses and phone numbers stay placeholders
	Attempt   int       `json:"attempt"`             // how often this same request has left for the row, this time included
	RequestID string    `json:"requestId,omitempty"` // the header X-Request-Id that was sent
	Status    int       `json:"status,omitempty"`    // 0 when no answer came
	AnswerID  string    `json:"answerId,omitempty"`  // the answer's header X-Request-Id or X-Correlation-Id, when it is another one
	Failure   string    `json:"failure,omitempty"`   // why there is no whole answer, the Reason of a Failure
	Sent      int       `json:"sent"`                // bytes of the request's body
	Received  int       `json:"received"`            // bytes of the answer's body
	Reused    bool      `json:"reused"`              // the connection was open already
	Took      Durations `json:"ms"`
}

// Durations are parts of the time that an Exchange took, in milliseconds; 0 for what
// did not happen.
type Durations struct {
	Wait        float64 `json:"wait"`        // for the limiter: a place among the requests in flight, the rate, the end of a pause
	Credentials float64 `json:"credentials"` // to put the headers on, which may need a new token
	DNS         float64 `json:"dns"`
	Connect     float64 `json:"connect"` // TCP, to the proxy where there is one
	TLS         float64 `json:"tls"`
	FirstByte   float64 `json:"firstByte"` // since the request left on its connection, until the first byte of the answer came
	Whole       float64 `json:"whole"`     // of the connection and the answer, until that was read or had failed
}

// WithRow returns a context for the requests of one client. Their Exchanges name the
// client's first row: its number in the sheet, and the sheet's among those of the run,
// both from 1. Attempts are counted from here on.
func WithRow(ctx context.Context, sheet, row int) context.Context {
	return context.WithValue(ctx, rowKey{}, &tracedRow{sheet: sheet, row: row})
}

type rowKey struct{}

// tracedRow is whose requests a context is for.
type tracedRow struct {
	sheet, row int

	mu       sync.Mutex
	attempts map[string]int
}

// count returns how often a request has left, this time included.
func (t *tracedRow) count(r Request) int {
	same := strings.Join(append([]string{r.Method, r.Query.Encode(), string(r.Body)}, r.Path...), "\x00")
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.attempts == nil {
		t.attempts = map[string]int{}
	}
	t.attempts[same]++
	return t.attempts[same]
}

// tracer observes one request for Config.Trace. A nil tracer observes nothing. The hooks
// of net/http may come late and from other goroutines, because a connection that is being
// opened for one request may be used by another.
type tracer struct {
	client  *Client
	request Request
	whose   *tracedRow
	began   time.Time     // when the queue was behind it
	given   time.Time     // when the request was given to the network
	waited  time.Duration // until then

	mu                   sync.Mutex
	exchange             Exchange
	dns, connect, secure time.Time     // when each began; zero while it does not last
	waiting              time.Time     // since when the first byte is waited for
	held                 time.Duration // how long it was held back on its connection
}

// trace returns the tracer of a request that has waited in the queue.
func (c *Client) trace(ctx context.Context, r Request) *tracer {
	if c.cfg.Trace == nil {
		return nil
	}
	whose, ok := ctx.Value(rowKey{}).(*tracedRow)
	if !ok {
		whose = &c.traced
	}
	return &tracer{client: c, request: r, whose: whose, began: time.Now()}
}

// authorized says that the credentials are on the request.
func (t *tracer) authorized() {
	if t != nil {
		t.exchange.Took.Credentials = milliseconds(time.Since(t.began))
	}
}

// leaves says that the request leaves now, after having waited for so long.
func (t *tracer) leaves(waited time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = waited - t.waited
	t.waiting = time.Now()
	t.exchange.Time, t.exchange.Took.Wait = t.waiting.UTC(), milliseconds(waited)
}

// watch says that a request leaves, or leaves as soon as it has a connection, and returns
// ctx with the hooks that watch it.
func (t *tracer) watch(ctx context.Context, req *http.Request, waited time.Duration) context.Context {
	if t == nil {
		return ctx
	}
	t.given, t.waited = time.Now(), waited
	t.leaves(waited)
	e, took := &t.exchange, &t.exchange.Took
	e.Sheet, e.Row = t.whose.sheet, t.whose.row
	e.Kind, e.Method, e.Path, e.Sent = t.request.Kind, t.request.Method, t.client.tracedPath(t.request), len(t.request.Body)
	e.RequestID = t.client.tracedID(req.Header.Get("X-Request-Id"))
	begin := func(at *time.Time) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if at.IsZero() { // of several addresses that are tried at once, the first
			*at = time.Now()
		}
	}
	end := func(at *time.Time, took *float64) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !at.IsZero() {
			*took += milliseconds(time.Since(*at))
			*at = time.Time{}
		}
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			e.Reused = info.Reused
		},
		DNSStart:             func(httptrace.DNSStartInfo) { begin(&t.dns) },
		DNSDone:              func(httptrace.DNSDoneInfo) { end(&t.dns, &took.DNS) },
		ConnectStart:         func(string, string) { begin(&t.connect) },
		ConnectDone:          func(string, string, error) { end(&t.connect, &took.Connect) },
		TLSHandshakeStart:    func() { begin(&t.secure) },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { end(&t.secure, &took.TLS) },
		GotFirstResponseByte: func() { end(&t.waiting, &took.FirstByte) },
	})
}

// ended gives the Exchange away. a is what came of the answer, and err why it is not
// whole.
func (t *tracer) ended(a Answer, err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	e := t.exchange
	t.mu.Unlock()
	e.Attempt = t.whose.count(t.request)
	e.Took.Whole = milliseconds(time.Since(t.given) - t.held)
	e.Status, e.Received = a.Status, len(a.Body)
	if id := t.client.tracedID(cmp.Or(a.Header.Get("X-Request-Id"), a.Header.Get("X-Correlation-Id"))); id != e.RequestID {
		e.AnswerID = id
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		e.Failure = f.Reason
	}
	t.client.cfg.Trace(e)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

var (
	// placeholder finds the names of ids in a Route.
	placeholder = regexp.MustCompile(`\{\w+Id\}`)
	// shownID matches ids that can be shown: no name, address or url looks like one.
	shownID = regexp.MustCompile(`^[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*$`)
)

// tracedPath returns the request's Route with ids in the place of their names. A value
// that is not an id stays a name.
func (c *Client) tracedPath(r Request) string {
	values := map[string]string{}
	pattern, _, _ := strings.Cut(r.Route, "?")
	for i, segment := range strings.Split(strings.TrimPrefix(pattern, "/"), "/") {
		if i < len(r.Path) {
			values[segment] = r.Path[i]
		}
	}
	return placeholder.ReplaceAllStringFunc(r.Route, func(word string) string {
		return cmp.Or(c.tracedID(cmp.Or(values[word], r.Query.Get(word[1:len(word)-1]))), word)
	})
}

// tracedID returns an id, "" for a text that does not look like one or is a secret.
func (c *Client) tracedID(id string) string {
	const longest = 100
	if len(id) > longest || !shownID.MatchString(id) || c.secrets.hide(id) != id {
		return ""
	}
	return id
}
