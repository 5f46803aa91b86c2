package ledger

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// The files beside the ledger: the number of its newest event, the sum of the closed
// file, and SQLite's write-ahead log.

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

// What SQLite's file format says about a write-ahead log.
const (
	logMagic        = 0x377f0682 // its last bit says that the sums are taken over big-endian words
	logHeaderSize   = 32
	frameHeaderSize = 24
)

// inspectLog refuses a log that has lost commits which were on the disk. SQLite
// reads a log up to the first frame with a wrong sum, and ignores the rest as what a
// power loss left unfinished. But a commit is synced before the next one begins:
// where a whole commit and the beginning of another one follow, the wrong frame was
// on the disk, and is damaged. Damage to the last commit looks like a power loss.
//
// Nobody may be writing the log meanwhile.
func inspectLog(path string) error {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unusable(path, "Make the files beside the ledger readable for this user.", err, "the ledger's write-ahead log cannot be opened: %v", problem.Cause(err))
	}
	defer f.Close()
	lost, err := lostCommits(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return unusable(path, "Check the disk.", err, "the ledger's write-ahead log cannot be read: %v", problem.Cause(err))
	}
	if lost {
		return damaged(path, "the ledger's write-ahead log is damaged before its last commits")
	}
	return nil
}

// lostCommits reads a log to its end and reports whether it has lost commits.
func lostCommits(r io.Reader) (lost bool, err error) {
	header := make([]byte, logHeaderSize)
	if whole, err := fill(r, header); !whole {
		return false, err // nothing was ever in it
	}
	order := binary.ByteOrder(binary.LittleEndian)
	magic := binary.BigEndian.Uint32(header)
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	var s logSum
	s.add(order, header[:24])
	size := binary.BigEndian.Uint32(header[8:])
	// The header is synced before the first frame is written.
	if magic&^1 != logMagic || !s.is(header[24:]) || size < 512 || size > 1<<16 {
		anything, err := fill(r, make([]byte, frameHeaderSize))
		return anything, err
	}
	sound, committed := true, false
	frame := make([]byte, frameHeaderSize+size)
	for {
		whole, err := fill(r, frame)
		if !whole {
			return false, err
		}
		if string(frame[8:16]) != string(header[16:24]) { // left over from an earlier log, or damaged
			sound = false
			continue
		}
		s.add(order, frame[:8])
		s.add(order, frame[frameHeaderSize:])
		sound = sound && s.is(frame[16:24])
		switch {
		case sound:
		case committed:
			return true, nil
		default:
			committed = binary.BigEndian.Uint32(frame[4:]) != 0
		}
	}
}

// fill reads as much as b holds; whole is false when there is less.
func fill(r io.Reader, b []byte) (whole bool, err error) {
	_, err = io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return err == nil, err
}

// logSum is the sum that SQLite keeps over a log from its beginning.
type logSum [2]uint32

func (s *logSum) add(order binary.ByteOrder, b []byte) {
	for i := 0; i < len(b); i += 8 {
		s[0] += order.Uint32(b[i:]) + s[1]
		s[1] += order.Uint32(b[i+4:]) + s[0]
	}
}

// is reports whether the sum is the one that is written in b.
func (s *logSum) is(b []byte) bool {
	return s[0] == binary.BigEndian.Uint32(b) && s[1] == binary.BigEndian.Uint32(b[4:])
}
