package environment

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// tlsFiles is the tls section: paths as written, "" for none.
type tlsFiles struct {
	cert, key, ca string
	where         problem.Where
}

var tlsKeys = []yamltree.Key[tlsFiles]{
	yamltree.To("cert", "the client certificate", yamltree.Text, func(t *tlsFiles) *string { return &t.cert }),
	yamltree.To("key", "the client certificate's private key, not encrypted", yamltree.Text, func(t *tlsFiles) *string { return &t.key }),
	yamltree.To("ca", "certificate authorities that are trusted beside the system's", yamltree.Text, func(t *tlsFiles) *string { return &t.ca }),
}

func checkTLS(r *yamltree.Reader, n *yamltree.Node, t *tlsFiles) {
	t.where = r.Where(n.At())
	if (n.Given("cert") == nil) != (n.Given("key") == nil) {
		r.Wrong(n, "missing-key", "a client certificate needs both “cert” and “key”")
	}
}

// load reads the files. The Config is nil when none is named: then the defaults
// of crypto/tls apply.
func (t tlsFiles) load(dir string) (*tls.Config, problem.List) {
	if t == (tlsFiles{where: t.where}) {
		return nil, nil
	}
	var problems problem.List
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.cert != "" {
		pair, err := t.loadPair(dir)
		if err != nil {
			problems = append(problems, problem.At(t.where, "tls", "the client certificate cannot be used: %s", err).
				Hinted("cert and key must be PEM files that belong together; the key must not be encrypted"))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if t.ca != "" {
		pool, err := loadAuthorities(beside(dir, t.ca))
		if err != nil {
			problems = append(problems, problem.At(t.where, "tls", "“ca” cannot be used: %s", err).
				Hinted("ca must be a PEM file with one or more certificates"))
		}
		config.RootCAs = pool
	}
	return config, problems
}

func (t tlsFiles) loadPair(dir string) (tls.Certificate, error) {
	certPath, keyPath := beside(dir, t.cert), beside(dir, t.key)
	cert, err := readConfig(certPath, maxSize)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readConfig(keyPath, maxSize)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// loadAuthorities adds to the system's authorities instead of replacing them: the
// token endpoint often has a public certificate while the service has a private
// one.
func loadAuthorities(path string) (*x509.CertPool, error) {
	data, err := readConfig(path, maxSize)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("there is no certificate in %s", path)
	}
	return pool, nil
}
