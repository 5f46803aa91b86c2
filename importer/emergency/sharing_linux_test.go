package emergency_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimsheet/importer/emergency"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
)

// TestReplayBesideOthers: an outcome waits in its file while another process works on the
// client, and is entered at once where nobody has touched the step since.
func TestReplayBesideOthers(t *testing.T) {
	testform.OnlyLong(t)
	address, err := postgres.Parse(pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	e := &scene{T: t, places: []string{t.TempDir()}}
	open := func() *ledger.Ledger {
		l, err := postgres.OpenShared(t.Context(), address, postgres.Sharing{Lease: time.Hour}) // none ends by itself during the test
		e.do(err)
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	ofClient := func(n int, to ledger.State) ledger.Event {
		id := ""
		if to == ledger.Done {
			id = fmt.Sprint("c-", n)
		}
		event := e.event("claim/loan/1", to, id)
		event.Client = fmt.Sprintf("jane-%d@example.com", n)
		return event
	}
	// lease waits until the client is free: the server ends a connection, and a ledger gives a
	// lease back, a moment after Close and Release return.
	lease := func(l *ledger.Ledger, n int) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			taken, err := l.Lease(time.Now(), []ledger.LeaseGroup{{{ClientKey: ofClient(n, "").ClientKey}}})
			e.do(err)
			if taken[0] {
				return
			}
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("client %d is not free", n)
			}
		}
	}
	ended, other, next := open(), open(), open()
	e.l = next
	e.do(ended.StartRun(ledger.Run{ID: stoppedRun, Started: noon}))
	for n := range 2 {
		lease(ended, n)
		e.do(ended.Append(ofClient(n, ledger.Intent)))
	}
	for n := range 2 {
		e.keep(ofClient(n, ledger.Done))
		if n == 0 {
			e.do(os.Rename(e.file(), e.file()+".first"))
		}
	}
	states := func(want string) {
		t.Helper()
		got := ""
		for n := range 2 {
			steps, err := next.Steps(t.Context(), ofClient(n, "").ClientKey, "loans")
			e.do(err)
			s := steps["claim/loan/1"]
			got += strings.TrimSpace(fmt.Sprint(s.To, " ", s.ID)) + ", "
		}
		if got != want+", " {
			t.Errorf("the steps are %s want %s", got, want)
		}
	}
	e.replay(1) // though the session of the run that has ended seems to go on
	states("intent, done c-1")
	e.do(ended.Close())
	lease(other, 0)
	e.do(os.Rename(e.file()+".first", e.file()))
	for range 2 {
		e.replay(0)
		states("uncertain, done c-1")
		if _, err := os.Stat(e.file()); err != nil {
			t.Fatal("the file does not wait:", err)
		}
	}
	e.do(other.Release(ledger.LeaseGroup{{ClientKey: ofClient(0, "").ClientKey}}))
	e.do(other.Flush())
	e.replay(1)
	states("done c-0, done c-1")
	if files, _ := filepath.Glob(filepath.Join(e.places[0], "emergency-*.jsonl")); len(files) > 0 {
		t.Errorf("files %v are left", files)
	}
	lease(other, 1) // Replay has given back what it leased
}

var _ emergency.Ledger = (*ledger.Ledger)(nil)
