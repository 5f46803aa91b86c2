// Package pages has the web pages of the sandbox, for people: the claims site, which
// a redirect url opens, and the dashboard of case handlers.
//
// The claims site shows a client the steps of the claim in their order, completed
// ones with their values, and the first Open activity as a form made from its attribute
// templates. The dashboard shows clients, claims and activities, and marks what a
// client has entered. The front page tells a newcomer what
// the sandbox is.
//
// The pages are HTML made here, without scripts. They read the service through a
// Store and know nothing of its interface. Addresses are credentials: a redirect url
// opens one client's journey, and the dashboard's address has a key, because every
// user of the machine can reach a loopback port. No other page links to them, and
// nothing is kept by browsers or caches. Handler does not check the Host header; who
// serves it does.
package pages

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Store is what the pages need of the service. Its methods are safe for concurrent
// use, and what they return stays as it is.
type Store interface {
	// Clients returns all clients in order of creation.
	Clients() []Client
	// Client returns the client with that id.
	Client(id string) (Client, bool)
	// Holder returns the client whose redirect urls end with the token.
	Holder(token string) (Client, bool)
	// Complete records what the token's client entered for the attributes, by their
	// ids, and completes the activity. It returns ErrNotCurrent when the activity is not
	// the client's first Open one. The text of any other error is shown to the client.
	Complete(token, activityID string, values map[string]json.RawMessage) error
}

// ErrNotCurrent means that the activity is not the one where the client continues.
var ErrNotCurrent = errors.New("the activity is not the first Open one of the client")

// Client is a client (v1) or contact (v2).
type Client struct {
	ID            string
	Version       string // v1 or v2
	CaseID        string // "" in v2
	Administrator bool
	Data          json.RawMessage // the create payload
	Created       time.Time
	By            string // the User-Agent that created the client
	Token         string // of the newest redirect url; "" for none
	Claims        []Claim
	Steps         []Step // of the client and of the claims, in the order of the journey
}

// Claim is a claim that the client administers or is a claimant of.
type Claim struct {
	ID            string
	Name          string
	Administrator Person
	Claimants     []Person
	Created       time.Time
}

// Person is a client as others see one.
type Person struct {
	ID   string
	Data json.RawMessage
}

// Step is an activity. An Open one has all attributes of its template, without
// values; a completed one has those that were set.
type Step struct {
	ID         string
	Template   string
	Status     string // as it was created
	Open       bool   // the client has not completed it
	Placed     bool   // by the workflow, after the client completed the one before
	ClaimID    string // "" for an activity of the client
	Attributes []Attribute
	Created    time.Time
	EnteredBy  *Person // who completed it on the claims site; nil for nobody
	Entered    time.Time
}

// Attribute is an attribute template, or an attribute with its value.
type Attribute struct {
	ID       string
	Name     string
	DataType string          // as in the service's document; "" for any
	Options  []string        // what a DropDown takes; nil when the reference data list nothing
	Value    json.RawMessage // nil for none
}

// stylePath is the address of the style sheet.
const stylePath = "/style.css"

//go:embed *.html style.css
var files embed.FS

// templates returns the pages, by name. They are parsed when the first page is asked
// for, because most commands show none.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"name":  func(p Person) string { return nameOf(p.Data) },
		"value": shownValue,
		"when":  shownTime,
		"run":   runOf,
	}).ParseFS(files, "*.html"))
})

// Handler serves the pages.
type Handler struct {
	store     Store
	dashboard string // its path, without a slash at the end
	mux       *http.ServeMux
}

// New makes the pages of a store. The dashboard gets an address that nobody can guess.
func New(store Store) *Handler {
	h := &Handler{store: store, dashboard: "/dashboard/" + rand.Text(), mux: http.NewServeMux()}
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { h.render(w, http.StatusOK, "front", "http://"+r.Host) })
	h.mux.HandleFunc("GET "+stylePath, h.style)
	h.mux.HandleFunc("GET /start/{token}", h.journey)
	h.mux.HandleFunc("POST /start/{token}/{activity}", h.submit)
	h.mux.HandleFunc("GET "+h.dashboard, h.list)
	h.mux.HandleFunc("GET "+h.dashboard+"/clients/{id}", h.client)
	h.mux.HandleFunc("/", h.unknown)
	return h
}

// Dashboard returns the path of the dashboard, a credential.
func (h *Handler) Dashboard() string { return h.dashboard }

// Serves reports whether a request is for a page, and not for the service: whoever
// follows a redirect url and does not accept HTML is a program.
func (h *Handler) Serves(r *http.Request) bool {
	switch path := r.URL.Path; {
	case path == stylePath || strings.HasPrefix(path, "/dashboard/"):
		return true
	case path == "/" || strings.HasPrefix(path, "/start/"):
		return strings.Contains(r.Header.Get("Accept"), "text/html")
	}
	return false
}

// ServeHTTP answers a request for a page.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store") // addresses are credentials, and pages hold personal data
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Referrer-Policy", "same-origin") // no-referrer would take the Origin header from forms
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex")
	h.mux.ServeHTTP(w, r)
}

func (h *Handler) style(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, files, "style.css")
}

// message is a page without data: what is wrong, and what to do.
type message struct{ Title, Text string }

func (h *Handler) unknown(w http.ResponseWriter, _ *http.Request) {
	m := message{"There is no such page", "The sandbox has the pages of redirect urls, which are in results workbooks, and a dashboard. The dashboard's address changes with " +
		"each start of the sandbox: it is in the terminal where the sandbox was started."}
	h.render(w, http.StatusNotFound, "message", m)
}

// render writes a page.
func (h *Handler) render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := templates().ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, "the page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(page.Bytes()) // fails only when the browser has gone away
}

// fromThisSite reports whether a form was sent from a page of this address. A
// browser always sends one of these headers with a form.
func fromThisSite(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	return r.Header.Get("Origin") == "http://"+r.Host
}
