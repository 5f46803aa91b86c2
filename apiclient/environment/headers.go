package environment

import (
	"net/http"
	"regexp"
	"strings"
)

// headerName is a token of RFC 9110, section 5.6.2.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// secretName finds header names whose values are secrets by all appearance.
var secretName = regexp.MustCompile(`(?i)(^|[-_])(api)?(key|token|secret|password|cookie)$`)

// refusedHeaders are set by this program or by HTTP itself, and why that must
// stay so.
var refusedHeaders = map[string]string{
	"Authorization":       "it belongs to “auth”",
	"Proxy-Authorization": "it would give a proxy's credentials to the service",
	"Idempotency-Key":     replayReason,
	"X-Idempotency-Key":   replayReason,
	"Host":                "it follows from “base_url”",
	"Content-Length":      "it follows from the body",
	"Content-Type":        "bodies are always JSON",
	"Transfer-Encoding":   "it follows from the body",
	"Connection":          "it belongs to the connection, not to the request",
}

// Go's HTTP transport takes these headers for a promise of the service's and
// sends a POST again by itself when a connection breaks. The service document
// makes no such promise.
const replayReason = "it makes requests be sent twice, and the service does not promise to notice"

func readHeaders(r *reader, v value, e *Environment) {
	first := map[string]int{}
	for key, item := range r.pairs(v) {
		name := http.CanonicalHeaderKey(key.Value)
		if line, twice := first[name]; twice {
			r.wrong(key, "duplicate-key", "the header “%s” is given twice; the first is in line %d", shorten(key.Value), line).
				Hint = "keep one of the two; header names ignore case"
			continue
		}
		first[name] = key.Line
		if !headerName.MatchString(key.Value) {
			r.wrong(key, "header-name", "“%s” cannot be the name of a header", shorten(key.Value)).
				Hint = "use letters, digits and hyphens"
			continue
		}
		if why, refused := refusedHeaders[name]; refused {
			r.wrong(key, "refused-header", "the header “%s” cannot be set: %s", name, why)
			continue
		}
		item.key = name
		e.headers = append(e.headers, r.reference(item, secretName.MatchString(name)))
	}
}

// authHeader reads the header that carries an API key. It may be
// Authorization, which some services use with a bare key.
func (r *reader) authHeader(v value) string {
	t := r.text(v)
	name := http.CanonicalHeaderKey(t)
	why, refused := refusedHeaders[name]
	switch {
	case t == "":
	case !headerName.MatchString(t):
		r.wrong(v.Node, "header-name", "%s must be the name of a header", v.name()).Hint = "use letters, digits and hyphens"
	case refused && !strings.EqualFold(t, "Authorization"):
		r.wrong(v.Node, "refused-header", "the header “%s” cannot be set: %s", name, why)
	default:
		return name
	}
	return ""
}
