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

// shortSecret is the length below which a secret is not looked for: it would
// be found in words that have nothing to do with it.
const shortSecret = 6

// keptCredentials is how many values of a header are looked for: a token's, and
// that of the one before, which an answer under way may still repeat.
const keptCredentials = 2

// secrets are the credentials that requests have carried, and those that lead to
// them, in every spelling in which an answer may repeat them. It is safe for
// concurrent use.
type secrets struct {
	mu      sync.Mutex
	fixed   []string            // what no request carries, such as a client secret
	carried map[string][]string // the last values of each header, the latest last
	all     []string            // what is looked for, the longest first
}

// know takes up secrets that no request carries.
func (s *secrets) know(values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fixed = values
	s.spell()
}

// learn takes the headers that were put on a request as credentials: those of
// after that are not in before.
func (s *secrets) learn(before, after http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := false
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
			news = true
		}
	}
	if news {
		s.spell()
	}
}

// spell makes all anew. mu is held.
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
			if len(spelling) >= shortSecret {
				spellings[spelling] = true
			}
		}
	}
	s.all = slices.SortedFunc(maps.Keys(spellings), func(a, b string) int { return len(b) - len(a) })
}

// credentialParts are a header's value and what is inside it.
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

// cover replaces the secrets in an answer's body.
func (s *secrets) cover(body []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.all {
		body = bytes.ReplaceAll(body, []byte(secret), []byte("***"))
	}
	return body
}

// anyURL finds urls, also with their slashes escaped as JSON may have them.
var anyURL = regexp.MustCompile(`(?i)\b(https?:(?:\\?/){2})((?:\\/|[^\s"'<>\\])+)`)

// bareURL finds links without a scheme: a host whose last name is of letters, and
// a path or query. A path alone, a date and "and/or" have no such host.
var bareURL = regexp.MustCompile(`(?i)(^|[^\w./\\@+-])((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d+)?)(?:\\?/|\?)(?:\\/|[^\s"'<>\\])+`)

// coverURLs keeps of urls the host only: the rest may be a magic link, which is
// a credential.
func coverURLs(body []byte) []byte {
	return bareURL.ReplaceAll(coverFullURLs(body), []byte("$1$2/***"))
}

func coverFullURLs(body []byte) []byte {
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

// forShow is an answer as it may be shown beside a row, or kept of a failure:
// without the credentials that we sent, and without links.
func (c *Client) forShow(a Answer) Answer {
	a.Body = coverURLs(c.secrets.cover(a.Body))
	a.ContentType = string(c.secrets.cover([]byte(a.ContentType)))
	return a
}

// covered is an answer without the credentials that we sent.
func (c *Client) covered(a Answer) Answer {
	a.Body = c.secrets.cover(a.Body)
	header := http.Header{}
	for name, values := range a.Header {
		for _, v := range values {
			header.Add(name, string(c.secrets.cover([]byte(v))))
		}
	}
	a.Header = header
	return a
}

// kept is what a Verdict keeps of an answer. Of a 2xx that is all, with its links
// and headers, which are read from there again when wire is corrected; so
// nothing is covered there that is part of an id or a link itself.
func (c *Client) kept(r Request, a Answer, v Verdict) []byte {
	if a.Status/100 == 2 {
		covered := c.covered(a)
		if v.ID == "" && v.URL == "" {
			return pack(covered)
		}
		if again := c.read(Verdict{}, r, covered); again.ID != v.ID || again.URL != v.URL {
			return pack(a)
		}
		return pack(covered)
	}
	body := c.forShow(a).Body
	if len(body) <= maxKept {
		return body
	}
	return slices.Clone(body[:maxKept])
}
