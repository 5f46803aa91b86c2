package postgres_test

import (
	"strings"
	"testing"

	"claimsheet/importer/ledger/postgres"
)

// TestUnprotected: doctor warns where the way to the server can be read or where another
// server could stand, and nowhere else.
func TestUnprotected(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:p@db.example.com/leads":                          "may be unencrypted", // sslmode=prefer
		"postgres://u:p@db.example.com/leads?sslmode=disable":          "may be unencrypted",
		"postgres://u:p@10.1.2.3/leads?sslmode=allow":                  "may be unencrypted",
		"postgres://u:p@a.example.com,b.example.com/leads":             "may be unencrypted",
		"postgres://u:p@db.example.com/leads?sslmode=require":          "not verified",
		"postgres://u:p@db.example.com/leads?sslmode=verify-full":      "",
		"postgres://u:p@localhost/leads":                               "",
		"postgres://u:p@127.0.0.1/leads":                               "",
		"postgres://u:p@[::1]/leads":                                   "",
		"postgres://u@/leads?host=/run/postgresql":                     "",
		"postgres://u:p@127.0.0.1,db.example.com/leads?sslmode=prefer": "may be unencrypted",
	} {
		a, err := postgres.Parse(url)
		if err != nil {
			t.Fatal(url, err)
		}
		if got := postgres.Unprotected(a); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
