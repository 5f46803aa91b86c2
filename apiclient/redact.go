package apiclient

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// minSecret is the length of the shortest secret that is hidden: a shorter one
	// would be found in unrelated words.
	minSecret = 6
	// maxErrorBody is how many bytes of an answer that is not 2xx are stored, and maxRead
	// of how many its words are taken.
	maxErrorBody, maxRead = 4 << 10, 64 << 10
	// maxLayers is how many escapes inside one another a kept answer may have.
	maxLayers = 4
)

// secrets holds the credentials that requests have carried, and the secrets behind
// them. It is safe for concurrent use.
type secrets struct {
	mu      sync.Mutex
	fixed   []string    // secrets that no request carries, such as a client secret
	carried [2][]string // what a request carries at present, and before that: a late answer may still repeat it
	spelled []string    // all of them as they may be written, the longest first
}

// learn adds the values that a request carries as credentials.
func (s *secrets) learn(values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(values, s.carried[0]) && !slices.Equal(values, s.carried[1]) {
		s.carried = [2][]string{values, s.carried[0]}
		s.spell()
	}
}

// spell rebuilds spelled. The caller holds mu.
func (s *secrets) spell() {
	parts := slices.Clone(s.fixed)
	for _, value := range slices.Concat(s.carried[:]...) {
		scheme, rest, _ := strings.Cut(value, " ")
		parts = append(parts, value, rest)
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && scheme == "Basic" {
			_, password, _ := strings.Cut(string(plain), ":")
			parts = append(parts, string(plain), password)
		}
	}
	s.spelled = nil
	for _, part := range parts {
		if len(part) < minSecret {
			continue
		}
		inJSON := encode(part)
		for _, spelling := range []string{part, string(inJSON[1 : len(inJSON)-1]), url.QueryEscape(part), url.PathEscape(part),
			base64.StdEncoding.EncodeToString([]byte(part)), unescapeAll(part)} { // a secret may itself look escaped
			s.spelled = append(s.spelled, spelling, strings.ReplaceAll(spelling, "+", " "))
		}
	}
	s.spelled = slices.DeleteFunc(s.spelled, func(spelling string) bool { return len(spelling) < minSecret })
	slices.SortFunc(s.spelled, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.spelled = slices.Compact(s.spelled)
}

// hide replaces the secrets in a text, but for those that are part of one of the texts in
// except.
func (s *secrets) hide(text string, except ...string) string {
	s.mu.Lock()
	spelled := s.spelled // is replaced, never changed
	s.mu.Unlock()
	for _, spelling := range spelled {
		if strings.Contains(text, spelling) && !slices.ContainsFunc(except, func(e string) bool { return strings.Contains(e, spelling) }) {
			text = strings.ReplaceAll(text, spelling, "***")
		}
	}
	return text
}

// jsonString matches a string of a JSON document.
var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// redacted returns the body of an answer as hide leaves it, also where a JSON document
// escapes characters. What hide cannot read is not kept at all: what is not text, and
// what holds something to hide behind further escapes.
func redacted(a Answer, hide func(string) string) []byte {
	body := a.Body
	if bytes.IndexByte(body, '\\') >= 0 && json.Valid(body) {
		body = jsonString.ReplaceAllFunc(body, func(literal []byte) []byte {
			text, _ := scalar(literal)
			if hidden := hide(text); hidden != text {
				return encode(hidden)
			}
			return literal
		})
	}
	body = []byte(hide(string(body)))
	isText := bytes.IndexByte(body, 0) < 0 && (utf8.Valid(body) || a.Header.Get("Content-Encoding") == "") // Latin-1 is text
	for n, layer, next := 0, "", string(body); isText && next != layer; n++ {
		layer, next = next, unescape(next)
		spaced := strings.ReplaceAll(next, "+", " ") // as a query writes spaces
		isText = next == layer || n < maxLayers && hide(next) == next && hide(spaced) == spaced
	}
	if isText {
		return body
	}
	return fmt.Appendf(nil, "(not kept: %d bytes, %s)", len(a.Body), cmp.Or(mediaType(a), "of no known type"))
}

// escapes matches the escapes of JSON and urls.
var escapes = regexp.MustCompile(`(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]|%[0-9a-fA-F]{2}`)

// unescape returns a text without one layer of escapes of JSON, urls and HTML.
func unescape(text string) string {
	if !strings.ContainsAny(text, `\%&`) {
		return text
	}
	return html.UnescapeString(escapes.ReplaceAllStringFunc(text, func(escape string) string {
		plain, ok := scalar([]byte(`"` + escape + `"`))
		if escape[0] == '%' || !ok {
			plain, _ = url.PathUnescape(escape)
		}
		return plain
	}))
}

// unescapeAll returns a text without maxLayers of escapes.
func unescapeAll(text string) string {
	for range maxLayers {
		next := unescape(text)
		if next == text {
			break
		}
		text = next
	}
	return text
}

var (
	// link matches a url with its host, also one without a scheme.
	link = regexp.MustCompile(`(?i)(\bhttps?:|\B)//(?:[^\s"'<>\\/?#]*@)?([^\s"'<>\\/?#]+)[^\s"'<>\\]*`)
	// bare matches a url without a scheme: a host whose last label is of letters, and a path or query.
	bare = regexp.MustCompile(`(?i)((?:^|[^\w./\\@+-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d+)?)[/?][^\s"'<>\\]+`)
	// query matches the query of a url, and the path before it where a word begins with it.
	query = regexp.MustCompile(`(\B/[^\s"'<>\\?]*)\?[^\s"'<>\\]+|\?[^\s"'<>\\]*=[^\s"'<>\\]*`)
	// slashed matches a word that may be a link: one with a slash or a question mark.
	slashed = regexp.MustCompile(`[^\s"'<>\\/?]*[/?][^\s"'<>\\]*`)
)

// forShow returns an answer as it may be shown beside a row or stored for a
// failure: without our credentials. A link may be a credential, too: of urls only the host is left, of others no
// query, and nothing of what stands where the environment reads links; where it reads whole texts, no word that may be one.
func (c *Client) forShow(a Answer) Answer {
	place, relative := c.cfg.Wire.RedirectURL, ""
	doc, isJSON := document(a.Body)
	if isJSON && CheckPointer(place) == nil {
		f := follow(doc, place)
		if text, _ := stringOf(f.value); f.repeated { // which of them are links?
			a.Body = nil
		} else if len(text) >= minSecret && strings.ContainsAny(text, "/?") {
			relative = text
		}
	}
	a.Body = a.Body[:min(len(a.Body), maxRead)]
	a.Body = redacted(a, func(text string) string {
		text = bare.ReplaceAllString(link.ReplaceAllString(c.secrets.hide(text), "$1//$2/***"), "$1/***")
		text = query.ReplaceAllString(text, "$1?***")
		if place == placeText {
			text = slashed.ReplaceAllString(text, "***")
		}
		if relative != "" {
			text = strings.ReplaceAll(text, relative, "***")
		}
		return text
	})
	a.ContentType = c.secrets.hide(a.ContentType)
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
