package apitest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Template is an activity template of the reference data.
type Template struct {
	ID         string
	Name       string
	Attributes []Attribute
}

// Attribute is an attribute template. DataType is one of the document's eight,
// or "" when the service does not tell.
type Attribute struct {
	ID       string
	Name     string
	DataType string
}

// Server is the service. Set its exported fields while no request is under way;
// its methods may be called at any time, by any goroutine.
type Server struct {
	KeyField   string // the create payload's field that names a client in step keys, dotted; default email
	EmailField string // the field that by-email looks at, dotted; default email
	PhoneField string // the field that by-phone looks at, dotted; default phone
	Marker     string // attribute template whose value tells apart activities of one template and scope
	Wire       Wire
	Nobody     Reply // what a look-up says that finds nobody; default a 404 with a JSON object

	templates []Template

	mu         sync.Mutex
	script     func(Call) Fault
	clock      int
	calls      []*Call
	complaints []string
	serial     int
	clients    []*client
	claims     map[string]claim
	made       map[string][]Made
}

// Call is one request and what became of it.
type Call struct {
	Number  int    // 1-based, by arrival, since the server was made
	Kind    string // client, claim, activity, link, lookup or templates; "" for what the document does not have
	Client  string // key of the client that the call is about, as far as it can be told
	Step    string // logical name of what a creating call asks for: see Made
	Method  string
	Path    string // as it came, escaped
	Query   string
	Header  http.Header
	Body    string
	Created string // id of what was created, "" for nothing
	Status  int    // of the answer, 0 while there is none or when the connection was closed
	// Arrived and Ended are moments of one clock that all calls share: Ended of
	// one is less than Arrived of another only when the first was over before
	// the other came.
	Arrived, Ended int
}

// Made is one thing that was created. Its logical name is made of what tells
// it apart in the payloads, never of ids:
//
//	client <key>
//	claim <key>/<claimName>
//	activity <key>[/<claimName>] <template>[ <marker>]
//	link <key>
type Made struct {
	ID  string // "" for a link
	URL string // redirect url of a v1 client or a link
}

type client struct {
	id, key, email, phone string
}

type claim struct {
	client *client
	name   string
}

// New makes a service that knows nobody and has these templates.
func New(templates ...Template) *Server {
	return &Server{
		KeyField: "email", EmailField: "email", PhoneField: "phone",
		Wire:      DefaultWire(),
		Nobody:    Reply{Status: http.StatusNotFound, Body: `{"message":"not found"}`},
		templates: templates,
		claims:    map[string]claim{}, made: map[string][]Made{},
	}
}

// Play has a script decide from now on what happens to each call; nil lets
// every call go well, as in the beginning. Calls that come at the same time ask
// the script at the same time.
func (s *Server) Play(script func(Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

func (s *Server) playing() func(Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.script
}

// AddClient makes a client that the service knew before, with what the
// look-ups go by, and returns the id. It counts as nobody's creation.
func (s *Server) AddClient(key, email, phone string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &client{id: s.newID("c"), key: key, email: email, phone: phone}
	s.clients = append(s.clients, c)
	return c.id
}

// Calls are all requests so far, in the order of their arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Call, len(s.calls))
	for i, c := range s.calls {
		list[i] = *c
	}
	return list
}

// Since are the calls that arrived after the first n, and how many there are
// now: a test passes the number on to see one run's calls.
func (s *Server) Since(n int) ([]Call, int) {
	all := s.Calls()
	return all[n:], len(all)
}

// Created is all that was made, by logical name. More than one thing under a
// name is a duplicate.
func (s *Server) Created() map[string][]Made {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string][]Made{}
	for name, things := range s.made {
		all[name] = slices.Clone(things)
	}
	return all
}

// Complaints are the calls that broke the document's rules, and how.
func (s *Server) Complaints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.complaints)
}

// ServeHTTP answers one call as the document says, or as the script wants it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller is gone
	}
	call, act := s.arrive(r, string(body))
	fault := Fault{}
	if script := s.playing(); script != nil {
		fault = script(*call)
	}
	fault.wait(r)
	reply := fault.Reply
	if !fault.NoEffect {
		normal := s.perform(call, act)
		if reply == nil {
			reply = &normal
		}
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

// action is what a call asks for: it is run under the lock, and says what it
// created, the answer, and what is wrong with the call.
type action func(*Call) (Reply, error)

// arrive records a call and finds what it asks for.
func (s *Server) arrive(r *http.Request, body string) (*Call, action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := &Call{
		Number: len(s.calls) + 1, Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery,
		Header: r.Header.Clone(), Body: body, Arrived: s.tick(),
	}
	s.calls = append(s.calls, call)
	act := s.route(call, r)
	copied := *call
	return &copied, act
}

// perform does what a call asks for and keeps a complaint about it.
func (s *Server) perform(call *Call, act action) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply, err := act(call)
	if err != nil {
		s.complaints = append(s.complaints, fmt.Sprintf("%s %s: %v", call.Method, call.Path, err))
	}
	return reply
}

func (s *Server) end(call *Call, reply *Reply, dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.calls[call.Number-1]
	kept.Created, kept.Ended = call.Created, s.tick()
	if reply != nil && !dropped {
		kept.Status = reply.Status
	}
}

func (s *Server) tick() int { s.clock++; return s.clock }

// newID is a UUID whose first letter tells what it names: c a client or
// contact, b a claim, a an activity.
func (s *Server) newID(letter string) string {
	s.serial++
	if s.Wire.Numeric {
		return fmt.Sprint(uint64(1)<<53 + uint64(s.serial)) // more than a float64 holds
	}
	return fmt.Sprintf("%s0000000-0000-4000-8000-%012d", letter, s.serial)
}

// clientBy finds a client; nil for nobody.
func (s *Server) clientBy(is func(*client) bool) *client {
	if i := slices.IndexFunc(s.clients, is); i >= 0 {
		return s.clients[i]
	}
	return nil
}

func (s *Server) clientWith(id string) *client {
	return s.clientBy(func(c *client) bool { return c.id == id })
}

func (s *Server) template(id string) (Template, bool) {
	i := slices.IndexFunc(s.templates, func(t Template) bool { return t.ID == id })
	if i < 0 {
		return Template{}, false
	}
	return s.templates[i], true
}

// sameEmail compares as mail systems do in practice.
func sameEmail(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
