package apiclient

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// minSecret is the length of the shortest secret that is hidden: a shorter one
	// would be found in unrelated words.
	minSecret = 6
	// keptCredentials is how many values of a header or query parameter are hidden:
	// the present token and the one before, which a late answer may still repeat.
	keptCredentials = 2
	// maxErrorBody is how many bytes of an answer that is not 2xx are stored.
	maxErrorBody = 4 << 10
)

// secrets holds the credentials that requests have carried, and the secrets behind
// them. It is safe for concurrent use.
type secrets struct {
	mu      sync.Mutex
	fixed   []string            // secrets that no request carries, such as a client secret
	carried map[string][]string // the last values of each header and query parameter, the latest last
	all     needles             // for all of them
}

// addFixed adds secrets that no request carries.
func (s *secrets) addFixed(values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fixed = values
	s.spell()
}

// carriedBy returns what a request carries, by the name of the header, or of the
// query parameter with a question mark before it.
func carriedBy(req *http.Request) map[string][]string {
	carried := maps.Clone(map[string][]string(req.Header))
	for name, values := range req.URL.Query() {
		carried["?"+name] = values
	}
	return carried
}

// learn adds what was put on a request as credentials: what is in after and not in
// before.
func (s *secrets) learn(before, after map[string][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := false
	for name, values := range after {
		for _, value := range values {
			if slices.Contains(s.carried[name], value) || slices.Contains(before[name], value) {
				continue
			}
			if s.carried == nil {
				s.carried = map[string][]string{}
			}
			last := append(s.carried[name], value)
			s.carried[name] = last[max(0, len(last)-keptCredentials):]
			added = true
		}
	}
	if added {
		s.spell()
	}
}

// spell rebuilds all. The caller holds mu.
func (s *secrets) spell() {
	parts := slices.Clone(s.fixed)
	for _, values := range s.carried {
		for _, value := range values {
			parts = append(parts, credentialParts(value)...)
		}
	}
	s.all = needlesFor(parts)
}

// credentialParts returns the value of a header or query parameter and the secrets
// inside it.
func credentialParts(value string) []string {
	parts := []string{value}
	if scheme, rest, ok := strings.Cut(value, " "); ok {
		parts = append(parts, rest)
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && scheme == "Basic" {
			_, password, _ := strings.Cut(string(plain), ":")
			parts = append(parts, string(plain), password)
		}
	}
	return parts
}

// hide replaces the secrets in a text, in whatever spelling. A text without secrets is
// returned as it is.
func (s *secrets) hide(text []byte) []byte {
	s.mu.Lock()
	all := s.all // is replaced, never changed
	s.mu.Unlock()
	return replaceSpelled(text, allEscapes, all.find)
}

// needles are texts to find, the longest first.
type needles []string

// needlesFor returns the needles for texts that must be hidden: each text, and the text
// fully decoded. A secret may itself look escaped ("a%41b"), and where it is escaped again
// in part, only fully decoded does it look the same in both places.
func needlesFor(texts []string) needles {
	set := map[string]bool{}
	for _, text := range texts {
		for _, needle := range []string{text, decodeFully(text)} {
			if len(needle) >= minSecret {
				set[needle] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b string) int { return len(b) - len(a) })
}

func (n needles) find(text []byte) []finding {
	var all []finding
	for _, needle := range n {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(needle))
			if i < 0 {
				break
			}
			all = append(all, finding{at + i, at + i + len(needle), "***"})
			at += i + len(needle)
		}
	}
	return all
}

var (
	// fullURL finds urls.
	fullURL = regexp.MustCompile(`(?i)\bhttps?://[^\s"'<>\\]+`)
	// bareURL finds links without a scheme: a host whose last label is of letters, with
	// a path or query. A path alone, a date and "and/or" have no such host.
	bareURL = regexp.MustCompile(`(?i)(?:^|[^\w./\\@+-])((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d+)?)(?:/|\?)[^\s"'<>\\]+`)
	// hostURL finds links without a scheme that begin with two slashes, at the beginning
	// of a word.
	hostURL = regexp.MustCompile(`(?i)(?:^|[\s"'(<>\[{=,;])//([a-z0-9][a-z0-9.-]*(?::\d+)?)[/?][^\s"'<>\\]+`)
	// relativeURL finds paths and queries at the beginning of a word.
	relativeURL = regexp.MustCompile(`(?:^|[\s"'(<>\[{:=,;])((?:\.{0,2}/|\?)[^\s"'<>\\]+)`)
)

// hideLinks leaves only the host of each link, because the rest may be a magic link,
// which is a credential. A relative link is hidden where the environment reads links, and
// anywhere when it has a query.
func (c *Client) hideLinks(body []byte) []byte {
	anyPath := c.cfg.Wire.RedirectURL == placeText
	find := func(text []byte) []finding { return findLinks(text, anyPath) }
	// The escapes of urls come later, and those of a space last: in a link, a decoded
	// space would look like its end.
	for _, escapes := range []string{markupEscapes, pathEscapes, allEscapes} {
		body = replaceSpelled(body, escapes, find)
	}
	return replaceSpelled(body, allEscapes, needlesFor(c.relativeLinks(body)).find)
}

// findLinks finds the links of a text. A path without a query is one only with anyPath.
func findLinks(text []byte, anyPath bool) []finding {
	if !bytes.ContainsAny(text, "/?") {
		return nil // every link has one of them; the patterns take a second for a text of 1 MiB
	}
	var all []finding
	for _, m := range fullURL.FindAllIndex(text, -1) {
		all = append(all, finding{m[0], m[1], "https://" + hostOf(string(text[m[0]:m[1]])) + "/***"})
	}
	for _, pattern := range []*regexp.Regexp{bareURL, hostURL} {
		for _, m := range pattern.FindAllSubmatchIndex(text, -1) {
			all = append(all, finding{m[2], m[1], string(text[m[2]:m[3]]) + "/***"})
		}
	}
	for _, m := range relativeURL.FindAllSubmatchIndex(text, -1) {
		path, query, _ := strings.Cut(string(text[m[2]:m[3]]), "?")
		if path != "" && (anyPath || query != "") || strings.Contains(query, "=") {
			all = append(all, finding{m[2], m[3], "/***"})
		}
	}
	return all
}

// hostOf returns the host and port of a url.
func hostOf(text string) string {
	_, host, _ := strings.Cut(text, "//")
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	return host[strings.LastIndex(host, "@")+1:]
}

// relativeLinks returns the relative links at the place where redirect urls are read. The
// absolute ones of the body are hidden already.
func (c *Client) relativeLinks(body []byte) []string {
	place := c.cfg.Wire.RedirectURL
	doc, ok := document(body)
	if !ok || CheckPointer(place) != nil {
		return nil
	}
	var links []string
	for _, value := range follow(doc, place).values {
		if text, ok := scalar(value); ok && form(value) == "string" && strings.ContainsAny(text, "/?") && !strings.HasSuffix(text, "/***") {
			links = append(links, text)
		}
	}
	return links
}

// forShow returns an answer as it may be shown beside a row or stored for a
// failure: without our credentials and without links.
func (c *Client) forShow(a Answer) Answer {
	a.Body = c.hideLinks(c.secrets.hide(a.Body))
	a.ContentType = string(c.secrets.hide([]byte(a.ContentType)))
	return a
}

// without returns an answer without the secrets in its body and headers. changed is
// false for one that has none.
func (s *secrets) without(a Answer) (hidden Answer, changed bool) {
	hidden = a
	hidden.Body, hidden.Header = s.hide(a.Body), a.Header.Clone()
	changed = !bytes.Equal(hidden.Body, a.Body)
	for _, values := range hidden.Header {
		for i, v := range values {
			values[i] = string(s.hide([]byte(v)))
			changed = changed || values[i] != v
		}
	}
	return hidden, changed
}

// forLedger returns what a Verdict stores of an answer. A 2xx is stored whole, with
// its links and headers, because ids and urls are read from it again after wire was
// corrected. So nothing is hidden that is part of an id or a link.
func (c *Client) forLedger(r Request, a Answer, v Verdict) []byte {
	if a.Status/100 == 2 {
		hidden, changed := c.secrets.without(a)
		if !changed || v.ID == "" && v.URL == "" {
			return forStorage(hidden)
		}
		if again := c.read(Verdict{}, r, hidden); again.ID != v.ID || again.URL != v.URL {
			return forStorage(a)
		}
		return forStorage(hidden)
	}
	body := c.forShow(a).Body
	if len(body) <= maxErrorBody {
		return body
	}
	return slices.Clone(body[:maxErrorBody])
}
