package csv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// The encodings. Windows-1252 is what Excel's plain “CSV” is in Western Europe.
const (
	inUTF8        = "UTF-8"
	inUTF16       = "UTF-16"
	inWindows1252 = "Windows-1252"
)

// errLongRecord reports a row beyond cell.MaxRowBytes: otherwise a quote that is never
// closed would read the rest of the file into memory. File.broken adds where it began.
var errLongRecord = errors.New("a row of more than 16 MiB")

// text reads a CSV file as UTF-8, without its byte order mark and with every line
// end (CR LF, CR alone) as a line feed. Bytes that are not text, and NUL, are a
// problem with its line and column.
type text struct {
	src      io.Reader // in UTF-8, with U+FFFD for what is no text in another encoding
	encoding string
	path     string

	buf    []byte
	out    []byte // to be returned next
	rest   []byte // behind it, the beginning of a character
	line   int    // of the character behind out
	column int    // in characters
	cr     bool   // the last character was a carriage return
	last   byte   // of out; 0 at the beginning
	err    error  // what ends the text; it stays

	given int // bytes returned since it was last set to 0
}

// text opens the file's text from its beginning.
func (f *File) text() *text {
	const chunk = 32 << 10
	src := bufio.NewReaderSize(io.NewSectionReader(f.file, 0, f.size), chunk)
	t := &text{src: src, encoding: f.encoding, path: f.sheet.File, buf: make([]byte, chunk), line: 1, column: 1}
	switch mark := skipMark(src); {
	case mark == "\xEF\xBB\xBF":
		t.encoding = inUTF8
	case mark == "\xFF\xFE":
		t.encoding, t.src = inUTF16, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(src)
	case mark == "\xFE\xFF":
		t.encoding, t.src = inUTF16, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(src)
	case f.encoding == inWindows1252:
		t.src = charmap.Windows1252.NewDecoder().Reader(src)
	}
	return t
}

// skipMark reads the byte order mark at the beginning of a file; it returns "" without one.
func skipMark(src *bufio.Reader) string {
	head, _ := src.Peek(3) // a shorter file returns what it has
	for _, mark := range []string{"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			_, _ = src.Discard(len(mark)) // it was peeked at
			return mark
		}
	}
	return ""
}

// Read returns the text to encoding/csv.
func (t *text) Read(b []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	if t.given > cell.MaxRowBytes {
		t.err, t.out = errLongRecord, nil
		return 0, t.err
	}
	n := copy(b, t.out)
	t.out = t.out[n:]
	t.given += n
	return n, nil
}

// fill reads the next piece into out, and sets err to what ends the text behind it.
func (t *text) fill() {
	kept := copy(t.buf, t.rest)
	n, err := t.src.Read(t.buf[kept:])
	read := t.buf[:kept+n]
	good := wholeText(read, t.encoding)
	t.rest = read[good:]
	nul := bytes.IndexByte(read[:good], 0)
	if nul >= 0 {
		good = nul
	}
	if t.out = t.lines(read[:good]); len(t.out) > 0 {
		t.last = t.out[len(t.out)-1]
	}
	switch {
	case nul >= 0:
		t.err = t.wrong("it holds a NUL character; expected text").
			Hinted("save it as UTF-8; a file in UTF-16 needs its byte order mark")
	case len(t.rest) > 0 && (err == io.EOF || utf8.FullRune(t.rest)):
		t.err = t.notText()
	default:
		t.err = err
	}
}

// wholeText returns how many bytes at the beginning of b are text.
func wholeText(b []byte, encoding string) (n int) {
	if encoding != inUTF8 { // U+FFFD in such a file stands for a character that was lost before
		if at := bytes.Index(b, []byte("\uFFFD")); at >= 0 {
			return at
		}
	}
	if utf8.Valid(b) {
		return len(b)
	}
	for {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size <= 1 {
			return n
		}
		n += size
	}
}

// lines replaces every line end by a line feed, in place, and counts lines and
// columns.
func (t *text) lines(b []byte) []byte {
	if t.cr || bytes.IndexByte(b, '\r') >= 0 {
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
		b = kept
	}
	if last := bytes.LastIndexByte(b, '\n'); last >= 0 {
		t.line += bytes.Count(b, []byte("\n"))
		t.column = 1 + utf8.RuneCount(b[last+1:])
	} else {
		t.column += utf8.RuneCount(b)
	}
	return b
}

// dosLetters are bytes that are letters in code page 850: é is 0x82. In Windows-1252 they
// are marks that do not follow a letter, or nothing.
const dosLetters = "\x81\x82\x83\x84\x86\x87\x88\x89\x8B\x8D"

// notText refuses what rest begins with.
func (t *text) notText() problem.Problem {
	what, isDOS, hint := "a character", t.encoding == inWindows1252, "save it as UTF-8"
	if t.encoding == inUTF8 {
		what, isDOS = fmt.Sprintf("the byte 0x%X", t.rest[0]), strings.IndexByte(dosLetters, t.rest[0]) >= 0
		hint += ", or, if Excel saved it as plain CSV, declare that in the mapping: sheet: {encoding: windows-1252}"
	}
	if isLetter := t.last|0x20 >= 'a' && t.last|0x20 <= 'z'; isLetter && isDOS {
		return problem.At(t.at(), "code-page",
			"%s after a letter is neither UTF-8 nor Windows-1252; it is one of code page 850, which DOS programs and “CSV (MS-DOS)” write", what).
			Hinted("save the file as “CSV UTF-8”; or convert it: iconv -f CP850 -t UTF-8 OLD.csv > NEW.csv")
	}
	return t.wrong("%s is not %s; expected a file in UTF-8, in UTF-16 with a byte order mark, or in the encoding that the mapping declares",
		what, t.encoding).Hinted("%s", hint)
}

func (t *text) wrong(format string, args ...any) problem.Problem {
	return problem.At(t.at(), "not-text", format, args...)
}

// at is the place of the character behind out.
func (t *text) at() problem.Where {
	return problem.Where{File: t.path, Line: t.line, Column: t.column}
}

// refuseUTF8 refuses a file without a byte order mark that is UTF-8 with letters beyond ASCII, though the mapping
// declares another encoding: each of these letters would be read as two or more others.
func (f *File) refuseUTF8() error {
	src := bufio.NewReader(io.NewSectionReader(f.file, 0, f.size))
	if skipMark(src) != "" {
		return nil
	}
	at, first := problem.Where{File: f.sheet.File, Line: 1, Column: 1}, problem.Where{}
	for {
		r, size, err := src.ReadRune()
		switch {
		case err == io.EOF && first.Line > 0:
			return problem.At(first, "is-utf-8",
				"the mapping declares the encoding windows-1252, and the file is UTF-8: letters such as this one would be read as two or more others").
				Hinted("take encoding out of the mapping's sheet section; UTF-8 needs none")
		case err != nil, r == utf8.RuneError && size == 1:
			return nil
		case size > 1 && first.Line == 0:
			first = at
		}
		if at.Column++; r == '\n' {
			at.Line, at.Column = at.Line+1, 1
		}
	}
}
