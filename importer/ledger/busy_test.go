package ledger_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// TestLockedLedgerIsNotDamaged: a ledger that another program keeps locked cannot be
// read, and the message does not say that it is damaged.
func TestLockedLedgerIsNotDamaged(t *testing.T) {
	t.Parallel()
	path := closedLedger(t)
	db := must(sql.Open("sqlite", path))(t)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err := db.Exec("BEGIN EXCLUSIVE")
	do(t, err)
	_, err = ledger.OpenNamed(path)
	p, ok := errors.AsType[problem.Problem](err)
	if !ok || isDamaged(err) || p.Code != "ledger-file" || !strings.Contains(p.Message, "another program keeps it locked") {
		t.Errorf("got %v", err)
	}
}
