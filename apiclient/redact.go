package apiclient

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// minSecret is the length of the shortest secret that is hidden: a shorter one would be found in unrelated words.
	minSecret = 6
	// maxErrorBody is how many bytes of an answer that is not 2xx are stored, and maxRead
	// of how many its words are taken.
	maxErrorBody, maxRead = 4 << 10, 64 << 10
)

// secrets holds all credentials that requests have carried, and the secrets behind them. It is safe for concurrent use.
type secrets struct {
	mu      sync.Mutex
	values  []string // as they were learnt
	spelled []string // all of them as they may be written, the longest first; it is replaced, never changed
}

// learn adds values that a request carries as credentials, or from which these are made.
func (s *secrets) learn(values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		if slices.Contains(s.values, value) {
			continue
		}
		s.values = append(s.values, value)
		all := append(spellings(value), s.spelled...)
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		s.spelled = slices.Compact(all)
	}
}

// spellings returns a value, and the parts of it that are secrets by themselves, as they may be written.
func spellings(value string) (all []string) {
	scheme, rest, _ := strings.Cut(value, " ")
	parts := []string{value, rest}
	if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && scheme == "Basic" {
		_, password, _ := strings.Cut(string(plain), ":")
		parts = append(parts, string(plain), password)
	}
	for _, part := range parts {
		if len(part) < minSecret {
			continue
		}
		inJSON := encode(part)
		for _, spelling := range []string{part, string(inJSON[1 : len(inJSON)-1]), url.QueryEscape(part), url.PathEscape(part),
			base64.StdEncoding.EncodeToString([]byte(part))} {
			all = append(all, spelling, strings.ReplaceAll(spelling, "+", " "), percent.ReplaceAllStringFunc(spelling, strings.ToLower))
		}
	}
	return all
}

// hide replaces the secrets in a text, but for those that are part of one of the texts in except.
func (s *secrets) hide(text string, except ...string) string {
	s.mu.Lock()
	spelled := s.spelled
	s.mu.Unlock()
	for _, spelling := range spelled {
		if strings.Contains(text, spelling) && !slices.ContainsFunc(except, func(e string) bool { return strings.Contains(e, spelling) }) {
			text = strings.ReplaceAll(text, spelling, "***")
		}
	}
	return text
}

// jsonScalar matches a string or a number of a JSON document.
var jsonScalar = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*`)

// redacted returns the body of an answer as hide leaves it, also where a JSON document
// escapes characters. What is not text is not kept: nothing can be found in it.
func redacted(a Answer, hide func(string) string) []byte {
	body := a.Body
	if bytes.IndexByte(body, 0) >= 0 || !utf8.Valid(body) && a.Header.Get("Content-Encoding") != "" { // Latin-1 is text
		return notKept(a)
	}
	if bytes.IndexByte(body, '\\') < 0 || !json.Valid(body) {
		return []byte(hide(string(body)))
	}
	return jsonScalar.ReplaceAllFunc(body, func(literal []byte) []byte {
		text, _ := scalar(literal)
		if hidden := hide(text); hidden != text {
			return encode(hidden)
		}
		return literal
	})
}

// percent matches an escaped byte of a url.
var percent = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// notKept stands in the place of a body that may hold what is to be hidden.
func notKept(a Answer) []byte {
	return fmt.Appendf(nil, "(not kept: %d bytes, %s)", len(a.Body), cmp.Or(mediaType(a), "of no known type"))
}

var (
	// link matches a url with its host, also one without a scheme.
	link = regexp.MustCompile(`(?i)(\bhttps?:|\B)//(?:[^\s"'<>\\/?#]*@)?([^\s"'<>\\/?#]+)[^\s"'<>\\]*`)
	// bare matches a url without a scheme: a host whose last label is of letters, and a path or query.
	bare = regexp.MustCompile(`(?i)((?:^|[^\w./\\@+-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d+)?)[/?][^\s"'<>\\]+`)
	// query matches the query of a url, and the path before it where a word begins with it.
	query = regexp.MustCompile(`(\B/[^\s"'<>\\?]*)\?[^\s"'<>\\]+|\?[^\s"'<>\\]*=[^\s"'<>\\]*`)
	// escapes matches the escapes of JSON, urls and HTML, behind which anything may stand.
	escapes = regexp.MustCompile(`\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|%[0-9a-fA-F]{2}|&(?:#|[A-Za-z]+;)`)
)

// forShow returns an answer as it may be shown beside a row or stored for a
// failure: without our credentials. A link may be a credential, too: of urls only the host is left, of others no
// query. An answer in which that cannot be found for sure, because it still has escapes, is not kept.
func (c *Client) forShow(a Answer) Answer {
	a.Body = a.Body[:min(len(a.Body), maxRead)]
	escaped := false
	body := redacted(a, func(text string) string {
		text = bare.ReplaceAllString(link.ReplaceAllString(c.secrets.hide(text), "$1//$2/***"), "$1/***")
		text = query.ReplaceAllString(text, "$1?***")
		escaped = escaped || escapes.MatchString(text)
		return text
	})
	if escaped {
		body = notKept(a)
	}
	a.Body = body
	return a
}

// forLedger returns what a Verdict stores of an answer. A 2xx is stored whole, with
// its links and headers, because ids and urls are read from it again after wire was
// corrected. So nothing is hidden that is part of the id or the link.
func (c *Client) forLedger(a Answer, v Verdict) []byte {
	if a.Status/100 != 2 {
		body := c.forShow(a).Body
		return slices.Clone(body[:min(len(body), maxErrorBody)])
	}
	hide := func(text string) string { return c.secrets.hide(text, v.ID, v.URL) }
	a.Body, a.Header = redacted(a, hide), a.Header.Clone()
	for _, values := range a.Header {
		for i, value := range values {
			values[i] = string(redacted(Answer{Body: []byte(value)}, hide))
		}
	}
	return forStorage(a)
}
