package apiclient

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
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
	Path      string    `json:"path"`                // Request.Route
	RequestID string    `json:"requestId,omitempty"` // the header X-Request-Id that was sent
	Status    int       `json:"status,omitempty"`    // 0 when no answer came
	AnswerID  string    `json:"answerId,omitempty"`  // the answer's header X-Request-Id or X-Correlation-Id, when it is another one
	Failure   string    `json:"failure,omitempty"`   // why there is no whole answer, the Reason of a Failure
	Sent      int       `json:"sent"`                // bytes of the request's body
	Received  int       `json:"received"`            // bytes of the answer's body
	Took      struct {  // milliseconds
		Wait  float64 `json:"wait"`  // for a place among the requests in flight, the rate and the end of a pause
		Whole float64 `json:"whole"` // since the request left, until the answer was read or had failed
	} `json:"ms"`
}

// WithRow returns a context for the requests of one client. Their Exchanges name the
// client's first row: its number in the sheet, and the sheet's among those of the run,
// both from 1.
func WithRow(ctx context.Context, sheet, row int) context.Context {
	return context.WithValue(ctx, tracedRow{}, tracedRow{sheet, row})
}

// tracedRow is whose requests a context is for.
type tracedRow struct{ sheet, row int }

// trace tells Config.Trace of a request that left then, what came of it, and why that is not a whole answer.
func (c *Client) trace(ctx context.Context, r Request, req *http.Request, slot *Slot, left time.Time, a Answer, err error) {
	if c.cfg.Trace == nil {
		return
	}
	whose, _ := ctx.Value(tracedRow{}).(tracedRow)
	e := Exchange{Time: left.UTC(), Sheet: whose.sheet, Row: whose.row, Kind: r.Kind, Method: r.Method, Path: r.Route,
		RequestID: c.tracedID(req.Header.Get("X-Request-Id")), Status: a.Status, Sent: len(r.Body), Received: len(a.Body)}
	e.Took.Wait, e.Took.Whole = milliseconds(slot.waited), milliseconds(time.Since(left))
	if id := c.tracedID(cmp.Or(a.Header.Get("X-Request-Id"), a.Header.Get("X-Correlation-Id"))); id != e.RequestID {
		e.AnswerID = id
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		e.Failure = f.Reason
	}
	c.cfg.Trace(e)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// shownID matches ids that can be shown: no name, address or url looks like one.
var shownID = regexp.MustCompile(`^[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*$`)

// tracedID returns an id, "" for a text that does not look like one or is a secret.
func (c *Client) tracedID(id string) string {
	const longest = 100
	if len(id) > longest || !shownID.MatchString(id) || c.secrets.hide(id) != id {
		return ""
	}
	return id
}
