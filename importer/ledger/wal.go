package ledger

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"claimsheet/mapping/problem"
)

// What SQLite's file format says of a write-ahead log.
const (
	logMagic        = 0x377f0682 // its last bit says that the sums are taken over big-endian words
	logHeaderSize   = 32
	frameHeaderSize = 24
)

// inspectLog refuses a log that has lost commits which were on the disk. SQLite
// reads a log up to the first frame whose sum is wrong and takes the rest for
// what a power loss left unfinished. But a commit is synced before the next one
// begins: where a whole commit and the beginning of another one follow, the
// wrong frame was on the disk, and is damage. Damage to the last commit cannot
// be told from a power loss.
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
		return unusable(path, "See to the disk.", err, "the ledger's write-ahead log cannot be read: %v", problem.Cause(err))
	}
	if lost {
		return damaged(path, "the ledger's write-ahead log is damaged before its last commits")
	}
	return nil
}

// lostCommits reads a log to its end.
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

// logSum is the sum that SQLite keeps over a log, from its beginning on.
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
