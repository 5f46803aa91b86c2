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
//
// For people it has pages: a redirect url opens the claims site, where a client
// completes Open activities, and case handlers have a dashboard.
package sandbox

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// CaseID is the case of the built-in data (v1). The service takes any UUID for
// a case; clients live within the case that they were created in.
const CaseID = "0b7c2c55-6a4e-4f0e-9a53-2f3f1f6f5c10"

// Options configure a Service. The zero value keeps everything in memory and uses
// the built-in reference data.
type Options struct {
	// Dir is the folder of the file service.jsonl; it is created when it does not
	// exist. "" keeps everything in memory. One Service at a time may use a folder.
	Dir string
	// Templates is the reference data as JSON: the answer to GET
	// activity-templates. An attribute template may have a dataType; one without
	// accepts any value field. nil means the built-in data.
	Templates []byte
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// BaseURL is the start of redirect urls: the address of the service, so that
	// they can be followed. "" means https://sandbox.invalid, which is reserved
	// (RFC 6761) and can never be reached.
	BaseURL string
	// Workflows place the next activity when a client has completed one on the claims
	// site. If one has an identifier, others are refused (v2).
	Workflows []Workflow
	// Authenticate, if there is one, returns what is wrong with the credentials of a
	// request to an endpoint of the document: then the answer is a 401. The pages need no
	// credentials but their addresses.
	Authenticate func(*http.Request) error
}

// Service is the claims intake service, an http.Handler that is safe for
// concurrent use. With a folder, it writes everything to the file before it
// answers, so it survives a kill of the process, but not a power loss.
type Service struct {
	options   Options
	reference *reference
	mux       *http.ServeMux
	dashboard string // the path of the case handlers' dashboard

	mu      sync.Mutex // guards state and journal
	state   state
	journal *journal // nil when everything is in memory
}

// New makes a Service and loads the folder's file. It fails when the reference
// data or workflows are invalid, when the folder cannot be written, and when the file is
// damaged. An unfinished last line is no damage: it is dropped.
func New(o Options) (*Service, error) {
	o.BaseURL = strings.TrimRight(cmp.Or(o.BaseURL, "https://sandbox.invalid"), "/")
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Service{options: o, state: newState(), dashboard: "/dashboard/" + rand.Text()}
	var err error
	if s.reference, err = readReference(o.Templates, o.Workflows); err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if s.journal, err = openJournal(o.Dir, s.state.apply); err != nil {
			return nil, err
		}
	}
	s.mux = http.NewServeMux()
	for _, e := range s.endpoints() {
		s.mux.HandleFunc(e.pattern, func(w http.ResponseWriter, r *http.Request) { s.call(w, r, e) })
	}
	s.addPages()
	return s, nil
}

// ServeHTTP answers one request, with a page if a browser asks for one. It checks
// neither Host nor Origin; Serve does.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close closes the file. Afterwards a Service with a file can still be read, but
// it creates nothing.
func (s *Service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	return s.journal.close()
}

// store writes a record to the journal and then applies it, so that everything in
// an answer has been written. The caller holds mu and has checked the record's
// owner.
func (s *Service) store(r record) *refusal {
	if s.journal != nil {
		if err := s.journal.append(r); err != nil {
			return refuse(http.StatusInternalServerError, "store", "", "nothing was created, because it could not be written to the file: %v", err)
		}
	}
	if err := s.state.apply(r); err != nil { // a mistake in the sandbox
		return refuse(http.StatusInternalServerError, "internal", "", "the sandbox failed: %v", err)
	}
	return nil
}

// create stores a record and answers with ids, unless something is wrong with the request.
func (s *Service) create(in *input, r record, body map[string]string) answer {
	if in.refusal == nil {
		in.refusal = s.store(r)
	}
	return answer{status: http.StatusCreated, body: body}
}

// clock returns the creation time of a thing that is created now.
func (s *Service) clock() time.Time { return s.options.Now().UTC() }

// endpoint is one line of the document's tables: method and path, the known query
// parameters, and the function that answers, or notes a refusal in its input. It runs with mu held.
type endpoint struct {
	pattern string
	query   []string
	answer  func(*input) answer
}

// endpoints returns the service document's section "Endpoints".
func (s *Service) endpoints() []endpoint {
	return []endpoint{
		// Version 1
		{"POST /funnel/v1/cases/{caseId}/clients", []string{"leadRedirect"}, s.createClient},
		{"GET /funnel/v1/cases/{caseId}/activity-templates", nil, s.templates},
		{"POST /funnel/v1/cases/{caseId}/clients/{clientId}/activities", nil, s.createClientActivity},
		{"GET /funnel/v1/cases/{caseId}/clients/by-phone/{phone}", nil, s.find("v1", "phone", foldPhone)},
		{"GET /funnel/v1/cases/{caseId}/clients/by-email/{email}", nil, s.find("v1", "email", foldEmail)},

		// Version 2
		{"GET /funnel/v2/activity-templates", nil, s.templates},
		{"POST /funnel/v2/contacts", []string{"isAdministrator"}, s.createContact},
		{"POST /funnel/v2/claims", nil, s.createClaim},
		{"POST /funnel/v2/activities", []string{"claimId", "contactId"}, s.createActivity},
		{"POST /funnel/v2/contacts/{contactId}/magic-link", nil, s.createLink},
		{"GET /funnel/v2/contacts/by-email/{email}", nil, s.find("v2", "email", foldEmail)},
		{"GET /funnel/v2/contacts/by-phone/{phone}", nil, s.find("v2", "phone", foldPhone)},
	}
}

// Endpoints lists the endpoints that the document describes, such as
// "POST /funnel/v2/contacts/{contactId}/magic-link".
func (s *Service) Endpoints() []string {
	var list []string
	for _, e := range s.endpoints() {
		list = append(list, e.pattern)
	}
	return list
}

// call checks credentials and query, and lets the endpoint answer.
func (s *Service) call(w http.ResponseWriter, r *http.Request, e endpoint) {
	if s.options.Authenticate != nil {
		if err := s.options.Authenticate(r); err != nil {
			refuse(http.StatusUnauthorized, "unauthenticated", "", "%v", err).write(w)
			return
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.serve(w, r, e)
}

// serve checks the query and lets the endpoint answer.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, e endpoint) {
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if !slices.Contains(e.query, name) {
			bad("unknown-parameter", name, "unknown query parameter %q: expected %s", name, cmp.Or(strings.Join(e.query, " or "), "none")).write(w)
			return
		}
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(http.StatusRequestEntityTooLarge, "body", "", "the body is incomplete or too large: expected at most %d bytes", maxBody).write(w)
		return
	}
	in := &input{Request: r, raw: raw}
	a := func() answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		return e.answer(in)
	}()
	if in.refusal != nil {
		in.refusal.write(w)
		return
	}
	a.write(w)
}

func unknownPath() *refusal {
	return absent("unknown-path", "", "the service has no such method and path: expected one of the document's, under /funnel/v1 or /funnel/v2")
}

// answer is the response to a request that succeeds.
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
	w.Write(b.Bytes()) // fails only when the client has gone away
}

// refusal is the response to a request that fails: nothing was created. Its
// text never repeats a value that was sent.
type refusal struct {
	status  int
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// refuse makes a refusal. field is a JSON path such as attributes[0].stringValue, a
// parameter or a header; "" for the request as a whole.
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

func (r *refusal) write(w http.ResponseWriter) {
	answer{status: r.status, body: map[string]*refusal{"error": r}}.write(w)
}
