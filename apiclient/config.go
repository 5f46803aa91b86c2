package apiclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Config holds everything that a Client needs to know of an environment.
type Config struct {
	// BaseURL is what the document calls {base_url}: no user information, query
	// or fragment; https, or http to a loopback address.
	BaseURL string
	Version Version
	CaseID  string // v1: part of every path

	// Headers are sent with every request. Idempotency-Key and
	// X-Idempotency-Key are refused: they make net/http send a POST twice.
	Headers http.Header
	// Authorize puts the credentials on an empty request, in its headers or its query,
	// from which every request gets them; nil for none. Several goroutines may call it.
	// An error stops the request before it is sent. Its text is never shown,
	// unless it is a *Failure: then Reason, Hint, Stop and Retry are taken from it.
	Authorize func(ctx context.Context, req *http.Request) error
	// Secrets returns those that no request to the service carries, such as the client
	// secret for the token server: they too are hidden in answers. nil for none. (It is a
	// function so that a Config can be printed.)
	Secrets func() []string
	// TLS holds the client certificate and the private authority, if any.
	TLS   *tls.Config
	Proxy *Proxy // between this machine and the service; nil for none. The base url must be https then
	// Timeout is how long a POST may wait for the head of its answer; 0 means 120 s. It is long because a
	// time-out makes the outcome uncertain. A GET waits at most 30 s.
	Timeout        time.Duration
	ConnectTimeout time.Duration           // for each step to a connection: the host name, TCP and the TLS handshake; 0 means 10 s
	Wrap           func(net.Conn) net.Conn // puts something below TLS on every connection to the service; nil for nothing
	Now            func() time.Time        // the clock by which requests are paced; nil means time.Now
	Concurrency    int                     // how many requests, of whatever kind, may be in flight at the service; 0 means any number
	// RequestsPerSecond is a ceiling for all requests of the Client; 0 means none.
	// Whatever it is, when the service asks to wait (429, or 503 with Retry-After
	// or by a Rule), all requests pause for as long as it says, and afterwards leave
	// at half the rate until good answers raise it again.
	RequestsPerSecond float64
	// Limiter holds the rate and the pause for all processes that send to the
	// service; nil when no other one does. The lowest of their ceilings holds.
	// When the limiter does not answer, no request leaves.
	Limiter Limiter

	ReadOnly  bool              // every method but GET is refused before anything is sent: the second lock of a dry run
	Transport http.RoundTripper // replaces the network, for the embedded sandbox and for tests; nil means the network
	Trace     func(Exchange)    // is told of each request that was given to the network, when it is over; several goroutines may call it
	UserAgent string            // names the program, its version and the run

	// InventPhone returns another number each time that looks like those of the mapping, for
	// LearnAbsent; nil for British ones in E.164.
	InventPhone func() string

	Wire       Wire
	NotFound   NotFound
	Rules      []Rule
	Repeatable []Kind // creating kinds that may be sent again when uncertain
}

// Wire says where answers carry what the document leaves open. Ids and the redirect url are read at a place:
//
//	/data/id              a JSON Pointer (RFC 6901) into the body; "" is the whole JSON document
//	text                  the whole body as plain text
//	header:X-Client-Id    a header; of Location and Content-Location, an id is the last segment of the url's path
//
// A redirect url that begins with a slash, a dot or a question mark is resolved against the url of the request.
type Wire struct {
	ClientID        string // v1 client create
	ContactID       string // v2 contact create
	ClaimID         string
	RedirectURL     string
	ActivityID      string            // "" = the answer for an activity needs no id
	Templates       string            // a JSON Pointer to the array of activity templates; "" = the answer is the array
	DataType        string            // a JSON Pointer on an attribute template; "" = none
	DataTypes       map[string]string // their name → ours
	Options         string            // a JSON Pointer on an attribute template, to the texts that a DropDown takes; "" = none
	LookupClientID  *string           // nil = as ClientID
	LookupContactID *string           // nil = as ContactID
	LookupAgree     map[string]string // client field (dotted path) → JSON Pointer in a look-up's answer
	LinkBody        []byte            // JSON body of the magic-link request, {} by default; nil = no body
}

// DefaultWire reads answers by the field names that the document gives
// (clientId, contactId, claimId). Where it gives none (redirect url, data type, options),
// the name is the likeliest one.
func DefaultWire() Wire {
	return Wire{
		ClientID:    "/clientId",
		ContactID:   "/contactId",
		ClaimID:     "/claimId",
		RedirectURL: "/redirectUrl",
		DataType:    "/dataType",
		Options:     "/options",
		LinkBody:    []byte("{}"),
	}
}

// NotFound describes the answer of a look-up that finds nobody: any of the rules.
type NotFound struct {
	Stated bool // the environment says so: nothing is looked up to learn it
	Rules  []NotFoundRule
}

// NotFoundRule describes an answer that means nobody: by its status or because it is empty or, with a
// Place, by the value there. As JSON it is as an environments file has it.
type NotFoundRule struct {
	Status []int           `json:"status,omitempty"`  // of the answer; with a Place, nil = any 2xx
	Place  *string         `json:"pointer,omitempty"` // as in Wire, for ids; nil for none
	Equals json.RawMessage `json:"equals,omitempty"`  // null, a boolean, a number or a string; nil for Empty
	// Empty is for a 2xx answer of null, {} or []; with a Place, for such a value or an empty text; for "text" also for no body.
	Empty bool `json:"empty,omitempty"`
}

// DefaultNotFound reads a 404 and an empty 2xx answer as nobody.
func DefaultNotFound() NotFound {
	return NotFound{Rules: []NotFoundRule{{Status: []int{http.StatusNotFound}, Empty: true}}}
}

// Rule says what an answer means that the document does not show. Rules are
// tried in order, before the built-in meaning of the status.
type Rule struct {
	Status  int    `json:"status"`  // 0 = any
	Pointer string `json:"pointer"` // JSON Pointer into the answer's body; "" = the whole body as text
	Matches string `json:"matches"` // regular expression; "" = any
	Means   string `json:"means"`   // retry, failed, done, stop or uncertain
	Hint    string `json:"hint"`    // shown as what to do
}

// DataTypes are our names of the document's attribute data types, in its order.
var DataTypes = []string{"Text", "TextArea", "DropDown", "Checkbox", "Date", "DateTime", "Number", "Currency"}

// check returns the base url of a Config, or says what no Config may have. The reader of environments files
// checks everything, with the places in the file.
func check(cfg Config) (*url.URL, error) {
	normal, err := NormaliseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(normal)
	if err != nil {
		return nil, err
	}
	if cfg.Proxy != nil && base.Scheme != "https" {
		return nil, errors.New("with a proxy the base url must be https: otherwise the proxy could read the requests")
	}
	if err := checkSegment(cfg.CaseID); err != nil && cfg.Version == V1 {
		return nil, fmt.Errorf("the case id %w", err)
	}
	for name := range cfg.Headers {
		if err := checkHeader(name); err != nil {
			return nil, err
		}
	}
	return base, nil
}

// checkHeader refuses the headers that make net/http send a POST again when the connection breaks.
func checkHeader(name string) error {
	switch name = http.CanonicalHeaderKey(name); name {
	case "Idempotency-Key", "X-Idempotency-Key":
		return fmt.Errorf("the header %s must not be set: it makes the network library send a request twice", name)
	}
	return nil
}
