package apiclient

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
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
	// of how many its words are taken: the patterns for links need a second for 1 MiB.
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
	set := map[string]bool{}
	for _, part := range parts {
		if len(part) < minSecret {
			continue
		}
		plain, escaped := encode(part), bytes.NewBuffer(nil)
		json.HTMLEscape(escaped, plain)
		for _, spelling := range []string{part, string(plain[1 : len(plain)-1]), string(escaped.Bytes()[1 : escaped.Len()-1]),
			url.QueryEscape(part), url.PathEscape(part), base64.StdEncoding.EncodeToString([]byte(part)), decoded(part)} {
			set[spelling], set[strings.ReplaceAll(spelling, "+", " ")] = true, true
		}
	}
	maps.DeleteFunc(set, func(spelling string, _ bool) bool { return len(spelling) < minSecret })
	s.spelled = slices.SortedFunc(maps.Keys(set), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
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

// redacted returns the body of an answer as redact leaves it, also where a JSON document
// escapes characters. What redact cannot read is not kept at all: what is not text, and
// what holds something to hide behind further escapes.
func redacted(a Answer, redact func(string) string) []byte {
	body := a.Body
	if bytes.IndexByte(body, '\\') >= 0 && json.Valid(body) {
		body = jsonString.ReplaceAllFunc(body, func(literal []byte) []byte {
			text, _ := scalar(literal)
			if hidden := redact(text); hidden != text {
				return encode(hidden)
			}
			return literal
		})
	}
	body = []byte(redact(string(body)))
	isText := bytes.IndexByte(body, 0) < 0 && (utf8.Valid(body) || a.Header.Get("Content-Encoding") == "") // Latin-1 is text
	for n, layer, next := 0, "", string(body); isText && next != layer; n++ {
		layer, next = next, unescape(next)
		spaced := strings.ReplaceAll(next, "+", " ") // as a query writes spaces
		isText = next == layer || n < maxLayers && redact(next) == next && redact(spaced) == spaced
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

// decoded returns a text without escapes. A secret may itself look escaped ("a%41b").
func decoded(text string) string {
	for next := unescape(text); next != text; next = unescape(text) {
		text = next
	}
	return text
}

// linkTail matches the rest of a link, and word what is before the beginning of one.
const linkTail, word = `[^\s"'<>\\]`, `\s"'(<>\[{=,;`

var (
	// fullURL finds urls, with the host as a group.
	fullURL = regexp.MustCompile(`(?i)\bhttps?://(?:[^\s"'<>\\/?#]*@)?([^\s"'<>\\/?#]*)` + linkTail + `*`)
	// hostURL finds links without a scheme: a host whose last label is of letters, or one
	// after two slashes at the beginning of a word, with a path or query. A path alone, a
	// date and "and/or" have no such host.
	hostURL = regexp.MustCompile(`(?i)((?:(?:^|[^\w./\\@+-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}|` +
		`(?:^|[` + word + `])//[a-z0-9][a-z0-9.-]*)(?::\d+)?)[/?]` + linkTail + `+`)
	// hostlessURL finds paths and queries at the beginning of a word.
	hostlessURL = regexp.MustCompile(`(^|[` + word + `:])((?:\.{0,2}/|\?)` + linkTail + `+)`)
)

// hideLinks leaves only the host of each link, because the rest may be a magic link,
// which is a credential. A path without a query is a link only with anyPath.
func hideLinks(text string, anyPath bool) string {
	if !strings.ContainsAny(text, "/?") {
		return text // every link has one of them
	}
	text = hostURL.ReplaceAllString(fullURL.ReplaceAllString(text, "https://${1}/***"), "${1}/***")
	return hostlessURL.ReplaceAllStringFunc(text, func(found string) string {
		parts := hostlessURL.FindStringSubmatch(found)
		path, query, _ := strings.Cut(parts[2], "?")
		hidden := strings.HasPrefix(path, "//") && strings.HasSuffix(path, "/***")
		if !hidden && (strings.HasPrefix(path, "/***") || strings.Contains(query, "=") || path != "" && (anyPath || query != "")) {
			return parts[1] + "/***"
		}
		return found
	})
}

// forShow returns an answer as it may be shown beside a row or stored for a
// failure: without our credentials and without links. A relative link is hidden where the
// environment reads links, and anywhere when it has a query.
func (c *Client) forShow(a Answer) Answer {
	place := c.cfg.Wire.RedirectURL
	relative := ""
	if doc, ok := document(a.Body); ok && CheckPointer(place) == nil {
		f := follow(doc, place)
		if text, _ := stringOf(f.value); f.repeated { // which of them are links?
			a.Body = nil
		} else if len(text) >= minSecret && strings.ContainsAny(text, "/?") {
			relative = text
		}
	}
	a.Body = a.Body[:min(len(a.Body), maxRead)]
	a.Body = redacted(a, func(text string) string {
		text = hideLinks(c.secrets.hide(text), place == placeText)
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
