package ledger

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"claimsheet/importer/safefile"
)

// countWidth is the length of the count's file, digits and a line's end: every
// writing of it is one small write in one place.
const countWidth = 20

func countFile(path string) string { return path + ".count" }

// readCount is the number of the newest event that was committed to the ledger at
// path, as the file beside it says; 0 where that says nothing.
func readCount(path string) int64 {
	f, err := os.OpenFile(countFile(path), safefile.LockFlags&^os.O_CREATE, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0
	}
	text, err := io.ReadAll(io.LimitReader(f, countWidth+1))
	if err != nil || len(text) != countWidth {
		return 0 // cut short: a power loss may leave it so
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// eventCount keeps the number of the newest event in a file beside the ledger. It is
// written after the commit that it counts has reached the disk, and not synced:
// a kill leaves it as it is, and after a power loss it may be older than the
// ledger, never newer. That it cannot be written stops nothing: it only guards
// what is safe without it.
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
		f, err := os.OpenFile(countFile(c.path), safefile.LockFlags, 0o600)
		if err != nil {
			return
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			_ = f.Close()
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

// Behind tells how many events the ledger has, and how many had been committed
// to it when it was last written, as the file beside it says. Fewer than were
// committed are there where its log was cut, or an older ledger was put in its
// place.
func (l *Ledger) Behind(ctx context.Context) (have, committed int64, err error) {
	have, err = l.LastEvent(ctx)
	return have, l.counted, err
}

// AcceptOlder lets a ledger that is behind be counted from where it is.
func (l *Ledger) AcceptOlder() error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.write.submit(true, func(*transaction) error {
		l.write.count.last = 0
		return nil
	})
}
