package apiclient

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Service is a base url in the one spelling that stands for all that mean the
// same: the loopback address by number, IPv4 where IPv6 only wraps it, a host
// name in lower case without the dot at its end, a port without zeros before it
// and only where it is not the scheme's own, and a path in which nothing is
// escaped that need not be. Requests are sent to the base url as it was written.
// What is no url stays as it is.
func Service(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return base
	}
	scheme := strings.ToLower(u.Scheme)
	host, port := sameHost(u.Hostname()), u.Port()
	if n, err := strconv.Atoi(port); err == nil {
		port = strconv.Itoa(n)
	}
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		port = ""
	}
	switch {
	case port != "":
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host + strings.TrimRight(samePath(u.EscapedPath()), "/")
}

// sameHost is a host in the spelling that stands for all that mean the same.
func sameHost(host string) string {
	const here = "127.0.0.1"
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "localhost" || err == nil && ip == netip.IPv6Loopback():
		return here
	case err != nil:
		return host
	}
	return ip.Unmap().String()
}

// samePath is an escaped path with only those bytes escaped that need be (RFC
// 3986, section 6.2.2).
func samePath(escaped string) string {
	var b strings.Builder
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		if c == '%' && i+2 < len(escaped) {
			if n, err := strconv.ParseUint(escaped[i+1:i+3], 16, 8); err == nil {
				if isUnreserved(byte(n)) {
					b.WriteByte(byte(n))
				} else {
					b.WriteString(strings.ToUpper(escaped[i : i+3]))
				}
				i += 2
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
