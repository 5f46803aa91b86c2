package csv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// errLongRecord reports a row beyond cell.MaxRowBytes: otherwise a quote that is never
// closed would read the rest of the file into memory. File.broken adds where it began.
var errLongRecord = errors.New("a row of more than 16 MiB")

// text reads a CSV file as UTF-8, without its byte order mark and with every line
// end (CR LF, CR alone) as a line feed. Bytes that are not text, and NUL, are a
// problem with its line and column.
type text struct {
	decoder *decoder
	path    string
	out     []byte // decoded but not returned yet
	line    int    // of the character that is decoded next
	column  int    // in characters
	cr      bool   // the last character was a carriage return
	last    byte   // of what was decoded; 0 at the beginning
	err     error  // what ends the text; it stays

	given int // bytes returned since it was last set to 0
}

// textChunk is how much is decoded at once.
const textChunk = 32 << 10

// text opens the file's text from its beginning.
func (f *File) text() *text {
	src := bufio.NewReaderSize(io.NewSectionReader(f.file, 0, f.size), textChunk)
	return &text{decoder: newDecoder(src, skipMark(src, f.encoding), textChunk), path: f.sheet.File, line: 1, column: 1}
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

// refuseUTF8 refuses a file without a byte order mark that is UTF-8 with letters beyond ASCII, though the mapping declares another
// encoding: each of these letters would be read as two or more others.
func (f *File) refuseUTF8() error {
	src := bufio.NewReader(io.NewSectionReader(f.file, 0, f.size))
	if skipMark(src, nil) != nil {
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

// fill decodes the next piece, or sets err.
func (t *text) fill() {
	decoded, err := t.decoder.next()
	if err != nil {
		t.err = err
		if invalid, ok := errors.AsType[*invalidError](err); ok {
			t.err = t.notText(invalid)
		}
		return
	}
	nul := bytes.IndexByte(decoded, 0)
	if nul >= 0 {
		decoded = decoded[:nul]
	}
	if t.out = t.lines(decoded); len(t.out) > 0 {
		t.last = t.out[len(t.out)-1]
	}
	if nul >= 0 {
		t.err = t.wrong("it holds a NUL character; expected text").
			Hinted("save it as UTF-8; a file in UTF-16 needs its byte order mark")
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

func (t *text) notText(invalid *invalidError) problem.Problem {
	if isLetter := t.last|0x20 >= 'a' && t.last|0x20 <= 'z'; isLetter && strings.IndexByte(dosLetters, invalid.bytes[0]) >= 0 {
		return problem.At(t.at(), "code-page",
			"the byte 0x%X after a letter is neither UTF-8 nor Windows-1252; it is one of code page 850, which DOS programs and “CSV (MS-DOS)” write", invalid.bytes).
			Hinted("save the file as “CSV UTF-8”; or convert it: iconv -f CP850 -t UTF-8 OLD.csv > NEW.csv")
	}
	p := t.wrong("the byte %s is not %s; expected a file in UTF-8, in UTF-16 with a byte order mark, or in the encoding that the mapping declares",
		fmt.Sprintf("0x%X", invalid.bytes), invalid.in.name)
	if invalid.in == inWindows1252 {
		return p.Hinted("take sheet.encoding out of the mapping if the file is UTF-8, or save it again")
	}
	return p.Hinted("save it as UTF-8, or, if Excel saved it as plain CSV, declare that in the mapping: sheet: {encoding: windows-1252}")
}

func (t *text) wrong(format string, args ...any) problem.Problem {
	return problem.At(t.at(), "not-text", format, args...)
}

// at is the place of the character that is decoded next.
func (t *text) at() problem.Where {
	return problem.Where{File: t.path, Line: t.line, Column: t.column}
}
