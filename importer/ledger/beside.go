package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"claimsheet/importer/ledger/pages"
	"claimsheet/importer/safefile"
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
