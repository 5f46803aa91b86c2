package ledger_test

import (
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/ledgertest"
)

// TestStore holds the ledger to what every store of steps promises.
func TestStore(t *testing.T) {
	t.Parallel()
	path := func(dir, place string) string { return filepath.Join(dir, place, "ledger.db") }
	ledgertest.Run(t, ledgertest.Opener{
		Open:         func(dir, place string) (*ledger.Ledger, error) { return ledger.Open(path(dir, place)) },
		OpenReadOnly: func(dir, place string) (*ledger.Ledger, error) { return ledger.OpenReadOnly(path(dir, place)) },
		Lock:         func(dir, place string) (func(), error) { return ledger.Lock(path(dir, place)) },
	})
}
