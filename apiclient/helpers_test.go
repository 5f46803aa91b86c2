package apiclient_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
)

// config returns a complete environment, for a test to change.
func config(v apiclient.Version) apiclient.Config {
	return apiclient.Config{
		BaseURL:  "http://localhost/api",
		Version:  v,
		CaseID:   "case-1",
		Wire:     apiclient.DefaultWire(),
		NotFound: apiclient.DefaultNotFound(),
	}
}

// equal expects that two values are equal.
func equal(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// noError ends a test that an error makes pointless.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func client(t testing.TB, cfg apiclient.Config) *apiclient.Client {
	t.Helper()
	c, err := apiclient.New(cfg)
	noError(t, err)
	return c
}

// with returns a v2 client of an environment with changes.
func with(t testing.TB, change ...func(*apiclient.Config)) *apiclient.Client {
	t.Helper()
	cfg := config(apiclient.V2)
	for _, f := range change {
		f(&cfg)
	}
	return client(t, cfg)
}

// against returns a v2 client of a handler in the same process.
func against(t testing.TB, h http.HandlerFunc, change ...func(*apiclient.Config)) *apiclient.Client {
	t.Helper()
	return with(t, append(change, func(cfg *apiclient.Config) { cfg.Transport = apiclient.InProcess(h) })...)
}

// answers always gives the same answer.
func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// at returns a v2 client of the service at a url.
func at(t testing.TB, baseURL string, change ...func(*apiclient.Config)) *apiclient.Client {
	t.Helper()
	return with(t, append([]func(*apiclient.Config){func(cfg *apiclient.Config) { cfg.BaseURL = baseURL }}, change...)...)
}

// bearing gives requests a token.
func bearing(token string) func(context.Context, *http.Request) error {
	return func(_ context.Context, req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func createContact(c *apiclient.Client) apiclient.Request {
	return c.Routes().CreateClient([]byte(`{"email":"jane.canary@example.com"}`), true)
}

// secured returns the TLS of a service on 127.0.0.1 and what a client needs to trust it; nil for
// plain connections.
func secured(t testing.TB, withTLS bool) (*tls.Config, func(*apiclient.Config)) {
	t.Helper()
	if !withTLS {
		return nil, func(*apiclient.Config) {}
	}
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, func(cfg *apiclient.Config) { cfg.TLS = &tls.Config{RootCAs: roots} }
}
