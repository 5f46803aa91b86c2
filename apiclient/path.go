package apiclient

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NormaliseBaseURL checks a base url and writes it in its one canonical
// spelling: scheme and host in lower case, no default port, no trailing slash.
// Two spellings of the same place give the same text, which is what the ledger
// knows an environment by.
//
// It must be absolute, https (or http to a loopback address), and without user
// information, query, fragment and dot segments. Errors never repeat the url,
// which may hold a password.
func NormaliseBaseURL(raw string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return "", errors.New("the base url cannot be read as a url")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	host := strings.ToLower(u.Hostname())
	if err := checkBase(u, host); err != nil {
		return "", err
	}
	port := u.Port()
	if u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		port = ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return u.Scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/"), nil
}

func checkBase(u *url.URL, host string) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the base url must begin with https://")
	case host == "":
		return errors.New("the base url has no host")
	case u.Scheme == "http" && !loopback(host):
		return errors.New("the base url must be https; http is for a loopback address only")
	case u.User != nil:
		return errors.New("the base url must not hold a user name or password")
	case u.RawQuery != "" || u.ForceQuery:
		return errors.New("the base url must not have a query")
	case u.Fragment != "":
		return errors.New("the base url must not have a fragment")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return errors.New("the base url's port must be between 1 and 65535")
		}
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		for _, s := range strings.Split(path, "/") {
			if err := checkSegment(s); err != nil {
				return errors.New("the base url's path has a part that " + err.Error())
			}
		}
	}
	return nil
}

// loopback tells whether traffic to host stays on this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// below is the url of a request below base. However hostile the segments,
// the result has base's path as its prefix and exactly one path segment for
// each of them.
func (r Request) below(base *url.URL) (*url.URL, error) {
	u := *base
	plain, escaped := base.Path, base.EscapedPath()
	for _, s := range r.Path {
		if err := checkSegment(s); err != nil {
			return nil, err
		}
		plain += "/" + s
		escaped += "/" + escapeSegment(s)
	}
	u.Path, u.RawPath = plain, escaped
	u.RawQuery = r.Query.Encode()
	return &u, nil
}

// checkSegment says why s cannot be one segment of a path: no spelling of an
// empty or a dot segment survives every server on the way.
func checkSegment(s string) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case s == "." || s == "..":
		return errors.New("is a dot segment")
	case !utf8.ValidString(s):
		return errors.New("is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("holds a control character")
	}
	return nil
}

// escapeSegment escapes all but letters, digits and - _ . ~. url.PathEscape
// leaves a plus sign as it is, which some servers read as a space: a phone
// number would lose it.
func escapeSegment(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
