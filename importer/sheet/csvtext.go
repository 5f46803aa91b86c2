package sheet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// errLongRecord reports a row beyond cell.MaxRowBytes: otherwise a quote that is never
// closed would read the rest of the file into memory. csvFile.broken adds where it began.
var errLongRecord = errors.New("a row of more than 16 MiB")

// detectEncoding finds how the file is encoded: a byte order mark decides, else the
// declared encoding.
func (f *csvFile) detectEncoding(declared string) error {
	head := make([]byte, 3)
	n, err := f.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		f.mark = 3
	case bytes.HasPrefix(head, []byte("\xFF\xFE")):
		f.mark, f.encoding = 2, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case bytes.HasPrefix(head, []byte("\xFE\xFF")):
		f.mark, f.encoding = 2, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case declared == "windows-1252" && f.isUTF8():
		return problem.New("is-utf-8",
			"the mapping declares the encoding windows-1252, and the file is UTF-8: its letters beyond English ones would be read as two or more others").
			Hinted("take encoding out of the mapping's sheet section; UTF-8 needs none")
	case declared == "windows-1252": // what Excel's plain “CSV” is in Western Europe
		f.encoding = charmap.Windows1252
	}
	return nil
}

// isUTF8 reports whether the file is UTF-8 and has letters beyond ASCII.
func (f *csvFile) isUTF8() bool {
	isASCII := true
	for src := bufio.NewReader(io.NewSectionReader(f.file, 0, f.size)); ; {
		r, size, err := src.ReadRune()
		if err != nil || r == utf8.RuneError && size == 1 {
			return err == io.EOF && !isASCII
		}
		isASCII = isASCII && size == 1
	}
}

// csvText reads a CSV file as UTF-8, without its byte order mark and with every line end
// (CR LF, CR alone) as a line feed. In a file of another encoding U+FFFD stands for what
// is not a character in it.
type csvText struct {
	src   io.Reader
	cr    bool // the last character was a carriage return
	given int  // bytes returned since it was last set to 0
}

// text opens the file's text from its beginning.
func (f *csvFile) text() *csvText {
	var src io.Reader = bufio.NewReaderSize(io.NewSectionReader(f.file, f.mark, f.size-f.mark), 32<<10)
	if f.encoding != nil {
		src = f.encoding.NewDecoder().Reader(src)
	}
	return &csvText{src: src}
}

// Read returns the text to encoding/csv.
func (t *csvText) Read(b []byte) (n int, err error) {
	if t.given > cell.MaxRowBytes {
		return 0, errLongRecord
	}
	n, err = t.src.Read(b)
	n = t.lines(b[:n])
	t.given += n
	return n, err
}

// lines replaces every line end by a line feed, in place, and returns how much is left.
func (t *csvText) lines(b []byte) int {
	if !t.cr && bytes.IndexByte(b, '\r') < 0 {
		return len(b)
	}
	kept := b[:0]
	for _, c := range b {
		after := t.cr
		if t.cr = c == '\r'; t.cr {
			c = '\n'
		} else if after && c == '\n' {
			continue
		}
		kept = append(kept, c)
	}
	return len(kept)
}

// notText returns what is not text in a field and what to do about it; "" for text.
func (f *csvFile) notText(field string) (wrong, hint string) {
	switch {
	case strings.IndexByte(field, 0) >= 0:
		return "holds a NUL character; expected text", "save it as UTF-8; a file in UTF-16 needs its byte order mark"
	case f.encoding == nil && !utf8.ValidString(field):
		return "is not UTF-8; expected a file in UTF-8, in UTF-16 with a byte order mark, or in the encoding that the mapping declares",
			"save it as UTF-8, or, if Excel saved it as plain CSV, declare that in the mapping: sheet: {encoding: windows-1252}"
	case f.encoding != nil && strings.ContainsRune(field, utf8.RuneError), f.encoding == charmap.Windows1252 && hasDOSLetters(field):
		return "is not in the encoding of the file; it may be in code page 850, which “CSV (MS-DOS)” is", "save it as “CSV UTF-8”"
	}
	return "", ""
}

// hasDOSLetters reports whether marks that do not follow a letter in Windows-1252 follow
// one: they are letters in code page 850, where é is 0x82.
func hasDOSLetters(field string) bool {
	last := rune(0)
	for _, r := range field {
		isLetter := last|0x20 >= 'a' && last|0x20 <= 'z'
		if last = r; isLetter && r >= utf8.RuneSelf && strings.ContainsRune("‚ƒ„†‡ˆ‰‹", r) {
			return true
		}
	}
	return false
}
