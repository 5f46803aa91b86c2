//go:build linux

package postgres_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/ledgertest"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
)

// long asks for what takes long: .ci/run gives it.
var long = testform.Long

// onlyLong leaves a test out without -long.
func onlyLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("only with -long")
	}
}

// TestStore holds a ledger in PostgreSQL to what every store of steps promises.
func TestStore(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	address := func(dir, place string) postgres.Address {
		h := fnv.New64a()
		fmt.Fprint(h, dir, "/", place)
		a, err := postgres.Parse(server.URLOf(fmt.Sprintf("suite_%x", h.Sum64())))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ledgertest.Run(t, ledgertest.Opener{
		Open: func(dir, place string) (*ledger.Ledger, error) {
			return postgres.Open(t.Context(), address(dir, place))
		},
		OpenReadOnly: func(dir, place string) (*ledger.Ledger, error) {
			return postgres.OpenReadOnly(t.Context(), address(dir, place))
		},
		Lock: func(dir, place string) (func(), error) {
			l, err := postgres.Open(t.Context(), address(dir, place))
			if err != nil {
				return nil, err
			}
			return func() { _ = l.Close() }, nil
		},
	})
}
