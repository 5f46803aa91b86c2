package apiclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient/rate"
	"claimsheet/mapping/problem"
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
	// from which every request gets them; nil for none. It may be called from several
	// goroutines. An error stops the request before it is sent. Its text is never shown,
	// unless it is a *Failure: then Reason, Hint, Stop and Retry are taken from it.
	Authorize func(ctx context.Context, req *http.Request) error
	// Renew replaces the credentials with which a request was refused (401); nil
	// where they cannot be replaced. renewed is false when new ones would not
	// help. Several goroutines may call it at once for the same refused
	// credentials. Its errors are treated as those of Authorize.
	Renew func(ctx context.Context, refused *http.Request) (renewed bool, err error)
	// Secrets returns further secrets that must be hidden when an answer repeats
	// them: those that no request to the service carries, such as the client
	// secret for the token server. nil for none. (It is a function so that a
	// Config can be printed.)
	Secrets func() []string
	// TLS holds the client certificate and the private authority, if any.
	TLS *tls.Config
	// Proxy is between this machine and the service; nil for none. The base url
	// must be https then.
	Proxy *Proxy
	// Timeout is how long a POST may wait for the head of its answer; 0 means
	// 120 s. It is long because a time-out makes the outcome uncertain. A GET
	// waits at most 30 s.
	Timeout time.Duration
	// ConnectTimeout limits each step to a connection: the host name, TCP and the
	// TLS handshake; 0 means 10 s.
	ConnectTimeout time.Duration
	// Wrap puts something between the Client and every connection to the service,
	// below TLS; nil for nothing.
	Wrap func(net.Conn) net.Conn
	// Now is the clock by which requests are paced and dates in answers are read;
	// nil means time.Now.
	Now func() time.Time
	// Concurrency is how many requests may be in flight at the service, of whatever
	// kind: given to the network and not completely answered; 0 means any number.
	Concurrency int
	// RequestsPerSecond is a ceiling for all requests of the Client; 0 means none.
	// Whatever it is, when the service asks to wait (429, or 503 with Retry-After
	// or by a Rule), the Client pauses all requests for as long as it says.
	// Afterwards it sends at half the rate, and good answers raise the rate again.
	RequestsPerSecond float64
	// Limiter holds the rate and the pause for all processes that send to the
	// service; nil when no other one does. RequestsPerSecond is a ceiling for all of
	// them, and the lowest one of theirs holds. When the limiter does not answer, no
	// request leaves.
	Limiter rate.Limiter

	// ReadOnly refuses every method but GET before anything is sent. It is the
	// second lock of a dry run.
	ReadOnly bool
	// Transport replaces the network, for the embedded sandbox and for tests;
	// nil means the network.
	Transport http.RoundTripper
	// Trace is called with each request that was given to the network, when it is
	// over; nil for nobody. Several goroutines may call it at once.
	Trace func(Exchange)
	// UserAgent names the program, its version and the run.
	UserAgent string

	// InventPhone returns another number each time that looks like those of the mapping, for
	// LearnAbsent; nil for British ones in E.164.
	InventPhone func() string

	Wire       Wire
	NotFound   NotFound
	Rules      []Rule
	Repeatable []Kind // creating kinds that may be sent again when uncertain
}

// Wire says where answers carry what the document leaves open. Ids and the
// redirect url are read at a place:
//
//	/data/id              a JSON Pointer (RFC 6901) into the body; "" is the whole JSON document
//	text                  the whole body as plain text
//	header:X-Client-Id    a header
//	last-segment:PLACE    for ids: the last segment of the path of the url at that place
//
// A redirect url that begins with a slash, a dot or a question mark is resolved
// against the url of the request.
type Wire struct {
	ClientID        string // v1 client create
	ContactID       string // v2 contact create
	ClaimID         string
	RedirectURL     string
	ActivityID      string            // "" = the answer for an activity needs no id
	DataType        string            // a JSON Pointer on an attribute template; "" = none
	DataTypes       map[string]string // their name → ours
	Options         string            // a JSON Pointer on an attribute template, to the list of its options; "" = none
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

// NotFound describes the answer of a look-up that finds nobody: any of these.
type NotFound struct {
	Stated  bool  // the environment says so: nothing is looked up to learn it
	Status  []int // 404 by default
	Empty   bool  // a 2xx answer of null, {} or []; true by default
	Content []NotFoundContent
}

// NotFoundContent describes an answer that means nobody by the value at a place.
type NotFoundContent struct {
	Status []int           // of the answer; nil = any 2xx
	Place  string          // as in Wire, for ids
	Equals json.RawMessage // null, a boolean, a number or a string; nil for Empty
	Empty  bool            // null, {}, [] or an empty text; for "text" also no body
}

// DefaultNotFound reads a 404 and an empty 2xx answer as nobody.
func DefaultNotFound() NotFound {
	return NotFound{Status: []int{http.StatusNotFound}, Empty: true}
}

// Rule says what an answer means that the document does not show. Rules are
// tried in order, before the built-in meaning of the status.
type Rule struct {
	Status  int    // 0 = any
	Pointer string // JSON Pointer into the answer's body; "" = the whole body as text
	Matches string // regular expression; "" = any
	Means   string // retry, failed, done, stop or uncertain
	Hint    string // shown as what to do
}

// dataTypes are our names of the document's attribute data types, in its order.
var dataTypes = []string{"Text", "TextArea", "DropDown", "Checkbox", "Date", "DateTime", "Number", "Currency"}

// ruleMeanings are the values of Rule.Means.
var ruleMeanings = []string{"retry", "failed", "done", "stop", "uncertain"}

// wrongConfig is the code of all that is wrong with a Config. The reader of environments
// files refuses the same first, by codes and places of its own.
const wrongConfig = "client-config"

// check lists everything that is wrong with a Config.
func check(cfg Config) problem.List {
	var list problem.List
	wrong := func(is bool, format string, args ...any) {
		if is {
			list = append(list, problem.New(wrongConfig, format, args...))
		}
	}
	refused := func(what string, err error) { wrong(err != nil, "%s%v", what, err) }
	_, err := NormaliseBaseURL(cfg.BaseURL)
	refused("", err)
	if cfg.Proxy != nil {
		refused("the proxy's url cannot be used: ", CheckProxyURL(cfg.Proxy.URL))
		wrong(strings.HasPrefix(strings.ToLower(cfg.BaseURL), "http:"),
			"with a proxy the base url must be https: otherwise the proxy could read the requests")
	}
	if cfg.Version == V1 {
		refused("the case id ", checkSegment(cfg.CaseID))
	}
	wrong(cfg.Version != V1 && cfg.Version != V2, "the version must be v1 or v2, not %q", cfg.Version)
	for _, name := range slices.Sorted(maps.Keys(cfg.Headers)) {
		wrong(slices.Contains(replayHeaders, http.CanonicalHeaderKey(name)),
			"the header %s is refused: it makes the network library send a request twice", name)
	}
	wrong(cfg.Timeout < 0, "the timeout must not be negative")
	perSecond := cfg.RequestsPerSecond
	wrong(perSecond < 0 || math.IsNaN(perSecond) || math.IsInf(perSecond, 0),
		"the requests per second must be a number of at least 0; 0 means no ceiling")
	for _, k := range cfg.Repeatable {
		wrong(!slices.Contains([]Kind{CreateClient, CreateClaim, CreateActivity, CreateLink}, k),
			"%q is not a kind of step: use client, claim, activity or link", k)
	}
	w := cfg.Wire
	for _, id := range []struct {
		key   string
		place *string
	}{{"client_id", &w.ClientID}, {"contact_id", &w.ContactID}, {"claim_id", &w.ClaimID}, {"activity_id", &w.ActivityID},
		{"lookup_client_id", w.LookupClientID}, {"lookup_contact_id", w.LookupContactID}} {
		if id.place != nil {
			refused("wire."+id.key+": ", CheckIDPlace(*id.place))
		}
	}
	refused("wire.redirect_url: ", CheckURLPlace(w.RedirectURL))
	refused("wire.data_type: ", CheckPointer(w.DataType))
	refused("wire.options: ", CheckPointer(w.Options))
	for _, field := range slices.Sorted(maps.Keys(w.LookupAgree)) {
		refused("wire.lookup_agree."+field+": ", CheckPointer(w.LookupAgree[field]))
	}
	for _, ours := range slices.Sorted(maps.Values(w.DataTypes)) {
		wrong(!slices.Contains(dataTypes, ours),
			"wire.data_types: %q is not a data type of the service: use one of %s", ours, strings.Join(dataTypes, ", "))
	}
	wrong(len(w.LinkBody) > 0 && !json.Valid(w.LinkBody), "wire.link_body is not JSON")
	for i, content := range cfg.NotFound.Content {
		refused(fmt.Sprintf("not_found[%d]: ", i), CheckIDPlace(content.Place))
		wrong((content.Equals == nil) != content.Empty || content.Equals != nil && !json.Valid(content.Equals),
			"not_found[%d] needs either equals with a JSON value or empty", i)
	}
	for i, r := range cfg.Rules {
		what := fmt.Sprintf("errors[%d]: ", i)
		wrong(r.Status != 0 && (r.Status < 100 || r.Status > 599), "%s%d is not an HTTP status", what, r.Status)
		refused(what, CheckPointer(r.Pointer))
		_, err := regexp.Compile(r.Matches)
		refused(what, err)
		wrong(!slices.Contains(ruleMeanings, r.Means), "%smeans is %q: use one of %s", what, r.Means, strings.Join(ruleMeanings, ", "))
	}
	return list
}
