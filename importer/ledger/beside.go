package ledger

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
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

// A clean close writes the size of the ledger's file and a CRC-32C of all its bytes
// into a file beside it. Open reads the ledger once and compares: a bit that has
// changed in an index would hide a step, and then the step would be sent again. Where
// the two differ, or the sum is missing because the file was restored or its process
// was killed while it closed, the ledger is checked as a whole. So an old or missing
// sum costs time, never safety.

func sumFile(path string) string { return path + ".sum" }

// sumLength is the most bytes that a sum has as text: a size and a CRC.
const sumLength = 32

// fileSum is the text of the sum of the file at path. It is an error when the file is
// one of an open ledger.
func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buffer := make([]byte, 1<<20)
	sum, size := uint32(0), int64(0)
	for {
		n, err := io.ReadFull(f, buffer)
		if size == 0 && (n < headerSize || buffer[journalAt] == journalLog) {
			return "", errors.New("the ledger is open")
		}
		sum, size = crc32.Update(sum, castagnoli, buffer[:n]), size+int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Sprintf("%d %08x\n", size, sum), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// writeSum writes the sum of a ledger that was just closed. It writes nothing when
// the ledger could not be made a plain file. An error is ignored: without a sum the
// ledger is checked as a whole when it is opened again.
func writeSum(path string) {
	text, err := fileSum(path)
	if err != nil {
		return
	}
	f, err := openBeside(sumFile(path), safefile.LockFlags)
	if err != nil {
		return
	}
	if _, err := f.WriteAt([]byte(text), 0); err == nil {
		_ = f.Truncate(int64(len(text)))
		_ = f.Sync()
	}
	_ = f.Close()
}

// sumFits reports whether the closed ledger at path is, byte for byte, as the last
// close has left it.
func sumFits(path string) bool {
	f, err := openBeside(sumFile(path), safefile.LockFlags&^os.O_CREATE)
	if err != nil {
		return false
	}
	defer f.Close()
	was, err := io.ReadAll(io.LimitReader(f, sumLength))
	if err != nil || len(was) == 0 {
		return false
	}
	is, err := fileSum(path)
	return err == nil && is == string(was)
}
