package apiclient_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"claimsheet/apiclient"
)

// forged makes a self-signed certificate for 127.0.0.1, changed as wanted, and
// the pool that trusts it.
func forged(t *testing.T, change func(*x509.Certificate)) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	change(template)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// overTLS is a server with a forged certificate, and what a client needs to
// trust it.
func overTLS(t *testing.T, h http.Handler, change func(*x509.Certificate), config func(*tls.Config)) (url string, trust func(*apiclient.Config)) {
	t.Helper()
	cert, pool := forged(t, change)
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet()
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	config(s.TLS)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, func(cfg *apiclient.Config) { cfg.TLS = &tls.Config{RootCAs: pool} }
}

// Changes of a certificate.
func soundCert(*x509.Certificate)    {}
func expired(c *x509.Certificate)    { c.NotAfter = time.Now().Add(-time.Minute) }
func endsSoon(c *x509.Certificate)   { c.NotAfter = time.Now().Add(48 * time.Hour) }
func ofTomorrow(c *x509.Certificate) { c.NotBefore = time.Now().Add(24 * time.Hour) }
func ofAnother(c *x509.Certificate) {
	c.IPAddresses, c.DNSNames = nil, []string{"other.example.com"}
}

// Changes of a server.
func asUsual(*tls.Config)     {}
func tls11(c *tls.Config)     { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }
func tls12(c *tls.Config)     { c.MaxVersion = tls.VersionTLS12 }
func wantsCert(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }
