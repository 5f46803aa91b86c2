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
// end (CR LF, CR alone) as a line feed.
type text struct {
	src      io.Reader // in UTF-8, with U+FFFD for what is no text in another encoding
	encoding string
	cr       bool  // the last character was a carriage return
	err      error // what ends the text; it stays
	given    int   // bytes returned since it was last set to 0
}

// text opens the file's text from its beginning.
func (f *File) text() *text {
	src := bufio.NewReaderSize(io.NewSectionReader(f.file, 0, f.size), 32<<10)
	t := &text{src: src, encoding: f.encoding}
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
func (t *text) Read(b []byte) (n int, err error) {
	if t.given > cell.MaxRowBytes {
		t.err = errLongRecord
	}
	for n == 0 && t.err == nil {
		n, t.err = t.src.Read(b)
		n = t.lines(b[:n])
	}
	t.given += n
	if n > 0 {
		return n, nil
	}
	return 0, t.err
}

// lines replaces every line end by a line feed, in place, and returns how much is left.
func (t *text) lines(b []byte) int {
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

// dosLetters are bytes that are letters in code page 850: é is 0x82. In Windows-1252 they
// are marks that do not follow a letter, or nothing.
const dosLetters = "\x81\x82\x83\x84\x86\x87\x88\x89\x8B\x8D"

// notText refuses a field that is not text, except for its place; nil for one that is. In a file of another encoding than UTF-8,
// U+FFFD stands for what is no character in it.
func notText(field, encoding string) *problem.Problem {
	isUTF8 := encoding == inUTF8
	switch {
	case strings.IndexByte(field, 0) >= 0:
		p := problem.New("not-text", "it holds a NUL character; expected text").
			Hinted("save it as UTF-8; a file in UTF-16 needs its byte order mark")
		return &p
	case isUTF8 && utf8.ValidString(field), !strings.ContainsRune(field, utf8.RuneError):
		return nil
	}
	wrong := strings.IndexFunc(field, func(r rune) bool { return r == utf8.RuneError })
	for isUTF8 && strings.HasPrefix(field[wrong:], "\uFFFD") { // a character of its own
		wrong += len("\uFFFD")
		wrong += strings.IndexFunc(field[wrong:], func(r rune) bool { return r == utf8.RuneError })
	}
	what, isDOS, hint := "a character", encoding == inWindows1252, "save it as UTF-8"
	if isUTF8 {
		what, isDOS = fmt.Sprintf("the byte 0x%X", field[wrong]), strings.IndexByte(dosLetters, field[wrong]) >= 0
		hint += ", or, if Excel saved it as plain CSV, declare that in the mapping: sheet: {encoding: windows-1252}"
	}
	p := problem.New("not-text", "%s is not %s; expected a file in UTF-8, in UTF-16 with a byte order mark, or in the encoding that the mapping declares",
		what, encoding).Hinted("%s", hint)
	if before := strings.ToLower(field[:wrong]); isDOS && strings.TrimRight(before, "abcdefghijklmnopqrstuvwxyz") != before {
		p = problem.New("code-page",
			"%s after a letter is neither UTF-8 nor Windows-1252; it is one of code page 850, which DOS programs and “CSV (MS-DOS)” write", what).
			Hinted("save the file as “CSV UTF-8”; or convert it: iconv -f CP850 -t UTF-8 OLD.csv > NEW.csv")
	}
	return &p
}

// refuseUTF8 refuses a file without a byte order mark that is UTF-8 with letters beyond ASCII, though the mapping
// declares another encoding.
func (f *File) refuseUTF8() error {
	src := bufio.NewReader(io.NewSectionReader(f.file, 0, f.size))
	if skipMark(src) != "" {
		return nil
	}
	for isASCII := true; ; {
		r, size, err := src.ReadRune()
		if err != nil && !isASCII {
			return problem.New("is-utf-8",
				"the mapping declares the encoding windows-1252, and the file is UTF-8: each letter beyond ASCII would be read as two or more others").
				Hinted("take encoding out of the mapping's sheet section; UTF-8 needs none")
		} else if err != nil || r == utf8.RuneError && size == 1 {
			return nil
		}
		isASCII = isASCII && size == 1
	}
}
