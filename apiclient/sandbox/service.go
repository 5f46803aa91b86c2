// Package sandbox is the claims intake service, embedded: an http.Handler that
// behaves as the service document describes. It is for trying out mappings and
// for tests. It knows nothing of the client that calls it.
//
// It is strict: it refuses whatever the document does not describe, so that a
// mistake is found here and not in a live environment. Where the document shows
// nothing (names of ids in answers, error bodies, limits), the sandbox had to
// choose. A client must not rely on these choices: the live service may differ.
//
// A refusal is {"error":{"code":"…","message":"…","field":"…"}}: a stable code,
// what is wrong and what the sandbox expects, and the field, parameter or header
// that is wrong. A refusal never repeats a value that was sent, because it may be
// personal data; it does name fields and ids.
package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// CaseID is the case of the built-in data (v1). The service takes any UUID for
// a case; clients live within the case that they were created in.
const CaseID = "0b7c2c55-6a4e-4f0e-9a53-2f3f1f6f5c10"

// defaultBaseURL can never be reached: the name is reserved (RFC 6761).
const defaultBaseURL = "https://sandbox.invalid"

// Options say how a Service is made. The zero value is the built-in reference
// data, kept in memory.
type Options struct {
	// Dir is the folder that service.jsonl is kept in, made if need be; "" keeps
	// everything in memory. One Service at a time may use a folder.
	Dir string
	// Templates is the reference data as JSON: the very answer to
	// GET activity-templates. An attribute template may have a dataType; one
	// without takes any value field. nil means the built-in data.
	Templates []byte
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// BaseURL is what redirect urls begin with: where the service is served, so
	// that they can be followed. "" means https://sandbox.invalid.
	BaseURL string
}

// Service is the claims intake service. It is an http.Handler and may be used
// from several goroutines. What it has answered is written to the file before
// the answer leaves, so it survives a kill of the process (not a power loss).
type Service struct {
	reference *reference
	now       func() time.Time
	baseURL   string
	mux       *http.ServeMux

	mu      sync.Mutex // guards what follows
	state   state
	journal *journal // nil when everything is in memory only
}

// New makes a service, with what the folder's file holds. It fails when the
// reference data are not sound, when the folder cannot be written, and when
// the file is damaged anywhere but in a last line that was never finished,
// which is left out.
func New(o Options) (*Service, error) {
	ref, err := readReference(o.Templates)
	if err != nil {
		return nil, err
	}
	s := &Service{reference: ref, now: o.Now, baseURL: strings.TrimRight(o.BaseURL, "/"), state: newState()}
	if s.now == nil {
		s.now = time.Now
	}
	if s.baseURL == "" {
		s.baseURL = defaultBaseURL
	}
	if o.Dir != "" {
		if s.journal, err = openJournal(o.Dir, s.state.apply); err != nil {
			return nil, err
		}
	}
	s.mux = s.newMux()
	return s, nil
}

// ServeHTTP answers one request. It checks neither Host nor Origin: whoever
// serves it to a network does so with Serve.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !clean(r.URL) { // the mux would redirect; the document knows no redirects
		unknownPath().write(w)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close closes the file. What the service holds can still be read; creating
// something fails from then on if there is a file.
func (s *Service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	return s.journal.close()
}

// keep writes a record down and then takes it in: whatever is answered has been
// written before. The caller holds mu and has checked the record's owner.
func (s *Service) keep(r record) error {
	if s.journal != nil {
		if err := s.journal.append(r); err != nil {
			return &refusal{status: http.StatusInternalServerError, Code: "store",
				Message: "nothing was created, because it could not be written down: " + err.Error()}
		}
	}
	return s.state.apply(r)
}

// clock is the time that created things carry.
func (s *Service) clock() time.Time { return s.now().UTC() }

// endpoint is one line of the document's tables: method and path, the query
// parameters it knows, and who answers.
type endpoint struct {
	pattern string
	query   []string
	answer  func(*http.Request) (answer, error)
}

// endpoints is the service document's section "Endpoints".
func (s *Service) endpoints() []endpoint {
	return []endpoint{
		// Version 1
		{"POST /funnel/v1/cases/{caseId}/clients", []string{"leadRedirect"}, s.createClient},
		{"GET /funnel/v1/cases/{caseId}/activity-templates", nil, s.caseTemplates},
		{"POST /funnel/v1/cases/{caseId}/clients/{clientId}/activities", nil, s.createClientActivity},
		{"GET /funnel/v1/cases/{caseId}/clients/by-phone/{phone}", nil, s.findClientByPhone},
		{"GET /funnel/v1/cases/{caseId}/clients/by-email/{email}", nil, s.findClientByEmail},

		// Version 2
		{"GET /funnel/v2/activity-templates", nil, s.templates},
		{"POST /funnel/v2/contacts", []string{"isAdministrator"}, s.createContact},
		{"POST /funnel/v2/claims", nil, s.createClaim},
		{"POST /funnel/v2/activities", []string{"claimId", "contactId"}, s.createActivity},
		{"POST /funnel/v2/contacts/{contactId}/magic-link", nil, s.createLink},
		{"GET /funnel/v2/contacts/by-email/{email}", nil, s.findContactByEmail},
		{"GET /funnel/v2/contacts/by-phone/{phone}", nil, s.findContactByPhone},

		// Where redirect urls lead
		{"GET /start/{token}", nil, s.start},
	}
}

// newMux routes the endpoints; everything else is a 404 or 405 in JSON.
func (s *Service) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, e := range s.endpoints() {
		mux.HandleFunc(e.pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			a, err := e.serve(r)
			if err != nil {
				asRefusal(err).write(w)
				return
			}
			a.write(w)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := otherMethods(mux, r); len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			refuse(http.StatusMethodNotAllowed, "method", "",
				"this path has no %s: expected %s", r.Method, strings.Join(allowed, " or ")).write(w)
			return
		}
		unknownPath().write(w)
	})
	return mux
}

// serve checks the query and lets the endpoint answer.
func (e endpoint) serve(r *http.Request) (answer, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return answer{}, bad("bad-query", "", "the query is not well-formed: expected name=value pairs, percent-encoded")
	}
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case !slices.Contains(e.query, name) && len(e.query) == 0:
			return answer{}, bad("unknown-parameter", name, "unknown query parameter %q: expected none", name)
		case !slices.Contains(e.query, name):
			return answer{}, bad("unknown-parameter", name,
				"unknown query parameter %q: expected %s", name, strings.Join(e.query, " or "))
		case len(query[name]) > 1:
			return answer{}, bad("repeated-parameter", name, "query parameter %s is given %d times: expected once", name, len(query[name]))
		}
	}
	return e.answer(r)
}

// otherMethods are the methods that the request's path does have. The paths of
// look-ups and activities overlap (clients/by-email/activities), so this can be
// no pattern of its own.
func otherMethods(mux *http.ServeMux, r *http.Request) []string {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := mux.Handler(probe); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

// clean tells that a path is as the mux would write it.
func clean(u *url.URL) bool {
	p := u.EscapedPath()
	return strings.HasPrefix(p, "/") && (p == "/" || path.Clean(p) == strings.TrimSuffix(p, "/"))
}

func unknownPath() *refusal {
	return absent("unknown-path", "", "the service has no such path: expected one of the document's, under /funnel/v1 or /funnel/v2")
}

// answer is what goes back when a request is carried out.
type answer struct {
	status int
	body   any // as JSON
}

func (a answer) write(w http.ResponseWriter) {
	var b bytes.Buffer
	encode := json.NewEncoder(&b)
	encode.SetEscapeHTML(false)
	if err := encode.Encode(a.body); err != nil { // bodies are maps of strings and checked JSON
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // redirect urls are credentials
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(a.status)
	w.Write(b.Bytes()) // a client that has gone away is no concern of the service
}

// ids is the body of an answer that tells identifiers.
type ids map[string]string

// refusal is what goes back when a request is not carried out: nothing was
// created. It is an error; its text never repeats a value that was sent.
type refusal struct {
	status  int
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// refuse makes a refusal. The field is a JSON path such as
// attributes[0].stringValue, a parameter or a header; "" when it is about the
// request as a whole.
func refuse(status int, code, field, format string, args ...any) *refusal {
	return &refusal{status: status, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// bad refuses with 400.
func bad(code, field, format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, code, field, format, args...)
}

// absent refuses with 404.
func absent(code, field, format string, args ...any) *refusal {
	return refuse(http.StatusNotFound, code, field, format, args...)
}

func (r *refusal) Error() string { return r.Message }

func (r *refusal) write(w http.ResponseWriter) {
	answer{r.status, map[string]*refusal{"error": r}}.write(w)
}

// asRefusal makes any other error, which would be a mistake of the service's
// own, a 500.
func asRefusal(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return refuse(http.StatusInternalServerError, "internal", "", "the sandbox failed: %v", err)
}
