package sandbox

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

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
