package fault

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// Handler is a service that fails as its rules say. A request that matches no rule is
// the service's alone. Of several rules that hit a request, the times of the slow ones
// add up, and the first of the others decides.
//
// Every rule counts the requests that match it, and only its own count and the seed
// decide which of them it hits. So it does not matter what else is sent between them;
// but of requests that are sent at the same time, the first to arrive has the lower
// number.
type Handler struct {
	next   http.Handler
	rules  []Rule
	seed   uint64
	played func(rule Rule, request int)

	mu      sync.Mutex
	matched []int // requests, of each rule
}

// New puts rules in front of a service. played is called for every fault but slow,
// with the number of the request among those that match the rule; nil for no one. It
// may be called from several goroutines.
func New(next http.Handler, rules []Rule, seed uint64, played func(rule Rule, request int)) *Handler {
	return &Handler{next: next, rules: rules, seed: seed, played: played, matched: make([]int, len(rules))}
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rule, wait := h.draw(r.Method, r.URL.EscapedPath())
	if rule.Kind == "" && wait == 0 {
		h.next.ServeHTTP(w, r)
		return
	}
	var a *httptest.ResponseRecorder
	switch rule.Kind {
	case FailBefore:
		a = serverError()
	case Busy:
		a = refusal(http.StatusTooManyRequests, "too many requests")
		a.Header().Set("Retry-After", strconv.Itoa(int(rule.Time/time.Second)))
	case ExpiredLogin:
		a = refusal(http.StatusUnauthorized, "the credentials have expired")
	default:
		a = httptest.NewRecorder()
		h.next.ServeHTTP(a, r)
		a = spoilt(a, rule.Kind)
	}
	if wait > 0 {
		control := http.NewResponseController(w) // without a time limit of reading, the server does not take the client for gone
		_ = control.SetReadDeadline(time.Time{}) // fails where there is no connection, and so no limit
		_ = control.SetWriteDeadline(time.Time{})
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
		}
	}
	write(w, a, rule.Kind)
}

// draw counts the request and returns the rule that decides, the zero Rule for none,
// and how long the answer waits.
func (h *Handler) draw(method, path string) (decides Rule, wait time.Duration) {
	request := 0
	h.mu.Lock()
	for i, r := range h.rules {
		if !r.matches(method, path) {
			continue
		}
		h.matched[i]++
		switch hits := r.hits(h.seed, h.matched[i]); {
		case hits && r.Kind == Slow:
			wait += r.Time
		case hits && decides.Kind == "":
			decides, request = r, h.matched[i]
		}
	}
	h.mu.Unlock()
	if request > 0 && h.played != nil {
		h.played(decides, request)
	}
	return decides, wait
}

// spoilt returns what is left of the answer. A refusal cannot lose an id, so it stays
// as it is for kinds that are about successes.
func spoilt(a *httptest.ResponseRecorder, k Kind) *httptest.ResponseRecorder {
	success := a.Code/100 == 2
	switch {
	case k == FailAfter:
		return serverError()
	case k == NotJSON && success:
		return newAnswer(a.Code, "text/html; charset=utf-8", "<!DOCTYPE html><title>Welcome</title><p>Please wait…</p>\n")
	case k == NoID && success:
		return newAnswer(a.Code, "application/json", "{}\n")
	}
	return a
}

// write writes the answer, or as much of it as a fault of that kind leaves.
func write(w http.ResponseWriter, a *httptest.ResponseRecorder, k Kind) {
	if k == LoseAnswer {
		panic(http.ErrAbortHandler) // closes the connection
	}
	maps.Copy(w.Header(), a.Header())
	body := a.Body.Bytes()
	if k == CutAnswer {
		w.Header().Set("Content-Length", strconv.Itoa(max(1, len(body))))
		body = body[:len(body)/2]
	}
	w.WriteHeader(a.Code)
	_, _ = w.Write(body) // fails only when the client has gone
	if k == CutAnswer {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func newAnswer(status int, contentType, body string) *httptest.ResponseRecorder {
	a := httptest.NewRecorder()
	a.Header().Set("Content-Type", contentType)
	a.Header().Set("Cache-Control", "no-store")
	a.Code = status
	_, _ = a.Body.WriteString(body)
	return a
}

// refusal is an error in the sandbox's form.
func refusal(status int, message string) *httptest.ResponseRecorder {
	return newAnswer(status, "application/json", `{"error":{"code":"fault","message":"`+message+` (a fault on purpose)"}}`+"\n")
}

// serverError says nothing about whether anything was created, as such answers do.
func serverError() *httptest.ResponseRecorder {
	return refusal(http.StatusInternalServerError, "the service failed")
}
