package sandbox

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The pages are for people: the claims site, which a redirect url opens, the dashboard
// of case handlers, and a front page that tells a newcomer what the sandbox is.
//
// They are HTML made here, without scripts. Addresses are credentials: a redirect url
// opens one client's journey, and the dashboard's address has a key, because every
// user of the machine can reach a loopback port. No other page links to them, and
// nothing is kept by browsers or caches.

//go:embed pages
var pageFiles embed.FS

// pageTemplates returns the pages, by name. They are parsed when the first page is asked
// for, because most commands show none.
var pageTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"value": shownValue, "when": shownTime}).ParseFS(pageFiles, "pages/*.html"))
})

// Dashboard returns the path of the case handlers' dashboard, which is new with
// every New: it is a credential, because the dashboard shows personal data.
func (s *Service) Dashboard() string { return s.dashboard }

// addPages routes the pages, and what is asked for by neither programs nor people.
func (s *Service) addPages() {
	unknown := says(http.StatusNotFound, "There is no such page",
		"The sandbox has the pages of redirect urls, which are in results workbooks, and a dashboard. "+
			"The dashboard's address changes with each start of the sandbox: it is in the terminal where the sandbox was started.")
	for pattern, find := range map[string]func(*http.Request) page{
		s.dashboard:                   s.list,
		s.dashboard + "/clients/{id}": s.file,
		"/dashboard/":                 unknown,
	} {
		s.mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, find) })
	}
	s.mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		setPageHeaders(w)
		http.ServeFileFS(w, r, pageFiles, "pages/style.css")
	})
	s.mux.HandleFunc("GET /start/{token}", func(w http.ResponseWriter, r *http.Request) {
		if !wantsPage(r) {
			s.serve(w, r, endpoint{answer: s.start})
			return
		}
		s.show(w, r, s.journey)
	})
	s.mux.HandleFunc("POST /start/{token}/{activity}", s.submit)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/" || !wantsPage(r) {
			unknownPath().write(w)
			return
		}
		s.show(w, r, func(*http.Request) page { return page{http.StatusOK, "front", "http://" + r.Host} })
	})
}

// wantsPage reports whether a request is a browser's. One that follows a redirect url
// and does not accept HTML is a program.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// page is an answer: a template with its data, or for a redirect its address.
type page struct {
	status   int
	template string
	data     any
}

// says returns a page without data: what is wrong, and what to do.
func says(status int, title, text string) func(*http.Request) page {
	return func(*http.Request) page { return page{status, "message", struct{ Title, Text string }{title, text}} }
}

// goTo returns a redirect after a form.
func goTo(path string) page { return page{http.StatusSeeOther, "", path} }

// show answers with a page. find and the template run with mu held.
func (s *Service) show(w http.ResponseWriter, r *http.Request, find func(*http.Request) page) {
	setPageHeaders(w)
	var body bytes.Buffer
	p, err := func() (page, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		p := find(r)
		if p.template == "" {
			return p, nil
		}
		return p, pageTemplates().ExecuteTemplate(&body, p.template, p.data)
	}()
	switch {
	case err != nil:
		http.Error(w, "the page cannot be shown: "+err.Error(), http.StatusInternalServerError)
	case p.template == "":
		http.Redirect(w, r, p.data.(string), p.status)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(p.status)
		w.Write(body.Bytes()) // fails only when the browser has gone away
	}
}

func setPageHeaders(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Cache-Control", "no-store") // addresses are credentials, and pages hold personal data
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Referrer-Policy", "same-origin") // no-referrer would take the Origin header from forms
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex")
}

// shownValue returns an attribute's value as people read it. Numbers and texts stay
// as they were sent.
func shownValue(a attributeRecord) string {
	switch a.Field {
	case "boolValue":
		if string(a.Value) == "true" {
			return "Yes"
		}
		return "No"
	case "doubleValue":
		return string(a.Value)
	}
	text := unquote(a.Value)
	moment, err := time.Parse(time.RFC3339, text)
	switch {
	case a.Field != "dateTimeValue" || err != nil:
		return text
	case moment.Equal(moment.Truncate(24 * time.Hour)):
		return moment.Format("2 January 2006")
	}
	return moment.Format("2 January 2006, 15:04:05.999999999 MST")
}

// shownTime returns a moment as an element with its exact form.
func shownTime(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2 Jan 2006, 15:04 MST") + `</time>`)
}
