package ledger_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
)

func TestStoreOnPostgreSQL(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Shared(t)
	address := func(dir, place string) postgres.Address {
		h := fnv.New64a()
		fmt.Fprint(h, dir, "/", place)
		return must(postgres.Parse(server.URLOf(fmt.Sprintf("suite_%x", h.Sum64()))))(t)
	}
	store{
		Open: func(dir, place string) (*ledger.Ledger, error) {
			return postgres.Open(t.Context(), address(dir, place))
		},
		OpenReadOnly: func(dir, place string) (*ledger.Ledger, error) {
			return postgres.OpenReadOnly(t.Context(), address(dir, place))
		},
	}.test(t)
}
