package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxBody      = 1 << 20  // of an answer, in bytes
	maxTemplates = 64 << 20 // of the answer with the activity templates
)

// mostOf is how many bytes an answer to a kind of request may have.
func mostOf(k Kind) int {
	if k == ReadTemplates {
		return maxTemplates
	}
	return maxBody
}

// Client speaks to one environment's service. It is safe for concurrent use.
type Client struct {
	cfg     Config
	base    *url.URL
	chain   http.RoundTripper
	dial    func(context.Context) (net.Conn, error) // nil when the transport is not our own
	counted bool                                    // the transport is our own, whose connections prove what was sent
	rules   []rule
	pace    *pace

	mu      sync.Mutex
	sent    map[Kind]int
	absent  map[By]shape // what "nobody" looks like, once learnt
	unknown map[Unknown]int
	secrets secrets
}

// rule is a Rule with its expression compiled.
type rule struct {
	Rule
	matches *regexp.Regexp
}

// New makes a Client. The error is a problem.List of everything that is wrong
// with cfg. Nothing is sent.
func New(cfg Config) (*Client, error) {
	if err := check(cfg).Err(); err != nil {
		return nil, err
	}
	normal, err := NormaliseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(normal)
	if err != nil {
		return nil, err
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	c := &Client{
		cfg:     cfg,
		base:    base,
		counted: cfg.Transport == nil,
		sent:    make(map[Kind]int),
		absent:  make(map[By]shape),
	}
	for _, r := range cfg.Rules {
		c.rules = append(c.rules, rule{r, regexp.MustCompile(r.Matches)}) // check has compiled it
	}
	wire, fresh := cfg.Transport, cfg.Transport
	if wire == nil {
		own := newTransport(cfg)
		alone := own.Clone()
		alone.DisableKeepAlives = true
		wire, fresh, c.dial = own, alone, func(ctx context.Context) (net.Conn, error) { return dial(ctx, own, base) }
	}
	if cfg.Secrets != nil {
		c.secrets.know(cfg.Secrets())
	}
	c.pace = newPace(cfg.RequestsPerSecond, cfg.Adaptive)
	c.chain = c.assemble(wire, fresh)
	return c, nil
}

// Routes makes requests for this client's version and case.
func (c *Client) Routes() Routes { return Routes{Version: c.cfg.Version, CaseID: c.cfg.CaseID} }

// LinkBody is the configured body of the magic-link request, for
// Routes.CreateLink; nil where it has none.
func (c *Client) LinkBody() json.RawMessage { return slices.Clone(c.cfg.Wire.LinkBody) }

// Repeatable tells whether a request of the kind may be sent again when its
// outcome is uncertain, on the word of the service's operator.
func (c *Client) Repeatable(k Kind) bool { return slices.Contains(c.cfg.Repeatable, k) }

// Sent is how many requests of each kind were really given to the wire so far;
// one whose answer is awaited counts when it is over.
func (c *Client) Sent() map[Kind]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sent)
}

// Do sends one request, once, and reads its answer, whatever its status. The
// error is always a *Failure; where the status was read before things went
// wrong, the Answer has it, and what there is of the body.
//
// A context that is done before the request is on its way stops it (NotSent).
// From then on a GET is cancelled with ctx, and a POST is not: it has
// Config.Timeout for the answer's head and 60 s more for the body.
//
// There is one exception to "once": a 401 that no Rule speaks of, which proves
// that the request was not processed, is sent again with new credentials where
// Config.Renew has any. A second 401 is the answer.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	a, sent, err := c.once(ctx, r)
	if err != nil || a.Status != http.StatusUnauthorized || c.cfg.Renew == nil {
		return a, err
	}
	if _, ruled := c.ruleFor(a); ruled {
		return a, nil
	}
	limited, cancel := context.WithTimeout(ctx, getTimeout)
	renewed, err := c.cfg.Renew(limited, sent)
	cancel()
	if err != nil {
		return Answer{}, withoutCredentials(err)
	}
	if !renewed {
		return a, nil
	}
	a, _, err = c.once(ctx, r)
	return a, err
}

// once sends a request and reads its answer. sent is what went out, for an
// answer that was read in full.
func (c *Client) once(ctx context.Context, r Request) (a Answer, sent *http.Request, err error) {
	req, body, err := c.build(ctx, r)
	if err != nil {
		return Answer{}, nil, err
	}
	ctx, trip := begin(ctx)
	proof := &evidence{counted: c.counted}
	res, err := c.chain.RoundTrip(req.WithContext(proof.watch(ctx)))
	if err != nil {
		f := classify(err, proof.notSent(err))
		if !f.NotSent {
			c.count(r.Kind)
		}
		return Answer{}, nil, f
	}
	defer res.Body.Close()
	c.count(r.Kind)
	now := time.Now()
	a = Answer{
		Status:      res.StatusCode,
		ContentType: res.Header.Get("Content-Type"),
		Header:      res.Header,
		RetryAfter:  retryAfter(res.Header, now),
		Early:       body.unread(),
		Took:        now.Sub(trip.left),
	}
	a.Date, _ = http.ParseTime(res.Header.Get("Date")) // zero when there is none
	most := mostOf(r.Kind)
	a.Body, err = io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	switch {
	case len(a.Body) > most:
		a.Body = a.Body[:most]
		return a, nil, &Failure{Again: true, Reason: fmt.Sprintf("%s, but the answer is larger than %d MiB", statusText(a.Status), most>>20)}
	case err != nil:
		return a, nil, &Failure{Again: true, Reason: statusText(a.Status) + ", but " + describe(err, false), Err: err}
	}
	if c.asksForTime(a) {
		c.pace.refused(a, trip.left)
	} else {
		c.pace.accepted()
	}
	return a, res.Request, nil
}

// asksForTime tells that an answer means "not now" for all requests and not
// just for this one: a 429, a 503 that says for how long, or one of a Rule that
// means retry.
func (c *Client) asksForTime(a Answer) bool {
	busy := a.Status == http.StatusTooManyRequests || a.RetryAfter > 0 && a.Status == http.StatusServiceUnavailable
	rule, ruled := c.ruleFor(a)
	if !ruled {
		return busy
	}
	return rule.Means == "retry" && (busy || a.RetryAfter > 0 || a.Status == http.StatusServiceUnavailable)
}

func (c *Client) count(k Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[k]++
}

// build makes the HTTP request. Its errors are failures by which nothing was
// sent.
func (c *Client) build(ctx context.Context, r Request) (*http.Request, *requestBody, error) {
	u, err := r.below(c.base)
	if err != nil {
		return nil, nil, unsent("a part of the request's path "+err.Error(), err)
	}
	req := (&http.Request{Method: r.Method, URL: u, Host: u.Host, Header: make(http.Header)}).WithContext(ctx)
	if r.Method == http.MethodGet || r.NoBody && r.Body == nil {
		return req, &requestBody{}, nil
	}
	if !json.Valid(r.Body) {
		return nil, nil, unsent("the request's body is not JSON", errors.New("not JSON"))
	}
	body := &requestBody{data: r.Body}
	req.Body, req.ContentLength = body, int64(len(r.Body))
	return req, body, nil
}

// requestBody is read once, by the transport, and tells how far it came. It
// has no other methods, so that nothing can rewind it or go around Read.
type requestBody struct {
	data []byte
	read atomic.Int64
}

func (b *requestBody) Read(p []byte) (int, error) {
	at := b.read.Load()
	if at == int64(len(b.data)) {
		return 0, io.EOF
	}
	n := copy(p, b.data[at:])
	b.read.Add(int64(n))
	return n, nil
}

func (b *requestBody) Close() error { return nil }

// unread tells that part of the body has not even been fetched for sending.
func (b *requestBody) unread() bool { return b.read.Load() < int64(len(b.data)) }
