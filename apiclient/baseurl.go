package apiclient

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NormaliseBaseURL checks a base url and returns it with scheme and host in lower
// case, without a default port and without a slash at the end. Requests go to
// the url in this form.
//
// The url must be absolute, https (or http to a loopback address), and without
// user information, query, fragment and dot segments. An error never repeats the
// url, which may hold a password.
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
	return u.Scheme + "://" + hostAndPort(u.Scheme, host, u.Port()) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// hostAndPort returns a host and a port as a url writes them, without the scheme's default port.
func hostAndPort(scheme, host, port string) string {
	switch {
	case port != "" && !(scheme == "https" && port == "443") && !(scheme == "http" && port == "80"):
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

func checkBase(u *url.URL, host string) error {
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the base url must begin with https://")
	case host == "":
		return errors.New("the base url has no host")
	case u.Scheme == "http" && !IsLoopback(host):
		return errors.New("the base url must be https; http is for a loopback address only")
	case u.User != nil:
		return errors.New("the base url must not hold a user name or password")
	case u.RawQuery != "" || u.ForceQuery:
		return errors.New("the base url must not have a query")
	case u.Fragment != "":
		return errors.New("the base url must not have a fragment")
	case err != nil || port == 0:
		return errors.New("the base url's port must be between 1 and 65535")
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

// IsLoopback reports whether traffic to a host stays on this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// below returns the url of a request below base. Whatever the segments hold, the
// result has base's path as its prefix and exactly one path segment for each of
// them.
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

// checkSegment says why s cannot be one segment of a path; nil for a valid one.
// Empty and dot segments are refused because servers on the way remove them,
// however they are spelled.
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

// escapeSegment escapes everything but letters, digits and - _ . ~. It is not
// url.PathEscape, which keeps a plus sign: some servers read that as a space, so
// a phone number would lose it.
func escapeSegment(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// ServiceKey returns the same text for the spellings of a normalised base url that mean the
// same service: localhost and ::1 are 127.0.0.1.
func ServiceKey(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() != "localhost" && u.Hostname() != "::1" {
		return base
	}
	return u.Scheme + "://" + hostAndPort(u.Scheme, "127.0.0.1", u.Port()) + u.EscapedPath()
}
