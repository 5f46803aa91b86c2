package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

const service = "https://uat.example.com/api"

// named is the name of an activity in these tests: the data of its request.
func named(s ledger.Step) string { return string(s.Data) }

// TestTrackedOfOlderLedger: a ledger of version 4 gets the table, and is whole before.
func TestTrackedOfOlderLedger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	do(t, os.WriteFile(path, unzipped(t, "version-4.db.gz"), 0o600))
	do(t, ledger.Check(path, nil))
	old, err := ledger.OpenReadOnly(path)
	do(t, err)
	if n, unknown, err := old.CountTracked(t.Context(), service); n != 0 || unknown != 0 || err != nil {
		t.Errorf("%d, %d, %v in a ledger without events", n, unknown, err)
	}
	environments, err := old.Environments(t.Context())
	do(t, err)
	ids, err := old.IDs(t.Context(), environments[0], "client", 1)
	do(t, err)
	runs := collect(t, old.Runs(t.Context(), environments))
	do(t, old.Close())

	l := open(t, path)
	n, err := l.AddTracked(service, environments, []ledger.Tracked{{Key: "1", ClientID: ids[0], At: noon, Received: noon}}, named)
	do(t, err)
	same(t, "counts", n, ledger.TrackedCounts{Added: 1})
	events, err := l.TrackedOfRun(t.Context(), runs[0].ID)
	do(t, err)
	if len(events) != 1 || events[0].Client == 0 || events[0].Of.ID != ids[0] {
		t.Errorf("the run has %+v", events)
	}
	do(t, l.Close())
	do(t, ledger.Check(path, nil))
	again := open(t, path)
	if events, err := again.TrackedOfRun(t.Context(), runs[0].ID); len(events) != 1 || err != nil {
		t.Errorf("after it was opened again: %+v, %v", events, err)
	}
}

// TestDamagedVersion4Copy: a copy of a ledger of version 4 has sums. It is checked before
// it is upgraded, which writes to pages and gives them new sums.
func TestDamagedVersion4Copy(t *testing.T) {
	t.Parallel()
	old, path := filepath.Join(t.TempDir(), "ledger.db"), filepath.Join(t.TempDir(), "ledger.db")
	do(t, os.WriteFile(old, unzipped(t, "version-4.db.gz"), 0o600))
	_, err := ledger.Copy(t.Context(), old, path)
	do(t, err)
	sound, err := os.ReadFile(path)
	do(t, err)
	info, err := os.Stat(path)
	do(t, err)
	for at := 4096 + 611; at < len(sound); at += 4096 {
		spoilt := bytes.Clone(sound)
		spoilt[at] ^= 4
		dir := t.TempDir()
		copyLedger(t, filepath.Dir(path), dir, "ledger.db", "ledger.db.sum")
		do(t, os.Chtimes(filepath.Join(dir, "ledger.db"), time.Time{}, info.ModTime()))
		decayed(t, filepath.Join(dir, "ledger.db"), spoilt)
		l, err := ledger.Open(filepath.Join(dir, "ledger.db"))
		if err != nil {
			continue
		}
		do(t, l.Close())
		if err := ledger.Check(filepath.Join(dir, "ledger.db"), nil); err != nil {
			t.Errorf("a damaged copy was upgraded, changed at %d: %v", at, err)
		}
	}
}
