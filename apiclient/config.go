package apiclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"time"
)

// Config is all that a Client needs to know of an environment.
type Config struct {
	// BaseURL is what the document calls {base_url}: no userinfo, query or
	// fragment; https, or http to a loopback address.
	BaseURL string
	Version Version
	CaseID  string // v1: part of every path

	// Headers are sent with every request. Idempotency-Key and
	// X-Idempotency-Key are refused: they make net/http send a POST twice.
	Headers http.Header
	// Authorize puts the credentials on a request; nil for none. It may be
	// called from several goroutines. An error stops the request before it is
	// sent; its text is never shown unless it is a *Failure, whose Reason and
	// Stop are taken over.
	Authorize func(ctx context.Context, req *http.Request) error
	// Renew gets new credentials in place of those that a request was refused
	// with (401); nil where there can be none. renewed is false when that would
	// not help. It may be called from several goroutines, which may all have been
	// refused for one and the same credential. Its errors are as Authorize's.
	Renew func(ctx context.Context, refused *http.Request) (renewed bool, err error)
	// Secrets tells what else must not be shown or kept of an answer that repeats
	// it: secrets that no request to the service carries, such as the one by which
	// tokens are fetched. nil for none. (A func, so that a Config can be printed.)
	Secrets func() []string
	// TLS holds the client certificate and the own CA, if any.
	TLS *tls.Config
	// Timeout is how long a POST may wait for the answer's head; 0 means 120 s.
	// A time-out manufactures uncertain steps, so it is long; a GET waits 30 s
	// at most.
	Timeout time.Duration
	// RequestsPerSecond is a ceiling over all requests of the Client; 0 means none.
	// Whatever it is, a service that asks for time (429, or 503 with Retry-After
	// or by a Rule) is left alone for as long as it says, by all requests, and
	// gets half as many afterwards until its answers bring the rate back.
	RequestsPerSecond float64
	// Adaptive finds the rate below the ceiling by itself: it starts low, and
	// good answers add to it.
	Adaptive bool

	// ReadOnly refuses every method but GET before anything is sent: the
	// second lock of a dry run.
	ReadOnly bool
	// Transport stands in for the network, for the embedded sandbox and tests
	// of what lies above; nil means the real one.
	Transport http.RoundTripper
	// UserAgent names the program, its version and the run.
	UserAgent string

	Wire       Wire
	NotFound   NotFound
	Rules      []Rule
	Repeatable []Kind // creating kinds that may be sent again when uncertain
}

// Wire is where answers carry what the document leaves open. DefaultWire has the
// defaults. Ids and the redirect url are read at a place: a JSON Pointer (RFC
// 6901) into the body, where "" is the whole JSON document (a bare string);
// "text", the whole body as plain text; "header:NAME"; for ids also
// "last-segment:" and a place where there is a url. A redirect url that begins
// with a slash, a dot or a question mark is resolved against the url of the
// request.
type Wire struct {
	ClientID        string // v1 client create
	ContactID       string // v2 contact create
	ClaimID         string
	RedirectURL     string
	ActivityID      string            // "" = an activity's answer need carry no id
	DataType        string            // a JSON Pointer on an attribute template; "" = none
	DataTypes       map[string]string // their name → ours
	LookupClientID  *string           // nil = as ClientID
	LookupContactID *string           // nil = as ContactID
	LookupAgree     map[string]string // client field (dotted path) → JSON Pointer in a look-up's answer
	LinkBody        []byte            // JSON body of the magic-link request, {} by default; nil = no body at all
}

// NotFound is what a look-up that finds nobody looks like: any of what follows.
type NotFound struct {
	Status  []int // 404 by default
	Empty   bool  // a 2xx answer of null, {} or []; true by default
	Content []NotFoundContent
}

// NotFoundContent is an answer that means nobody by what stands at a place of it.
type NotFoundContent struct {
	Status []int           // of the answer; nil = any 2xx
	Place  string          // as in Wire, for ids
	Equals json.RawMessage // null, a boolean, a number or a string; nil for Empty
	Empty  bool            // null, {}, [] or an empty text; for "text" also no body
}

// Rule says what an answer means that the document does not show. Rules are
// tried in order, before the built-in meaning.
type Rule struct {
	Status  int    // 0 = any
	Pointer string // into the answer's body; "" = the whole body as text
	Matches string // regular expression; "" = any
	Means   string // retry, failed, done, stop or uncertain
	Hint    string // shown as what to do
}
