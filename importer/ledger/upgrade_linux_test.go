package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
)

// TestUpgradeKilled: an upgrade from version 4 that is killed after any of its writes
// leaves a ledger that opens, and has the table.
func TestUpgradeKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	before := unzipped(t, "version-4.db.gz")
	do(t, os.WriteFile(path, before, 0o600))
	r := record(dir)
	l, err := ledger.Open(path)
	do(t, err)
	n := r.far()
	do(t, l.Close())
	files := map[string][]byte{"ledger.db": before}
	for i, d := range r.deeds[:n] {
		switch d.kind {
		case deleted:
			delete(files, d.file)
		case synced:
		default:
			files[d.file] = d.onto(bytes.Clone(files[d.file]), nil)
		}
		for _, how := range []string{"read", "write"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "ledger.db")
			for name, data := range files {
				do(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
			}
			open := ledger.Open
			if how == "read" {
				open = ledger.OpenReadOnly
			}
			l, err := open(path)
			if err != nil {
				t.Errorf("after write %d (%s), to %s: %v", i+1, d.file, how, err)
				continue
			}
			if how == "write" {
				if _, err := l.AddTracked(service, nil, []ledger.Tracked{{Key: "1", At: noon, Received: noon}}, named); err != nil {
					t.Errorf("after write %d (%s): %v", i+1, d.file, err)
				}
			}
			_ = l.Close()
		}
	}
}
