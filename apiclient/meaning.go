package apiclient

import (
	"fmt"
	"net/http"
)

// meaning is what a status proves about a creating request.
type meaning struct {
	effect Effect
	stop   bool
	retry  bool
	hint   string
}

const (
	hintBaseURL = "the service redirects: check base_url"
	hintLogin   = "the service redirects, perhaps to a login page: check base_url and auth"
)

// meanings are the statuses that mean something else than their class does
// (see meaningOf). The document shows no error statuses, so what counts is
// what the HTTP standard lets be proved.
var meanings = map[int]meaning{
	// Permanent and method-keeping redirects: the request was not acted upon
	// here, and it is never sent on to an address that an answer names.
	// A redirect means that base_url is wrong, so the next request fares no better.
	http.StatusMovedPermanently:  {effect: Refused, stop: true, hint: hintBaseURL},
	http.StatusTemporaryRedirect: {effect: Refused, stop: true, hint: hintBaseURL},
	http.StatusPermanentRedirect: {effect: Refused, stop: true, hint: hintBaseURL},
	// "See this instead" is also what a service says after it has acted.
	http.StatusFound:    {effect: Uncertain, stop: true, hint: hintLogin},
	http.StatusSeeOther: {effect: Uncertain, stop: true, hint: hintLogin},

	http.StatusUnauthorized: {effect: Refused, stop: true, hint: "check the environment's auth"},
	// A time-out on the service's side proves nothing, unless it came before
	// the request was complete (Answer.Early).
	http.StatusRequestTimeout:     {effect: Uncertain},
	http.StatusMisdirectedRequest: {effect: Refused, retry: true},
	http.StatusTooEarly:           {effect: Refused, retry: true},
	http.StatusTooManyRequests:    {effect: Refused, retry: true},

	http.StatusNotImplemented: {effect: Refused},
}

// meaningOf is the meaning of any status but a 2xx: a 4xx is a refusal;
// whatever else may have been said after the thing was created.
func meaningOf(a Answer) meaning {
	if a.Status == http.StatusRequestTimeout && a.Early {
		return meaning{effect: Refused, retry: true}
	}
	if m, ok := meanings[a.Status]; ok {
		return m
	}
	if a.Status/100 == 4 {
		return meaning{effect: Refused}
	}
	return meaning{effect: Uncertain}
}

// statusText is a status as a reason names it: "HTTP 400 Bad Request". The
// phrase is the standard's, not the answer's.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("HTTP %d %s", status, text)
	}
	return fmt.Sprintf("HTTP %d", status)
}
