package studio

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"claimsheet/importer"
	"claimsheet/mapping/problem"
)

// access lets only the page in that the printed link opened.
type access struct {
	token  string // of the link
	name   string // of the cookie; cookies do not know ports, and there may be other sessions
	secret string // of the cookie
	cross  *http.CrossOriginProtection

	used atomic.Bool  // the token has been used
	last atomic.Int64 // when a page asked last, as time.Time.UnixNano
}

// maxBody is the size of the largest request body, in bytes.
const maxBody = 4 << 20

func newAccess() *access {
	a := &access{token: rand.Text(), name: "claimsheet-studio-" + rand.Text()[:8], secret: rand.Text(), cross: http.NewCrossOriginProtection()}
	a.last.Store(time.Now().UnixNano())
	return a
}

// policy allows what the embedded files hold and nothing else: no inline scripts or styles, no other origin.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (a *access) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if err := a.check(r); err != nil {
			deny(w, r, cannot("foreign", err.Error(), "open the link that claimsheet studio printed"))
			return
		}
		if token := r.URL.Query().Get("token"); token != "" && r.URL.Path == "/" && r.Method == http.MethodGet {
			a.enter(w, r, token)
			return
		}
		if !a.knows(r) {
			deny(w, r, cannot("no-session", "this page was not opened with the link that claimsheet studio printed",
				"open that link; it works once, so if it was used in another browser, start claimsheet studio again"))
			return
		}
		a.last.Store(time.Now().UnixNano())
		defer func() {
			if v := recover(); v != nil {
				refuse(w, cannot("", importer.Caught(v).Error(), "what you did last may not have been done"), nil)
			}
		}()
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// check refuses requests that name another host, as after DNS rebinding, or come from another origin.
func (a *access) check(r *http.Request) error {
	own := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // of every request that http.Server has read
	if _, port, err := net.SplitHostPort(own.String()); err != nil || r.Host != "127.0.0.1:"+port && r.Host != "localhost:"+port {
		return errors.New("the request names another host or port")
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return errors.New("the request comes from another page")
	}
	site := r.Header.Get("Sec-Fetch-Site") // same-site is another port of this computer
	if isLink := r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate"; (site == "cross-site" || site == "same-site") && !isLink {
		return errors.New("the request comes from another page")
	}
	return a.cross.Check(r)
}

// enter exchanges the token for a cookie, once. Who has the cookie may come again.
func (a *access) enter(w http.ResponseWriter, r *http.Request, token string) {
	first := subtle.ConstantTimeCompare([]byte(token), []byte(a.token)) == 1 && a.used.CompareAndSwap(false, true)
	if !first && !a.knows(r) {
		deny(w, r, cannot("token", "this link is not valid, or was used before", "start claimsheet studio again for a new one"))
		return
	}
	if first {
		http.SetCookie(w, &http.Cookie{Name: a.name, Value: a.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// deny refuses a request: for the API as it does, for a person in words.
func deny(w http.ResponseWriter, r *http.Request, p problem.Problem) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		refuse(w, p, nil)
		return
	}
	http.Error(w, "Claimsheet Studio: "+p.Message+".\nTo go on, "+p.Hint+".", statusOf(p.Code))
}

func (a *access) knows(r *http.Request) bool {
	c, err := r.Cookie(a.name)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.secret)) == 1
}

// silence is how long no page has asked.
func (a *access) silence() time.Duration { return time.Since(time.Unix(0, a.last.Load())) }
