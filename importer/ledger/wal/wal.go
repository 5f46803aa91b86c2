// Package wal finds damage in a write-ahead log of SQLite that SQLite itself passes
// over in silence (https://www.sqlite.org/fileformat2.html#walformat).
package wal

import (
	"encoding/binary"
	"errors"
	"io"
)

// HeaderSize is the length of a log without a frame, in bytes.
const HeaderSize = 32

// What the file format says about a log.
const (
	magicNumber     = 0x377f0682 // its last bit says that the sums are taken over big-endian words
	frameHeaderSize = 24
)

// LostCommits reads a log to its end and reports whether it has lost commits that
// were on the disk. SQLite reads a log up to the first frame with a wrong sum, and
// ignores the rest as what a power loss left unfinished. But with synchronous=FULL a
// commit is synced before the next one begins: where a commit ends and another frame
// follows, the wrong frame was on the disk, and is damaged. Damage to the
// last commit looks like a power loss. Nobody may be writing the log meanwhile; an
// error is that of r.
func LostCommits(r io.Reader) (lost bool, err error) {
	header := make([]byte, HeaderSize)
	if whole, err := fill(r, header); !whole {
		return false, err // nothing was ever in it
	}
	order := binary.ByteOrder(binary.LittleEndian)
	magic := binary.BigEndian.Uint32(header)
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	var s runningSum
	s.add(order, header[:24])
	size := binary.BigEndian.Uint32(header[8:])
	// The header is synced before the first frame is written.
	if magic&^1 != magicNumber || !s.is(header[24:]) || size < 512 || size > 1<<16 {
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

// runningSum is the sum that SQLite keeps over a log from its beginning.
type runningSum [2]uint32

func (s *runningSum) add(order binary.ByteOrder, b []byte) {
	for i := 0; i < len(b); i += 8 {
		s[0] += order.Uint32(b[i:]) + s[1]
		s[1] += order.Uint32(b[i+4:]) + s[0]
	}
}

// is reports whether the sum is the one that is written in b.
func (s *runningSum) is(b []byte) bool {
	return s[0] == binary.BigEndian.Uint32(b) && s[1] == binary.BigEndian.Uint32(b[4:])
}
