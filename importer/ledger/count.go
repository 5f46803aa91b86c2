package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

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
	if event <= c.last {
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
