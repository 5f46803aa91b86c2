package ledger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
)

// TestTransferOfOlderLedger: a ledger of an earlier version is refused, because it has
// not all tables.
func TestTransferOfOlderLedger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	do(t, os.WriteFile(path, unzipped(t, "version-4.db.gz"), 0o600))
	old, err := ledger.OpenReadOnly(path)
	do(t, err)
	defer old.Close()
	if _, err := ledger.Transfer(t.Context(), old, fresh(t), nil); err == nil || !strings.Contains(err.Error(), "earlier version") {
		t.Errorf("got %v", err)
	}
}

// TestSave: a saved ledger is one file with its sums, and what is there is not replaced.
func TestSave(t *testing.T) {
	t.Parallel()
	from, to := fresh(t), filepath.Join(t.TempDir(), "saved.db")
	do(t, from.Append(story(jane("", "client"))...))
	done, err := ledger.Save(t.Context(), from, to, nil)
	do(t, err)
	same(t, "events", done.Events, int64(4))
	do(t, ledger.Check(to, nil))
	var names []string
	for name := range listing(t, filepath.Dir(to)) {
		names = append(names, name)
	}
	if len(names) != 2 {
		t.Errorf("the files are %v, want the ledger and its sums", names)
	}
	if _, err := ledger.Save(t.Context(), from, to, nil); err == nil {
		t.Error("a saved ledger was replaced")
	}
}
