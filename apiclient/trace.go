package apiclient

import (
	"cmp"
	"context"
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
	Wait       float64 `json:"wait"`       // for the limiter: a place among the requests in flight, the rate, the end of a pause
	Connection float64 `json:"connection"` // until the request had one, new or kept
	FirstByte  float64 `json:"firstByte"`  // since the request left on its connection, until the first byte of the answer came
	Whole      float64 `json:"whole"`      // of the connection and the answer, until that was read or had failed
}

// WithRow returns a context for the requests of one client. Their Exchanges name the
// client's first row: its number in the sheet, and the sheet's among those of the run,
// both from 1.
func WithRow(ctx context.Context, sheet, row int) context.Context {
	return context.WithValue(ctx, tracedRow{}, tracedRow{sheet, row})
}

// tracedRow is whose requests a context is for.
type tracedRow struct{ sheet, row int }

// tracer observes one request for Config.Trace. A nil tracer observes nothing. The hooks
// of net/http may come from other goroutines.
type tracer struct {
	client *Client

	mu       sync.Mutex
	exchange Exchange
	given    time.Time // when the request was given to the network
	left     time.Time // when it left on its connection
}

// trace returns the tracer of a request that is given to the network now, and ctx with its hook.
func (c *Client) trace(ctx context.Context, r Request, req *http.Request, waited time.Duration) (*tracer, context.Context) {
	if c.cfg.Trace == nil {
		return nil, ctx
	}
	whose, _ := ctx.Value(tracedRow{}).(tracedRow)
	t := &tracer{client: c, given: time.Now(), exchange: Exchange{Sheet: whose.sheet, Row: whose.row, Kind: r.Kind, Method: r.Method,
		Path: c.tracedPath(r), RequestID: c.tracedID(req.Header.Get("X-Request-Id")), Sent: len(r.Body)}}
	t.leaves(waited)
	return t, httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.exchange.Took.FirstByte = milliseconds(time.Since(t.left))
	}})
}

// connected says that the request has a connection.
func (t *tracer) connected(reused bool) {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.exchange.Reused, t.exchange.Took.Connection = reused, milliseconds(time.Since(t.given))
	}
}

// leaves says that the request leaves now, after having waited for so long.
func (t *tracer) leaves(waited time.Duration) {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.left = time.Now()
		t.exchange.Time, t.exchange.Took.Wait = t.left.UTC(), milliseconds(waited)
	}
}

// ended gives the Exchange away. a is what came of the answer, and err why it is not
// whole.
func (t *tracer) ended(a Answer, err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	e := t.exchange
	e.Took.Whole = e.Took.Connection + milliseconds(time.Since(t.left))
	t.mu.Unlock()
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
