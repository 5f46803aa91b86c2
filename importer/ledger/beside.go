package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"claimsheet/importer/ledger/pages"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// A file beside the ledger has the number of its newest event. A ledger that has
// fewer events has lost some, or is an older copy.

// countWidth is the length of the file, digits and a line feed: it is always
// written by one small write at its beginning.
const countWidth = 20

func countFile(path string) string { return path + ".count" }

// readCount returns the number of the newest event committed to the ledger at path,
// from the file beside it; 0 when that cannot be read.
func readCount(path string) int64 {
	f, err := openBeside(countFile(path), safefile.LockFlags&^os.O_CREATE)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, countWidth+1))
	if err != nil || len(text) != countWidth {
		return 0 // a power loss may have cut it
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// eventCount keeps the number of the newest event in a file beside the ledger. It
// is written after the commit has reached the disk, and not synced: a kill does not
// change it, and after a power loss it may be older than the ledger, never newer.
// An error to write it is ignored: the ledger is safe without it.
type eventCount struct {
	path string
	file *os.File
	last int64
}

func (c *eventCount) put(event int64) {
	if event <= c.last || c.path == "" {
		return // nothing new, or a ledger that is behind and was not accepted
	}
	c.last = event
	if c.file == nil {
		f, err := openBeside(countFile(c.path), safefile.LockFlags)
		if err != nil {
			return
		}
		c.file = f
	}
	_, _ = c.file.WriteAt(fmt.Appendf(nil, "%*d\n", countWidth-1, event), 0)
}

func (c *eventCount) close() {
	if c.file != nil {
		_ = c.file.Sync()
		_ = c.file.Close()
	}
}

// Behind returns how many events the ledger has, and how many were committed to it
// according to the file beside it. It has fewer when its log was lost, or when the
// file was replaced by an older ledger.
func (l *Ledger) Behind(ctx context.Context) (have, committed int64, err error) {
	have, err = l.LastEvent(ctx)
	return have, l.counted, err
}

// AcceptOlder lets a ledger that is behind count from its own newest event.
func (l *Ledger) AcceptOlder() error {
	return l.submit(true, func(*transaction) error {
		l.write.count.last = 0
		return nil
	})
}

// openBeside opens a plain file that lies beside the ledger.
func openBeside(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is not a plain file", path), err, f.Close())
	}
	return f, nil
}

// Missing reports whether a ledger was at path and is not there any more: files that
// lie beside a ledger are left. It looks for those first, because a command that makes
// the first ledger at this moment makes them later.
func Missing(path string) bool {
	left := false
	for _, beside := range []string{countFile(path), sumFile(path), path + "-wal"} {
		info, err := os.Lstat(beside)
		left = left || err == nil && info.Size() > 0
	}
	_, err := os.Lstat(path)
	return left && errors.Is(err, fs.ErrNotExist)
}

// A clean close writes the sums of the pages of the ledger's file into a file beside it.
// Open compares the file's size, time and first page with them, and whoever reads the
// ledger then compares each page that it reads: a bit that has changed in an index would
// hide a step, and then the step would be sent again. Where the file is not the one of
// the sums, or they are missing because it was restored or its process was killed while
// it closed, the ledger is checked as a whole. So old or missing sums cost time. What
// another program has written while the ledger was open gets none, because nothing was
// compared then.

func sumFile(path string) string { return path + ".sum" }

// writeSums writes the sums of a ledger that was just closed. It writes nothing when the
// ledger could not be made a plain file. An error is ignored: without sums the ledger is
// checked as a whole when it is opened again.
func writeSums(path string, sums *pages.Sums) {
	ledger, err := os.Open(path)
	if err != nil {
		return
	}
	defer ledger.Close()
	info, err := ledger.Stat()
	header := make([]byte, headerSize)
	if _, err2 := ledger.ReadAt(header, 0); err != nil || err2 != nil || header[journalAt] == journalLog {
		return
	}
	f, err := openBeside(sumFile(path), safefile.LockFlags)
	if err != nil {
		return
	}
	text := sums.Encode(info)
	if _, err := f.WriteAt(text, 0); err == nil {
		_ = f.Truncate(int64(len(text)))
		_ = f.Sync()
	}
	_ = f.Close()
}

// fittingSums returns the sums of the closed ledger at path; nil when the file is not as
// the last close has left it.
func fittingSums(path string) *pages.Sums {
	f, err := openBeside(sumFile(path), safefile.LockFlags&^os.O_CREATE)
	if err != nil {
		return nil
	}
	defer f.Close()
	ledger, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer ledger.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	sums, _ := pages.Fitting(ledger, text)
	return sums
}

// holder is the process that holds a lock, for the message to others.
type holder struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// Lock locks the ledger at path for this process. When another process has it, Lock
// fails at once with ErrLocked and names that process and its start. The lock is the
// operating system's, on path with ".lock" added: it ends with the process, however
// that ends, and the file stays. The holder is in a file of its own, path with
// ".holder" added, because a locked file cannot be read on Windows.
func Lock(path string) (release func(), err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	for range foldersTried {
		release, err = lock(path)
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return release, err
}

// foldersTried is how often the folder is created again when another run, which
// gives up, removes it at the same time.
const foldersTried = 1000

// lock creates the folder of the ledger at path, and takes the lock in it.
func lock(path string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unusable(path, "Name a folder that this user may write to with --state.", err, "the ledger's folder cannot be made: %v", problem.Cause(err))
	}
	if err := inspectLock(path + ".lock"); err != nil {
		return nil, err
	}
	file := safefile.NewLock(path + ".lock")
	taken, err := file.TryLock()
	if err != nil {
		return nil, unusable(path, "Let this user write to the folder, and keep it on a local disk.", err, "the ledger cannot be locked: %v", problem.Cause(err))
	}
	if !taken {
		p := problem.At(problem.Where{File: path}, "ledger-locked", "another run holds the ledger%s", whoHolds(path))
		return nil, refusal{p.Hinted("Wait until it has finished. If it hangs, stop that process: the lock ends with it."), ErrLocked}
	}
	note := path + ".holder"
	if err := writeHolder(note); err != nil {
		return nil, errors.Join(unwritable(note, err, "the holder of the ledger cannot be noted: %v", problem.Cause(err)), file.Close())
	}
	return sync.OnceFunc(func() {
		_ = os.Remove(note) // before the lock is released: afterwards it may be another's
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

// writeHolder writes the note that this process holds the lock. An old note is
// removed and not overwritten, so that a planted link is not followed.
func writeHolder(note string) error {
	if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.Marshal(holder{PID: os.Getpid(), Started: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(note, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// whoHolds is the holder in words, with a space before; "" when there is no note
// yet.
func whoHolds(path string) string {
	text, err := os.ReadFile(path + ".holder")
	if err != nil {
		return ""
	}
	var h holder
	if json.Unmarshal(text, &h) != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d, since %s)", h.PID, h.Started.Local().Format(time.DateTime))
}
