package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// A lock file has the process that holds it, or was killed with it, from holderAt on, and the mark that the
// ledger was opened at openedAt. On Windows the first byte is locked, and nobody else can read it.
const (
	holderAt = 1
	openedAt = 64
)

// WasOpened reports whether a ledger that is locked at path was ever opened for writing: its
// lock file has the mark of NoteOpened. It says nothing of whether the ledger is there now.
func WasOpened(path string) bool {
	info, err := os.Lstat(path + ".lock")
	return err == nil && info.Size() > openedAt
}

// NoteOpened marks the lock file of a ledger that is there. The caller holds the lock. It is
// called after the ledger was made, so that a process which is killed before leaves no mark.
func NoteOpened(path string) error {
	if WasOpened(path) {
		return nil
	}
	return note(path, openedAt, "\n")
}

// note writes a text into the lock file of a ledger, durably. The caller holds the lock.
func note(path string, at int64, text string) error {
	f, err := os.OpenFile(path+".lock", safefile.LockFlags&^os.O_CREATE, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(text), at)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return unwritable(path+".lock", err, "the ledger's lock file cannot be written: %v", problem.Cause(err))
	}
	return nil
}

// Lock locks the ledger at path for this process. When another process has it, Lock
// fails at once with a problem of the class Locked, and names that process and its start. The lock is the
// operating system's, on path with ".lock" added: it ends with the process, however
// that ends, and the file stays.
func Lock(path string) (release func(), err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unusable(path, "Name a folder that this user may write to with --state.", err, "the ledger's folder cannot be made: %v",
			problem.Cause(err))
	}
	if err := inspectLock(path + ".lock"); err != nil {
		return nil, err
	}
	file := safefile.NewLock(path + ".lock")
	taken, err := file.TryLock()
	if err != nil {
		return nil, unusable(path, "Let this user write to the folder, and keep it on a local disk.", err, "the ledger cannot be locked: %v",
			problem.Cause(err))
	}
	if !taken {
		p := problem.At(problem.Where{File: path}, "ledger-locked", "another run holds the ledger%s", whoHolds(path))
		return nil, p.Of(problem.Locked).Hinted("Wait until it has finished. If it hangs, stop that process: the lock ends with it.")
	}
	if err := note(path, holderAt, fmt.Sprintf("%-*s", openedAt-holderAt, fmt.Sprint(os.Getpid(), " ", time.Now().Unix()))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return sync.OnceFunc(func() {
		_ = note(path, holderAt, strings.Repeat(" ", openedAt-holderAt))
		_ = file.Close()
	}), nil
}

// inspectLock refuses a lock file that others could have planted: a link would be
// followed, a pipe would block, and another user's file could stay locked for ever.
func inspectLock(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return unusable(path, "Find out who made it, and move it away while no run is active.", nil,
			"a plain file is expected as the ledger's lock, but this is %s", safefile.Kind(info))
	}
	return safefile.Owner(path)
}

// whoHolds is the holder in words, with a space before; "" when it is not noted yet.
func whoHolds(path string) string {
	f, err := os.OpenFile(path+".lock", safefile.LockFlags&^os.O_CREATE, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	var process, since int64
	if _, err := fmt.Fscan(io.NewSectionReader(f, holderAt, openedAt-holderAt), &process, &since); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d, since %s)", process, time.Unix(since, 0).Format(time.DateTime))
}
