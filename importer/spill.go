package importer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// spill is a private file for what a run needs again and must not hold in
// memory: entries, written one after the other and read back by their place.
// Nothing of it outlives the run. Entries are written by one goroutine; after
// flush they may be read by any number of them.
type spill struct {
	file    *os.File
	named   bool   // the system could not take the file's name away
	pending []byte // written when there is enough of it
	written int64
	err     error // of a write; the file is of no use after it
}

const (
	spillBuffer = 128 << 10 // is written at once, and read ahead
	spillLook   = 4 << 10   // is read ahead where single entries are sought
)

// newSpill makes a spill in a folder, 0600. The file has no name from the
// start, so that nothing is left behind even by a kill; where the system does
// not allow that (Windows), close removes it.
func newSpill(folder string) (*spill, error) {
	f, err := os.CreateTemp(folder, ".claimsheet-*") // 0600
	if err != nil {
		return nil, fmt.Errorf("the sheet's rows cannot be kept while they are worked on: %w", err)
	}
	return &spill{file: f, named: os.Remove(f.Name()) != nil}, nil
}

// add appends an entry and returns its place.
func (s *spill) add(entry []byte) (at int64, err error) {
	at = s.written + int64(len(s.pending))
	s.pending = binary.AppendUvarint(s.pending, uint64(len(entry)))
	s.pending = append(s.pending, entry...)
	if len(s.pending) >= spillBuffer {
		err = s.flush()
	}
	return at, err
}

// flush makes every entry readable.
func (s *spill) flush() error {
	if s.err == nil && len(s.pending) > 0 {
		if _, err := s.file.WriteAt(s.pending, s.written); err != nil {
			s.err = fmt.Errorf("the sheet's rows cannot be kept while they are worked on: %w", err)
		}
		s.written += int64(len(s.pending))
		s.pending = s.pending[:0]
	}
	return s.err
}

// reset forgets every entry.
func (s *spill) reset() { s.pending, s.written = s.pending[:0], 0 }

// spillReader reads entries in order, or from a place on. It is for one
// goroutine.
type spillReader struct {
	spill *spill
	from  *io.SectionReader
	buf   *bufio.Reader
	at    int64 // of the next entry
	entry []byte
}

func (s *spill) reader(size int) *spillReader {
	from := io.NewSectionReader(s.file, 0, s.written)
	return &spillReader{spill: s, from: from, buf: bufio.NewReaderSize(from, size)}
}

// next is the entry at the place where the last one ended, valid until the
// one after it; io.EOF behind the last.
func (r *spillReader) next() ([]byte, error) {
	n, err := binary.ReadUvarint(r.buf)
	if err != nil {
		return nil, err
	}
	if uint64(cap(r.entry)) < n {
		r.entry = make([]byte, n)
	}
	r.entry = r.entry[:n]
	if _, err := io.ReadFull(r.buf, r.entry); err != nil {
		return nil, fmt.Errorf("a file for rows that were read is damaged: %w", err)
	}
	r.at += int64(uvarintLength(n)) + int64(n)
	return r.entry, nil
}

// seek goes to a place.
func (r *spillReader) seek(at int64) error {
	if ahead := at - r.at; ahead == 0 {
		return nil
	} else if ahead > 0 && ahead <= int64(r.buf.Buffered()) {
		r.at = at
		_, err := r.buf.Discard(int(ahead))
		return err
	}
	if _, err := r.from.Seek(at, io.SeekStart); err != nil {
		return err
	}
	r.at = at
	r.buf.Reset(r.from)
	return nil
}

func uvarintLength(n uint64) int {
	length := 1
	for ; n >= 0x80; n >>= 7 {
		length++
	}
	return length
}

func (s *spill) close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
