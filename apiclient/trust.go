package apiclient

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// certificateHint says what is wrong with the service's certificate and who
// can mend it.
func certificateHint(err error) string {
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate is for " + namesOf(host.Certificate) + ": check the host in base_url"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return validity(invalid.Cert) + "; if this machine's clock is right, the service's operator must renew it"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "no authority that this machine trusts vouches for it: if the service has an authority of its own, name its certificate as tls.ca"
	}
	return "ask the service's operator for a sound certificate"
}

func validity(cert *x509.Certificate) string {
	if cert == nil {
		return "the certificate is out of date"
	}
	if now := time.Now(); now.Before(cert.NotBefore) {
		return "the certificate is valid from " + cert.NotBefore.UTC().Format(time.RFC3339) + " only"
	}
	return "the certificate ended on " + cert.NotAfter.UTC().Format(time.RFC3339)
}

// namesOf are the hosts that a certificate is for, a few of them.
func namesOf(cert *x509.Certificate) string {
	const most = 3
	if cert == nil {
		return "another host"
	}
	names := append([]string{}, cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	for i := range names {
		names[i] = printable(names[i])
	}
	switch n := len(names); {
	case n == 0:
		return "no host at all"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}
