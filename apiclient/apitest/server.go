// Package apitest is a test double of the claims intake service that knows the
// truth: what was really created, how often, and in what order requests arrived.
// It is written from the service's interface document alone and shares no code
// with the client and the embedded sandbox, so that they cannot share a mistake.
//
// Server is the service; a script of Faults decides what goes wrong. A call that
// breaks the document's rules is refused and recorded as a complaint: a test
// should fail on any.
//
// Raw works below HTTP, for answers that no HTTP server gives. Proxy opens tunnels to any
// service.
package apitest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Template is an activity template of the reference data.
type Template struct {
	ID         string
	Name       string
	Attributes []Attribute
}

// Attribute is an attribute template. DataType is one of the document's eight,
// or "" when the service does not report one.
type Attribute struct {
	ID       string
	Name     string
	DataType string
}

// Server is the service, an http.Handler. Its fields may be set while no request is
// being served; its methods are safe for concurrent use.
type Server struct {
	KeyField   string // the field of the create payload that names a client in step names, dotted; default email
	EmailField string // the field that by-email searches, dotted; default email. That of by-phone is phone
	Wire       Wire
	Nobody     Reply // the answer of a look-up that finds nobody; default a 404 with a JSON object

	templates []Template
	mux       *http.ServeMux

	mu         sync.Mutex
	script     func(Call) Fault
	clock      int
	calls      []*Call
	complaints []string
	serial     int
	serials    map[string]int // by kind; with Wire.Named
	clients    []*client
	claims     map[string]claim
	made       map[string][]Made
}

// Call is one request and what became of it.
type Call struct {
	Number  int    // 1-based, by arrival, since the server was made
	Kind    string // client, claim, activity, link, lookup or templates; "" for an endpoint that is not in the document
	Client  string // key of the client that the call is for, if known
	Step    string // logical name of what a creating call asks for; see Made
	Method  string
	Path    string // as it arrived, escaped
	Query   string
	Header  http.Header
	Body    string
	Created string // id of what was created; "" for nothing
	Status  int    // of the answer; 0 before the answer and when the connection was closed
	// Arrived and Ended are times of a clock that all calls share: Ended of one
	// call is less than Arrived of another only if the first ended before the other
	// arrived.
	Arrived, Ended int

	hidden time.Duration // see Fault
}

// Made is one thing that was created. Its logical name is built from the payloads,
// never from ids:
//
//	client <key>
//	claim <key>/<claimName>
//	activity <key>[/<claimName>] <template>
//	link <key>
type Made struct {
	ID  string // "" for a link
	URL string // redirect url of a v1 client or a link
}

type client struct {
	id, key, email, phone string
	since                 time.Time // from when on look-ups find it
}

type claim struct {
	client *client
	name   string
}

// New makes a service with these templates and without clients.
func New(templates ...Template) *Server {
	s := &Server{
		KeyField: "email", EmailField: "email",
		Wire:      DefaultWire(),
		Nobody:    Reply{Status: http.StatusNotFound, Body: `{"message":"not found"}`},
		templates: templates,
		claims:    map[string]claim{}, made: map[string][]Made{}, serials: map[string]int{},
	}
	s.Play(nil)
	s.mux = http.NewServeMux()
	for pattern, e := range s.endpoints() {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, e) })
	}
	return s
}

// Play sets the script that decides what happens to each call from now on; with
// nil, as in the beginning, nothing goes wrong. The script may be called by several
// calls at once.
func (s *Server) Play(script func(Call) Fault) {
	if script == nil {
		script = func(Call) Fault { return Fault{} }
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// AddClient adds a client that the service knew before, with the values that
// look-ups search, and returns the id. It does not count as created.
func (s *Server) AddClient(key, email, phone string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &client{id: s.newID("contact"), key: key, email: email, phone: phone}
	s.clients = append(s.clients, c)
	return c.id
}

// KeyOf returns the key of the client with an id; "" for none.
func (s *Server) KeyOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clientWith(id); c != nil {
		return c.key
	}
	return ""
}

// AddClaim adds a claim of a client that the service has, and returns the id. It
// does not count as created.
func (s *Server) AddClaim(clientID, name string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id = s.newID("claim")
	s.claims[id] = claim{s.clientWith(clientID), name}
	return id
}

// Calls returns all requests so far in the order of arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Call, len(s.calls))
	for i, c := range s.calls {
		list[i] = *c
	}
	return list
}

// Since returns the calls after the first n and how many there are now. A test
// passes that number to the next Since, to see the calls of one run.
func (s *Server) Since(n int) ([]Call, int) {
	all := s.Calls()
	return all[n:], len(all)
}

// Created returns everything that was created, by logical name. A name with more
// than one thing is a duplicate.
func (s *Server) Created() map[string][]Made {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string][]Made{}
	for name, things := range s.made {
		all[name] = slices.Clone(things)
	}
	return all
}

// Complaints lists the calls that broke the document's rules, and how.
func (s *Server) Complaints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.complaints)
}

// ServeHTTP answers one call as the document or the script says.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request, e endpoint) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller is gone
	}
	call, act, script := s.arrive(r, string(body), e)
	fault := script(*call)
	fault.wait(r)
	call.hidden = fault.Hidden
	reply := fault.Reply
	if !fault.NoEffect {
		normal := s.perform(call, act)
		reply = cmp.Or(reply, &normal)
	}
	if fault.Then != nil {
		fault.Then()
	}
	s.end(call, reply, fault.Drop)
	if fault.Drop || reply == nil {
		panic(http.ErrAbortHandler) // closes the connection without an answer
	}
	reply.write(w, fault.Cut)
}

// action does what a call asks for. It runs with mu held, records in the call what
// it created, and returns the answer and what is wrong with the call.
type action func(*Call) (Reply, error)

// arrive records a call, and finds its action and the script.
func (s *Server) arrive(r *http.Request, body string, e endpoint) (*Call, action, func(Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := &Call{
		Number: len(s.calls) + 1, Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery,
		Header: r.Header.Clone(), Body: body, Arrived: s.tick(),
	}
	s.calls = append(s.calls, call)
	act := e(call, r)
	copied := *call
	return &copied, act, s.script
}

// perform runs an action and records its complaint.
func (s *Server) perform(call *Call, act action) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply, err := act(call)
	s.calls[call.Number-1].Created = call.Created
	if err != nil {
		s.complaints = append(s.complaints, fmt.Sprintf("%s %s: %v", call.Method, call.Path, err))
	}
	return reply
}

func (s *Server) end(call *Call, reply *Reply, dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.calls[call.Number-1]
	kept.Ended = s.tick()
	if reply != nil && !dropped {
		kept.Status = reply.Status
	}
}

func (s *Server) tick() int { s.clock++; return s.clock }

// newID returns the id of a new client, contact, claim or activity: a UUID that
// begins with c, c, b or a, unless Wire says otherwise.
func (s *Server) newID(kind string) string {
	s.serial++
	switch {
	case s.Wire.Named:
		s.serials[kind]++
		return fmt.Sprintf("%s-%d", kind, s.serials[kind])
	case s.Wire.Numeric:
		return fmt.Sprint(uint64(1)<<53 + uint64(s.serial)) // more than a float64 holds
	}
	letter := map[string]string{"client": "c", "contact": "c", "claim": "b", "activity": "a"}[kind]
	return fmt.Sprintf("%s0000000-0000-4000-8000-%012d", letter, s.serial)
}

// clientBy returns the first client that is one; nil for none.
func (s *Server) clientBy(is func(*client) bool) *client {
	for _, c := range s.clients {
		if is(c) {
			return c
		}
	}
	return nil
}

func (s *Server) clientWith(id string) *client {
	return s.clientBy(func(c *client) bool { return c.id == id })
}

func (s *Server) template(id string) (Template, bool) {
	for _, t := range s.templates {
		if t.ID == id {
			return t, true
		}
	}
	return Template{}, false
}

// endpoint sets the kind, client and step of a call, and returns its action.
type endpoint func(*Call, *http.Request) action

// endpoints are the document's section "Endpoints".
func (s *Server) endpoints() map[string]endpoint {
	return map[string]endpoint{
		"GET /funnel/v1/cases/{case}/activity-templates":           s.list,
		"GET /funnel/v1/cases/{case}/clients/by-email/{email}":     s.lookUp,
		"GET /funnel/v1/cases/{case}/clients/by-phone/{phone}":     s.lookUp,
		"POST /funnel/v1/cases/{case}/clients":                     s.createClient,
		"POST /funnel/v1/cases/{case}/clients/{client}/activities": s.createActivity,
		"GET /funnel/v2/activity-templates":                        s.list,
		"GET /funnel/v2/contacts/by-email/{email}":                 s.lookUp,
		"GET /funnel/v2/contacts/by-phone/{phone}":                 s.lookUp,
		"POST /funnel/v2/contacts":                                 s.createClient,
		"POST /funnel/v2/claims":                                   s.createClaim,
		"POST /funnel/v2/activities":                               s.createActivity,
		"POST /funnel/v2/contacts/{contact}/magic-link":            s.createLink,
		"/": unknown,
	}
}

// isV1 reports whether a request is one of version 1, whose paths have a case.
func isV1(r *http.Request) bool { return r.PathValue("case") != "" }

func unknown(*Call, *http.Request) action {
	return func(*Call) (Reply, error) {
		return refusal(http.StatusNotFound, "no such endpoint"), errors.New("the document has no such endpoint")
	}
}

// list answers with the reference data.
func (s *Server) list(call *Call, _ *http.Request) action {
	call.Kind = "templates"
	return func(*Call) (Reply, error) {
		list := []any{}
		for _, t := range s.templates {
			attributes := []any{}
			for _, a := range t.Attributes {
				one := map[string]any{"id": a.ID, "name": a.Name}
				if s.Wire.DataType != "" && a.DataType != "" {
					wrap(one, strings.Split(s.Wire.DataType[1:], "/"), a.DataType)
				}
				attributes = append(attributes, one)
			}
			list = append(list, map[string]any{"id": t.ID, "name": t.Name, "activityAttributeTemplates": attributes})
		}
		return answer(http.StatusOK, list), nil
	}
}

// lookUp finds a client by e-mail address or phone number. Addresses are compared as mail systems do in practice.
func (s *Server) lookUp(call *Call, r *http.Request) action {
	call.Kind = "lookup"
	email, phone, place := r.PathValue("email"), r.PathValue("phone"), s.Wire.ContactID
	if isV1(r) {
		place = s.Wire.ClientID
	}
	return func(*Call) (Reply, error) {
		c := s.clientBy(func(c *client) bool {
			return (email != "" && strings.EqualFold(c.email, email) || phone != "" && c.phone == phone) && !c.since.After(time.Now())
		})
		if c == nil {
			return s.Nobody, nil
		}
		return reply(http.StatusOK, map[string]any{cmp.Or(s.Wire.LookupID, place): s.idValue(c.id)}), nil
	}
}
