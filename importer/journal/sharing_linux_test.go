package journal_test

import (
	"path/filepath"
	"testing"
	"time"

	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
)

// TestReplayBesideOthers: an outcome waits while another process works on the
// client.
func TestReplayBesideOthers(t *testing.T) {
	testform.OnlyLong(t)
	address, err := postgres.Parse(pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, path: journal.Path(filepath.Join(t.TempDir(), "ledger"))}
	open := func() *ledger.Ledger {
		l, err := postgres.OpenShared(t.Context(), address, 0)
		s.do(err)
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	other := open()
	s.l = open()
	s.do(other.StartRun(ledger.Run{ID: stoppedRun, Started: noon}))
	intent := s.event("claim/loan/1", ledger.Sent, "")
	unlock, err := other.Lock(t.Context(), intent.LockName())
	s.do(err)
	s.do(other.Append(intent))
	s.keep(s.event("claim/loan/1", ledger.Done, "c-1"))
	time.AfterFunc(200*time.Millisecond, unlock)
	s.replay(1)
	s.states(map[string]string{"claim/loan/1": "done c-1"})
	if s.isThere() {
		t.Error("the journal is left")
	}
	unlock, err = other.Lock(t.Context(), intent.LockName()) // Replay has given back what it locked
	s.do(err)
	unlock()
}

var _ journal.Ledger = (*ledger.Ledger)(nil)
