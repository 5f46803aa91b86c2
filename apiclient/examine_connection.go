package apiclient

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"
)

// soon is how long before its end a certificate is worth a warning.
const soon = 14 * 24 * time.Hour

// host resolves the host's name.
func (e *examination) host(ctx context.Context) []Finding {
	host := e.client.base.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || e.client.dial == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if _, err := net.DefaultResolver.LookupHost(ctx, host); err != nil {
		return e.fail("host", "the name "+host+" cannot be resolved", "check the host in base_url, and this machine's name service (DNS) and network")
	}
	return []Finding{{"host", OK, host + " is known", ""}}
}

// connection opens one, as a request would, and looks at the certificate.
func (e *examination) connection(ctx context.Context) []Finding {
	if e.client.dial == nil {
		return []Finding{{"connection", OK, "the service is part of this program", ""}}
	}
	conn, err := e.client.dial(ctx)
	if err != nil {
		f := classify(err, true)
		if f.Hint == "" {
			f.Hint = "check host and port in base_url, and whether a firewall lets this machine through; proxies are not used"
		}
		return e.failure("connection", f)
	}
	defer conn.Close()
	secure, ok := conn.(*countedConn).Conn.(*tls.Conn)
	if !ok {
		return []Finding{{"connection", OK, "without TLS, which is for services on this machine only", ""}}
	}
	state := secure.ConnectionState()
	leaf := state.PeerCertificates[0]
	f := Finding{"connection", OK, tls.VersionName(state.Version) + ", certificate for " + namesOf(leaf) +
		" until " + leaf.NotAfter.UTC().Format(time.DateOnly), ""}
	if time.Until(leaf.NotAfter) < soon {
		f.Grade, f.Hint = Warn, "the certificate ends soon: ask the service's operator when it is renewed"
	}
	return []Finding{f}
}
