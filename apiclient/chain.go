package apiclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	getTimeout     = 30 * time.Second  // for a GET's whole answer
	defaultTimeout = 120 * time.Second // for the head of a POST's answer
	bodyTimeout    = 60 * time.Second  // from then on for the body, if Config.Timeout is not shorter
)

// assemble is every RoundTripper that a request passes, the last one first.
// Each changes a copy of the request, never the request itself.
// wire reuses connections, fresh does not.
func (c *Client) assemble(wire, fresh http.RoundTripper) http.RoundTripper {
	cfg := c.cfg
	next := http.RoundTripper(oneShot{wire, fresh})
	next = departing{c.pace, ownTime{cfg.Timeout, next}}
	if cfg.Authorize != nil {
		next = authorised{cfg.Authorize, &c.secrets, next}
	}
	next = labelled{cfg.Headers.Clone(), cfg.UserAgent, next}
	next = paced{c.pace, next}
	if cfg.ReadOnly {
		next = readOnly{next}
	}
	return next
}

// readOnly refuses every method but GET.
type readOnly struct{ next http.RoundTripper }

func (t readOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return nil, unsent("nothing but look-ups is sent in a dry run", nil)
	}
	return t.next.RoundTrip(req)
}

// labelled sets the configured headers and our own. X-Request-Id lets the
// service's operator find the request in their logs; it is new every time and
// is not an idempotency key.
type labelled struct {
	headers   http.Header
	userAgent string
	next      http.RoundTripper
}

func (t labelled) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	if req.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if t.userAgent != "" {
		req.Header.Set("User-Agent", t.userAgent)
	}
	req.Header.Set("X-Request-Id", uuid.NewString())
	for name, values := range t.headers {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	return t.next.RoundTrip(req)
}

// authorised puts the credentials on. It may ask a token server, so it still
// obeys the run's context, and no longer than a GET may take.
type authorised struct {
	authorize func(context.Context, *http.Request) error
	secrets   *secrets
	next      http.RoundTripper
}

func (t authorised) RoundTrip(req *http.Request) (*http.Response, error) {
	before := req.Header
	req = req.Clone(req.Context())
	ctx, cancel := context.WithTimeout(req.Context(), getTimeout)
	err := t.authorize(ctx, req)
	cancel()
	if err != nil {
		return nil, withoutCredentials(err)
	}
	t.secrets.learn(before, req.Header)
	res, err := t.next.RoundTrip(req)
	if res != nil {
		res.Request = req // what the credentials were put on, for Config.Renew
	}
	return res, err
}

// withoutCredentials is the failure of a request that has none: it was not
// sent.
func withoutCredentials(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return &Failure{NotSent: true, Stop: f.Stop, Reason: f.Reason, Hint: f.Hint, Err: err}
	}
	return unsent("the credentials could not be had", err)
}

// ownTime is the point of no return. A context that is done ends the request
// here; beyond it a POST has a time limit of its own and no longer heeds the
// run's context, because cutting off a request in flight only makes its
// outcome unknown. A GET stays cancellable.
type ownTime struct {
	timeout time.Duration
	next    http.RoundTripper
}

func (t ownTime) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, unsent("stopped before it was sent", err)
	}
	limit := min(getTimeout, t.timeout)
	if req.Method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
		limit = t.timeout + bodyTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	res, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	body := &timedBody{ReadCloser: res.Body, cancel: cancel}
	if req.Method != http.MethodGet {
		body.timer = time.AfterFunc(min(bodyTimeout, t.timeout), body.expire)
	}
	res.Body = body
	return res, nil
}

// timedBody ends a request's context when its answer has been read, or when the
// time for the body is over, however much of it drips in.
type timedBody struct {
	io.ReadCloser
	cancel  context.CancelFunc
	timer   *time.Timer // nil for a GET, whose context has one limit for all
	expired atomic.Bool
}

func (b *timedBody) expire() {
	b.expired.Store(true)
	b.cancel()
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.expired.Load() {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

func (b *timedBody) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	defer b.cancel()
	return b.ReadCloser.Close()
}

// oneShot takes from net/http every ground on which it would send a request
// again: GetBody, a connection that was used before under a request without a
// body, and the headers that it takes as a promise of idempotency.
type oneShot struct {
	next  http.RoundTripper
	fresh http.RoundTripper // opens a connection for each request
}

func (t oneShot) RoundTrip(req *http.Request) (*http.Response, error) {
	for _, name := range replayHeaders {
		if _, ok := req.Header[name]; ok {
			return nil, unsent("the header "+name+" must not be set: it makes the network library send a request twice", nil)
		}
	}
	next := t.next
	if req.Method != http.MethodGet && req.Body == nil {
		next = t.fresh
	}
	req = req.Clone(req.Context())
	req.GetBody = nil
	return next.RoundTrip(req)
}

// replayHeaders, in canonical spelling, make net/http treat a POST as
// replayable.
var replayHeaders = []string{"Idempotency-Key", "X-Idempotency-Key"}
