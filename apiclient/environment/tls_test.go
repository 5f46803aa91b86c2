package environment_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

// authority is a certificate authority of our own.
type authority struct{ tls.Certificate }

func newAuthority(t *testing.T) authority {
	t.Helper()
	return authority{apitest.Certificate(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)}
}

func (a authority) pem() string { return encode("CERTIFICATE", a.Leaf.Raw) }

// issue makes a certificate for 127.0.0.1 and its key, as PEM.
func (a authority) issue(t *testing.T) (cert, key string) {
	t.Helper()
	issued := apitest.Certificate(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, &a.Certificate)
	pkcs8 := must(x509.MarshalPKCS8PrivateKey(issued.PrivateKey))(t)
	return encode("CERTIFICATE", issued.Leaf.Raw), encode("PRIVATE KEY", pkcs8)
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// serve starts a server with a certificate of the authority. With clients, the
// server requires a client certificate of the authority.
func (a authority) serve(t *testing.T, h http.Handler, clients bool) *httptest.Server {
	t.Helper()
	cert, key := a.issue(t)
	pair := must(tls.X509KeyPair([]byte(cert), []byte(key)))(t)
	pool := x509.NewCertPool()
	pool.AddCert(a.Leaf)
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool}
	if clients {
		s.TLS.ClientAuth = tls.RequireAndVerifyClientCert
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestConfigReportsTLSFilesThatCannotBeUsed(t *testing.T) {
	a := newAuthority(t)
	dir := t.TempDir()
	cert, key := a.issue(t)
	_, other := a.issue(t)
	write(t, dir, "client.pem", cert)
	write(t, dir, "client.key", key)
	write(t, dir, "other.key", other)
	write(t, dir, "text.pem", canary)
	c := must(only(t, dir, "    tls: {cert: client.pem, key: client.key}\n").Config(t.Context(), apiclient.V2))(t)
	if c.TLS.InsecureSkipVerify || c.TLS.MinVersion < tls.VersionTLS12 {
		t.Errorf("weak TLS: %+v", c.TLS)
	}
	for keys, want := range map[string]string{
		"cert: client.pem, key: other.key":  "does not match",
		"cert: client.pem, key: text.pem":   "PEM",
		"cert: client.pem, key: absent.key": filepath.Join(dir, "absent.key") + ": there is no such file",
		"cert: absent.pem, key: client.key": filepath.Join(dir, "absent.pem") + ": there is no such file",
		"ca: text.pem":                      "there is no certificate in",
		"ca: absent.pem":                    "there is no such file",
	} {
		wantProblem(t, dir, "    tls: {"+keys+"}\n", want)
	}
}
