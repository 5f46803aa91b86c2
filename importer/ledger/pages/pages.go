// Package pages detects that the disk has changed a page of an SQLite file. It keeps a
// sum of every page, and compares it whenever SQLite reads that page: opening a file
// need not read all of it, and yet nothing that has changed is believed.
package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"time"
)

// Sums are the CRC-32C of every page of an SQLite file as it was last written. They are
// safe for concurrent use.
type Sums struct {
	mu       sync.RWMutex
	pageSize int
	pages    []uint32 // the sum of each page; 0 for one that is not known
	changes  uint32   // the change counter of the file as it was when it was opened
	stale    bool     // another process has written the file; nothing is compared any more
}

// Where the header of an SQLite file has what this package needs.
const (
	headerSize   = 100
	pageSizeAt   = 16 // 1 stands for 65,536
	journalAt    = 18 // 2 in a file with a write-ahead log
	journalLog   = 2
	changesAt    = 24 // grows with every transaction without a log, and when the log is given up
	smallestPage = 512
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf is the sum of a page, which is never 0.
func sumOf(page []byte) uint32 { return max(1, crc32.Checksum(page, castagnoli)) }

// errNoFile is the error of a file that does not begin like one of SQLite.
var errNoFile = errors.New("this is not an SQLite file")

// Of reads the file at path, which nobody may write meanwhile, and returns its sums.
func Of(path string) (*Sums, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	header := make([]byte, headerSize)
	if _, err := f.ReadAt(header, 0); err != nil || !bytes.HasPrefix(header, []byte("SQLite format 3\x00")) {
		return nil, errors.Join(errNoFile, err)
	}
	s := &Sums{pageSize: pageSizeOf(header), changes: binary.BigEndian.Uint32(header[changesAt:])}
	if s.pageSize < smallestPage {
		return nil, errNoFile
	}
	buffer := make([]byte, 16*s.pageSize)
	for {
		n, err := io.ReadFull(f, buffer)
		for page := buffer[:n]; len(page) >= s.pageSize; page = page[s.pageSize:] {
			s.pages = append(s.pages, sumOf(page[:s.pageSize]))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func pageSizeOf(header []byte) int {
	if size := int(binary.BigEndian.Uint16(header[pageSizeAt:])); size > 1 {
		return size
	}
	return 1 << 16
}

// magic begins the encoded sums.
const magic = "Claimsheet pages"

// Encode returns the sums of a closed file as Fitting takes them. info is of that file.
func (s *Sums) Encode(info os.FileInfo) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	text := make([]byte, 0, len(magic)+4*len(s.pages)+28)
	text = append(text, magic...)
	text = binary.LittleEndian.AppendUint32(text, uint32(s.pageSize))
	text = binary.LittleEndian.AppendUint64(text, uint64(info.Size()))
	text = binary.LittleEndian.AppendUint64(text, uint64(info.ModTime().UnixNano()))
	for _, sum := range s.pages {
		text = binary.LittleEndian.AppendUint32(text, sum)
	}
	return binary.LittleEndian.AppendUint32(text, crc32.Checksum(text, castagnoli))
}

// Fitting returns the sums that Encode has encoded, if they are those of the closed file
// f. It compares the file's size, its time and its first page, which changes whenever
// the file is written. The other pages are compared when they are read.
func Fitting(f *os.File, encoded []byte) (s *Sums, ok bool) {
	body := len(encoded) - 4
	if body < len(magic)+20 || string(encoded[:len(magic)]) != magic || binary.LittleEndian.Uint32(encoded[body:]) != crc32.Checksum(encoded[:body], castagnoli) {
		return nil, false
	}
	numbers := encoded[len(magic):body]
	s = &Sums{pageSize: int(binary.LittleEndian.Uint32(numbers))}
	size, modified := int64(binary.LittleEndian.Uint64(numbers[4:])), int64(binary.LittleEndian.Uint64(numbers[12:]))
	for sums := numbers[20:]; len(sums) >= 4; sums = sums[4:] {
		s.pages = append(s.pages, binary.LittleEndian.Uint32(sums))
	}
	info, err := f.Stat()
	if err != nil || s.pageSize < smallestPage || info.Size() != size || size != int64(s.pageSize)*int64(len(s.pages)) || !info.ModTime().Equal(time.Unix(0, modified)) {
		return nil, false
	}
	first := make([]byte, s.pageSize)
	if _, err := f.ReadAt(first, 0); err != nil || sumOf(first) != s.pages[0] || first[journalAt] == journalLog {
		return nil, false
	}
	s.changes = binary.BigEndian.Uint32(first[changesAt:])
	return s, true
}

// differ reports whether data, read at a place of the file, is not what was written
// there. Only whole pages can be compared.
func (s *Sums) differ(data []byte, at int64) bool {
	if len(data) != s.pageSize || at%int64(s.pageSize) != 0 {
		return false
	}
	page := at / int64(s.pageSize)
	s.mu.RLock()
	var want uint32
	if page < int64(len(s.pages)) && !s.stale {
		want = s.pages[page]
	}
	s.mu.RUnlock()
	return want != 0 && want != sumOf(data)
}

// written notes what was written at a place of the file.
func (s *Sums) written(data []byte, at int64) {
	size := int64(s.pageSize)
	s.mu.Lock()
	defer s.mu.Unlock()
	first, last := at/size, (at+int64(len(data))-1)/size
	s.reach(last + 1)
	for page := first; page <= last; page++ {
		s.pages[page] = 0
		if from := page*size - at; from >= 0 && from+size <= int64(len(data)) {
			s.pages[page] = sumOf(data[from : from+size])
		}
	}
}

// reach makes the sums at least n pages long.
func (s *Sums) reach(n int64) {
	if more := n - int64(len(s.pages)); more > 0 {
		s.pages = append(s.pages, make([]uint32, more)...)
	}
}

// truncated notes the new size of the file.
func (s *Sums) truncated(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := size / int64(s.pageSize)
	s.reach(n)
	s.pages = s.pages[:n]
}

// outdated reports whether the header of the file, read again, shows that another
// process has written the file since it was opened, and if so, nothing is compared any
// more.
func (s *Sums) outdated(header []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = s.stale || header[journalAt] == journalLog || binary.BigEndian.Uint32(header[changesAt:]) != s.changes
	return s.stale
}
