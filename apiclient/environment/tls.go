package environment

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"claimsheet/mapping/problem"
)

// tlsFiles is the tls section: paths as written, "" for none.
type tlsFiles struct {
	cert, key, ca string
	where         problem.Where
}

// load reads the files that are named. It is nil when none is: the defaults
// of crypto/tls will do then.
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
	cert, err := readConfig(certPath, MaxSize)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readConfig(keyPath, MaxSize)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// loadAuthorities adds to the system's authorities instead of replacing them:
// the token endpoint is often a public one while the service's is not.
func loadAuthorities(path string) (*x509.CertPool, error) {
	data, err := readConfig(path, MaxSize)
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
