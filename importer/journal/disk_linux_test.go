package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
)

// The only disk is full: the ledger stops, the outcome goes to the reserved room,
// and Replay enters it when there is space again.
func TestKeepOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("no disk of our own: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	t.Setenv("TMPDIR", filepath.Join(disk, "tmp"))
	e := &scene{T: t}
	e.do(os.Mkdir(filepath.Join(disk, "tmp"), 0o700))
	l, err := ledger.Open(filepath.Join(disk, "ledger.db"))
	e.do(err)
	e.l = l
	e.path = journal.Path(l.Path())
	e.do(l.StartRun(ledger.Run{ID: stoppedRun, Started: noon}))
	kept, err := journal.Open(e.path, e.say)
	e.do(err)
	e.do(l.Append(e.event("client", ledger.Sent, "")))

	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	e.do(err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	e.do(f.Close())
	if _, err := journal.Open(e.path+"2", e.say); err == nil || !strings.Contains(err.Error(), "no room can be kept") {
		t.Errorf("a journal without room: %v", err)
	}
	if _, err := os.Lstat(e.path + "2"); err == nil {
		t.Error("a journal without room is there")
	}
	outcome := e.event("client", ledger.Done, "c-1")
	outcome.Answer = make([]byte, 100_000) // more than the ledger's log has room for
	if err := l.Append(outcome); !errors.Is(err, ledger.ErrStopped) {
		t.Fatalf("got %v, want ErrStopped", err)
	}
	outcome.Answer = []byte(`{"id":"c-1"}`)
	e.do(kept.Keep(outcome))
	if len(e.said) > 0 {
		t.Errorf("said %q, want it kept", e.said)
	}
	_ = kept.Close()
	_ = l.Close()

	e.do(os.Remove(filler))
	e.l, err = ledger.Open(l.Path())
	e.do(err)
	defer e.l.Close()
	e.replay(1)
	e.states(map[string]string{"client": "done c-1"})
}
