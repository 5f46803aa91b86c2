// Package apiclient talks to the claims intake service: a Request goes in, an
// answer or a classified failure comes out. It knows no sheets, no mappings and
// no ledger.
//
// Its promise is about POST requests, because the service has no idempotency
// keys: one call of Client.Create sends the request at most once. The client
// speaks HTTP/1.1 only, follows no redirect, retries nothing and gives net/http
// no reason to retry.
//
// A Verdict says "not sent" or "refused" only where that is proved. Everything
// else is uncertain, and what to do then is decided outside this package.
package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"claimsheet/mapping/problem"
)

const (
	connectTimeout = 10 * time.Second  // for each step to a connection
	getTimeout     = 30 * time.Second  // for the whole answer to a GET
	defaultTimeout = 120 * time.Second // for the head of the answer to a POST
	bodyTimeout    = 60 * time.Second  // how much longer the whole answer may take, unless Config.Timeout is shorter

	maxBody      = 1 << 20  // bytes of an answer
	maxTemplates = 64 << 20 // bytes of the answer with the activity templates
)

// Client sends requests to the service of one environment. It is safe for concurrent use.
type Client struct {
	cfg       Config
	base      *url.URL
	transport http.RoundTripper
	rules     []rule
	*pacer

	mu      sync.Mutex
	sent    map[Kind]int
	absent  map[By]shape // what the answer for an unknown client looks like, once learnt
	secrets secrets
}

// New makes a Client and sends nothing. The error says what is wrong with cfg.
func New(cfg Config) (*Client, error) {
	base, err := check(cfg)
	rules, wrong := compile(cfg.Rules)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, problem.New("client-config", "%v", err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	c := &Client{
		cfg:       cfg,
		base:      base,
		transport: cfg.Transport,
		rules:     rules,
		pacer:     newPacer(cfg),
		sent:      make(map[Kind]int),
		absent:    make(map[By]shape),
	}
	if cfg.Transport == nil {
		c.transport = NewTransport(cfg)
	}
	if cfg.Secrets != nil {
		c.secrets.learn(cfg.Secrets())
	}
	return c, nil
}

// Routes makes requests for this client's version and case.
func (c *Client) Routes() Routes { return Routes{Version: c.cfg.Version, CaseID: c.cfg.CaseID} }

// LinkBody returns the configured body of the magic-link request, for
// Routes.CreateLink; nil means that the request has no body.
func (c *Client) LinkBody() json.RawMessage { return slices.Clone(c.cfg.Wire.LinkBody) }

// Repeatable reports whether a request of kind k may be sent again when its
// outcome is uncertain. The environment allows it, on the word of the service's
// operator.
func (c *Client) Repeatable(k Kind) bool { return slices.Contains(c.cfg.Repeatable, k) }

// Sent counts the requests of each kind that were given to the network so far.
// A request counts when it is over, not while it waits for its answer.
func (c *Client) Sent() map[Kind]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sent)
}

// Create sends a creating request, once, and judges what became of it.
func (c *Client) Create(ctx context.Context, r Request) Verdict { return c.CreateReserved(ctx, nil, r) }

// CreateReserved is Create in a slot that Reserve has returned, which it uses up.
//
// If the service has asked to wait since Reserve, the request is not sent at all,
// because it would wait although everything before it is already durable. The
// Verdict is then NotSent with Retry AfterPause, and the caller reserves another
// slot.
func (c *Client) CreateReserved(ctx context.Context, slot *Slot, r Request) Verdict {
	if slot == nil || slot.over {
		slot = &Slot{pacer: c.pacer}
	}
	a, err := c.send(ctx, r, slot)
	return c.Judge(r, a, err)
}

// Do sends one request, once, and reads its answer, whatever the status. The
// error is always a *Failure. When the status was read before the failure, the
// Answer holds it and as much of the body as arrived.
//
// A ctx that ends before the request leaves stops it (NotSent). After that, ctx
// still cancels a GET but not a POST, which may wait Config.Timeout for the head
// of its answer, and 60 s more for all of it: cancelling a POST on its way would
// only make its outcome unknown.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	return c.send(ctx, r, c.slot(ctx))
}

// send takes one request all the way: it waits in the queue, puts headers and
// credentials on, leaves, and reads the answer. The slot is over when send returns.
func (c *Client) send(ctx context.Context, r Request, slot *Slot) (a Answer, err error) {
	slot.over = true
	defer slot.Release()
	req, err := c.build(r)
	if err != nil {
		return Answer{}, err
	}
	if err := c.enter(ctx, slot); err != nil {
		return Answer{}, err
	}
	if err := slot.Await(ctx); err != nil {
		return Answer{}, err
	}
	if err := c.setHeaders(ctx, req); err != nil {
		return Answer{}, err
	}
	if err := c.leave(ctx, slot); err != nil {
		return Answer{}, err
	}
	left := time.Now()
	defer func() { c.trace(ctx, r, req, slot, left, a, err) }()
	proof := &evidence{own: c.cfg.Transport == nil, once: req.Method != http.MethodGet}
	res, end, err := c.roundTrip(ctx, proof, req)
	defer end()
	var f *Failure
	if err != nil {
		f = proof.failure(err)
	}
	if f == nil || !f.NotSent {
		c.mu.Lock()
		c.sent[r.Kind]++
		c.mu.Unlock()
	}
	if f != nil {
		return Answer{}, f
	}
	defer res.Body.Close()
	a.Early = res.StatusCode == http.StatusRequestTimeout && proof.lacks(len(r.Body)) // no other answer needs to know
	err = a.read(r, res, c.cfg.Now())
	if c.asksToWait(a) {
		c.refused(ctx, busyAnswer{status: a.Status, wait: a.RetryAfter, cuts: slot.cuts})
	} else if err == nil {
		c.accepted()
	}
	return a, err
}

// read fills in what the response to a request says, which arrived at now. The
// error, a *Failure, means that the body is incomplete.
func (a *Answer) read(r Request, res *http.Response, now time.Time) error {
	a.Status, a.Header = res.StatusCode, res.Header
	a.RetryAfter = retryAfter(res.Header, now)
	var err error
	most := maxBody
	if r.Kind == ReadTemplates {
		most = maxTemplates
	}
	a.Body, err = io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	// A body that ends with its connection looks the same when it was cut.
	a.Cut = res.ContentLength < 0 && len(res.TransferEncoding) == 0 && !res.Uncompressed
	switch {
	case len(a.Body) > most:
		a.Body = a.Body[:most]
		return &Failure{Retry: Now, Reason: fmt.Sprintf("%s, but the answer is larger than %d MiB", statusText(a.Status), most>>20)}
	case err != nil:
		return &Failure{Retry: Now, Reason: statusText(a.Status) + ", but " + failureOf(err, false).Reason, Err: err}
	}
	return nil
}

// asksToWait reports whether an answer asks for a pause of all requests, and not
// just of this one: a 429, a 503 with Retry-After, or either of them, or any
// answer with Retry-After, that a Rule reads as retry.
func (c *Client) asksToWait(a Answer) bool {
	busy := a.Status == http.StatusTooManyRequests || a.RetryAfter > 0 && a.Status == http.StatusServiceUnavailable
	rule, ruled := c.ruleFor(a)
	if !ruled {
		return busy
	}
	return rule.Means == "retry" && (busy || a.RetryAfter > 0 || a.Status == http.StatusServiceUnavailable)
}

// build makes the HTTP request. Its errors are failures before anything was sent.
func (c *Client) build(r Request) (*http.Request, error) {
	if c.cfg.ReadOnly && r.Method != http.MethodGet {
		return nil, unsent("a dry run sends nothing but look-ups", nil)
	}
	u, err := r.below(c.base)
	if err != nil {
		return nil, unsent("a part of the request's path "+err.Error(), err)
	}
	req := &http.Request{Method: r.Method, URL: u, Host: u.Host, Header: make(http.Header)}
	if r.Method == http.MethodGet || r.NoBody && r.Body == nil {
		return req, nil
	}
	if !json.Valid(r.Body) {
		return nil, unsent("the request's body is not JSON", errors.New("not JSON"))
	}
	// net/http writes headers and body in one packet where it knows that the body is in memory.
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
	return req, nil
}

// setHeaders sets our own headers, the configured ones and the credentials.
// X-Request-Id lets the service's operator find the request in the service's logs; it is
// new every time and is not an idempotency key.
func (c *Client) setHeaders(ctx context.Context, req *http.Request) error {
	req.Header.Set("Accept", "application/json")
	if req.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.cfg.UserAgent != "" {
		req.Header.Set("User-Agent", c.cfg.UserAgent)
	}
	req.Header.Set("X-Request-Id", uuid.NewString())
	for name, values := range c.cfg.Headers {
		req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	if err := c.authorize(ctx, req); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	for name := range req.Header {
		if err := checkHeader(name); err != nil {
			return unsent(err.Error(), nil)
		}
	}
	return nil
}

// authorize puts the credentials on. It may have to ask a token server.
func (c *Client) authorize(ctx context.Context, req *http.Request) error {
	if c.cfg.Authorize == nil {
		return nil
	}
	credentials := &http.Request{URL: new(url.URL), Header: http.Header{}}
	err := c.cfg.Authorize(ctx, credentials)
	if f, ok := errors.AsType[*Failure](err); ok {
		return &Failure{NotSent: true, Stop: f.Stop, Retry: f.Retry, RetryAfter: f.RetryAfter, Reason: f.Reason, Hint: f.Hint, Err: err}
	}
	if err != nil {
		return unsent("the credentials could not be obtained", err)
	}
	var values []string
	for _, carried := range []map[string][]string{credentials.Header, credentials.URL.Query()} {
		for _, all := range carried {
			values = append(values, all...)
		}
	}
	c.secrets.learn(values)
	maps.Copy(req.Header, credentials.Header)
	if query := credentials.URL.RawQuery; query != "" {
		req.URL.RawQuery = strings.TrimPrefix(req.URL.RawQuery+"&"+query, "&")
	}
	return nil
}

// roundTrip gives a request to the network. From here on a POST has a time limit
// of its own and ignores that ctx was cancelled. The caller calls end when it has read the body, or has none.
//
// When a reused connection turns out to be closed, net/http sends a request again that
// has no body or can rewind it (GetBody). A POST cannot leave on a second connection: see
// evidence.
func (c *Client) roundTrip(ctx context.Context, proof *evidence, req *http.Request) (res *http.Response, end func(), err error) {
	limit := min(getTimeout, c.cfg.Timeout)
	if req.Method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
		limit = c.cfg.Timeout + min(bodyTimeout, c.cfg.Timeout)
	}
	ctx, end = context.WithTimeout(ctx, limit)
	req = req.WithContext(proof.watch(ctx)) // a copy
	req.GetBody = nil
	res, err = c.transport.RoundTrip(req)
	return res, end, err
}
