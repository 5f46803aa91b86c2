package sandbox

import (
	"net/http"
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
