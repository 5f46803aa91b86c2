package apiclient

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
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
// them, in every spelling in which an answer may repeat them. It is safe for
// concurrent use.
type secrets struct {
	mu      sync.Mutex
	fixed   []string            // secrets that no request carries, such as a client secret
	carried map[string][]string // the last values of each header and query parameter, the latest last
	all     []string            // every spelling of all of them, the longest first
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
	spellings := map[string]bool{}
	for _, part := range parts {
		inJSON, _ := json.Marshal(part) // strings always have a JSON form
		unescaped := encode(part)
		for _, spelling := range []string{part, url.QueryEscape(part), url.PathEscape(part),
			string(inJSON[1 : len(inJSON)-1]), string(unescaped[1 : len(unescaped)-1])} {
			if len(spelling) >= minSecret {
				spellings[spelling] = true
			}
		}
	}
	s.all = slices.SortedFunc(maps.Keys(spellings), func(a, b string) int { return len(b) - len(a) })
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

// hide replaces the secrets in a text. A text without secrets is returned as it is.
func (s *secrets) hide(body []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.all {
		if bytes.Contains(body, []byte(secret)) {
			body = bytes.ReplaceAll(body, []byte(secret), []byte("***"))
		}
	}
	return body
}

// anyURL finds urls, also with their slashes escaped as JSON may have them.
var anyURL = regexp.MustCompile(`(?i)\b(https?:(?:\\?/){2})((?:\\/|[^\s"'<>\\])+)`)

// bareURL finds links without a scheme: a host whose last label is of letters, with
// a path or query. A path alone, a date and "and/or" have no such host.
var bareURL = regexp.MustCompile(`(?i)(^|[^\w./\\@+-])((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d+)?)(?:\\?/|\?)(?:\\/|[^\s"'<>\\])+`)

// hideURLs leaves only the host of each url, because the rest may be a magic link,
// which is a credential.
func hideURLs(body []byte) []byte {
	return bareURL.ReplaceAll(hideFullURLs(body), []byte("$1$2/***"))
}

func hideFullURLs(body []byte) []byte {
	return anyURL.ReplaceAllFunc(body, func(found []byte) []byte {
		m := anyURL.FindSubmatch(found)
		host := strings.ReplaceAll(string(m[2]), `\`, "")
		host, _, _ = strings.Cut(host, "/")
		host, _, _ = strings.Cut(host, "?")
		host, _, _ = strings.Cut(host, "#")
		if at := strings.LastIndex(host, "@"); at >= 0 {
			host = host[at+1:]
		}
		return []byte("https://" + host + "/***")
	})
}

// forShow returns an answer as it may be shown beside a row or stored for a
// failure: without our credentials and without links.
func (c *Client) forShow(a Answer) Answer {
	a.Body = hideURLs(c.secrets.hide(a.Body))
	a.ContentType = string(c.secrets.hide([]byte(a.ContentType)))
	return a
}

// hide removes the texts of one request from its answer. A signature is removed in
// this way and not kept among the secrets, because every request has another one.
func (a *Answer) hide(texts []string) {
	if len(texts) == 0 {
		return
	}
	var s secrets
	s.addFixed(texts)
	*a, _ = s.without(*a)
	a.ContentType = string(s.hide([]byte(a.ContentType)))
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
