package ledger_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// reader is another program that reads a closed ledger until it is stopped.
func reader(t *testing.T, path string) (stop func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	do(t, err)
	tx, err := db.Begin()
	do(t, err)
	var n int
	do(t, tx.QueryRow(`SELECT count(*) FROM steps`).Scan(&n))
	return func() {
		do(t, tx.Rollback())
		do(t, db.Close())
	}
}

// TestOpenGivesUpOnReaders: the message says what to wait for.
func TestOpenGivesUpOnReaders(t *testing.T) {
	t.Parallel()
	path := closedLedger(t)
	stop := reader(t, path)
	err := ledger.UseLog(path)
	p, ok := errors.AsType[problem.Problem](err)
	if !ok || !strings.Contains(p.Error(), "another program has it open") || !strings.Contains(p.Hint, "copy-ledger") {
		t.Errorf("got %v", err)
	}
	stop()
	do(t, ledger.UseLog(path))
}

// TestLockedLedgerIsNotDamaged: a ledger that another program keeps locked cannot be
// read, and the message does not say that it is damaged.
func TestLockedLedgerIsNotDamaged(t *testing.T) {
	t.Parallel()
	path := closedLedger(t)
	db, err := sql.Open("sqlite", path)
	do(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN EXCLUSIVE")
	do(t, err)
	_, err = ledger.OpenNamed(path)
	p, ok := errors.AsType[problem.Problem](err)
	if !ok || isDamaged(err) || p.Code != "ledger-file" || !strings.Contains(p.Message, "another program keeps it locked") {
		t.Errorf("got %v", err)
	}
}
