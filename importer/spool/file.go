package spool

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// spoolFile is a private temporary file of entries, which are appended one after the other and read back by their place. One goroutine
// appends; after flush any number of goroutines may read. Before each entry is its length.
type spoolFile struct {
	file    *os.File
	named   bool   // the system could not remove the file's name while it is open
	pending []byte // appended and not written yet
	written int64
	err     error // of a write; the file is useless after it
}

const (
	bufferSize = 128 << 10 // how much is written at once, and read ahead in a pass
	lookSize   = 4 << 10   // how much is read ahead for a single entry
	lengthSize = 4         // bytes of an entry's length
)

// newSpoolFile creates a file in a folder, with the mode 0600. It removes the file's name at once, so that not even a kill leaves the file
// behind; where the system does not allow that (Windows), close removes it.
func newSpoolFile(folder string) (*spoolFile, error) {
	f, err := os.CreateTemp(folder, ".claimsheet-*") // 0600
	if err != nil {
		return nil, fmt.Errorf("the sheet's rows cannot be kept while they are worked on: %w", err)
	}
	return &spoolFile{file: f, named: os.Remove(f.Name()) != nil}, nil
}

// add appends an entry and returns its place.
func (s *spoolFile) add(entry []byte) (at int64, err error) {
	at = s.written + int64(len(s.pending))
	s.pending = binary.LittleEndian.AppendUint32(s.pending, uint32(len(entry)))
	s.pending = append(s.pending, entry...)
	if len(s.pending) >= bufferSize {
		err = s.flush()
	}
	return at, err
}

// flush makes every entry readable.
func (s *spoolFile) flush() error {
	if s.err == nil && len(s.pending) > 0 {
		if _, err := s.file.WriteAt(s.pending, s.written); err != nil {
			s.err = fmt.Errorf("the sheet's rows cannot be kept while they are worked on: %w", err)
		}
		s.written += int64(len(s.pending))
		s.pending = s.pending[:0]
	}
	return s.err
}

// reset removes every entry.
func (s *spoolFile) reset() { s.pending, s.written = s.pending[:0], 0 }

func (s *spoolFile) close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

// fileReader reads entries in order, or from a place on. It is for one goroutine.
type fileReader struct {
	section *io.SectionReader
	buf     *bufio.Reader
	at      int64 // the place of the next entry
	bytes   []byte
	entry   entry
}

// reader returns a reader of the entries flushed so far, which reads size bytes ahead.
func (s *spoolFile) reader(size int) *fileReader {
	section := io.NewSectionReader(s.file, 0, s.written)
	return &fileReader{section: section, buf: bufio.NewReaderSize(section, size)}
}

// next returns the entry behind the last one, valid until the next call, or io.EOF at the end.
func (r *fileReader) next() (*entry, error) {
	var length [lengthSize]byte
	if _, err := io.ReadFull(r.buf, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(length[:]))
	if cap(r.bytes) < n {
		r.bytes = make([]byte, n)
	}
	r.bytes = r.bytes[:n]
	if _, err := io.ReadFull(r.buf, r.bytes); err != nil {
		return nil, fmt.Errorf("a file for rows that were read is damaged: %w", err)
	}
	r.at += int64(lengthSize + n)
	r.entry = entry{bytes: r.bytes, all: string(r.bytes)}
	return &r.entry, nil
}

// seek makes next return the entry at a place.
func (r *fileReader) seek(at int64) error {
	if ahead := at - r.at; ahead >= 0 && ahead <= int64(r.buf.Buffered()) {
		r.at = at
		_, err := r.buf.Discard(int(ahead))
		return err
	}
	if _, err := r.section.Seek(at, io.SeekStart); err != nil {
		return err
	}
	r.at = at
	r.buf.Reset(r.section)
	return nil
}

// entry takes the numbers and texts of an entry off its front. The texts stay valid.
type entry struct {
	bytes  []byte // what is left
	all    string
	failed bool
}

func (e *entry) byte() byte {
	if len(e.bytes) == 0 {
		e.failed = true
		return 0
	}
	b := e.bytes[0]
	e.bytes = e.bytes[1:]
	return b
}

func (e *entry) number() int {
	n, size := binary.Uvarint(e.bytes)
	if size <= 0 || n > 1<<40 {
		e.failed = true
		return 0
	}
	e.bytes = e.bytes[size:]
	return int(n)
}

func (e *entry) text() string {
	n := e.number()
	if n > len(e.bytes) {
		e.failed = true
		return ""
	}
	at := len(e.all) - len(e.bytes)
	e.bytes = e.bytes[n:]
	return e.all[at : at+n]
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}
