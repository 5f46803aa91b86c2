package sheet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"claimsheet/mapping/problem"
)

// maxRecord bounds the text of one row. In a CSV file a quote that is never
// closed would swallow the rest of the file into memory.
const maxRecord = 16 << 20

// errLongRecord says that a row passes maxRecord; the pass knows where it began.
var errLongRecord = errors.New("a row of more than 16 MiB")

// text reads a text file as UTF-8, without its byte order mark and with every
// line end (CR LF, CR alone) made a line feed. What is no text, and NUL, is a
// problem with its line and column.
type text struct {
	src      *bufio.Reader
	path     string
	encoding encoding
	in       []byte // read and not decoded yet
	spare    []byte // the space of in
	out      []byte // decoded and not given out yet
	buf      []byte // the space of out
	line     int    // of what is decoded next
	column   int    // in characters
	cr       bool   // the last character was a carriage return
	ended    bool   // src is at its end
	err      error  // what ends the text; it stays

	given int // bytes given out since it was last set to 0
}

// textChunk is how much is decoded at once.
const textChunk = 32 << 10

func newText(r io.Reader, path, declared string) *text {
	src := bufio.NewReaderSize(r, textChunk)
	return &text{src: src, path: path, encoding: byteOrderMark(src, declared), line: 1, column: 1,
		spare: make([]byte, textChunk)}
}

// Read gives the text, for encoding/csv.
func (t *text) Read(b []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	if t.given > maxRecord {
		t.err, t.out = errLongRecord, nil
		return 0, t.err
	}
	n := copy(b, t.out)
	t.out = t.out[n:]
	t.given += n
	return n, nil
}

// fill decodes the next chunk, or sets err.
func (t *text) fill() {
	kept := copy(t.spare, t.in)
	n := 0
	if !t.ended {
		var err error
		n, err = t.src.Read(t.spare[kept:])
		if t.ended = err == io.EOF; err != nil && !t.ended {
			t.err = err
			return
		}
	}
	t.in = t.spare[:kept+n]
	decoded, taken, bad := t.encoding.decode(t.buf[:0], t.in)
	t.buf = decoded
	t.in = t.in[taken:]
	if t.ended && bad == 0 {
		bad = len(t.in) // a character cut short
	}
	nul := bytes.IndexByte(decoded, 0)
	if nul >= 0 {
		decoded = decoded[:nul]
	}
	t.out = t.lines(decoded)
	switch {
	case nul >= 0:
		t.err = t.wrong("it holds a NUL character; expected text").
			Hinted("save it as UTF-8; a file in UTF-16 needs its byte order mark")
	case bad > 0:
		t.err = t.notText(t.in[:bad])
	case t.ended:
		t.err = io.EOF
	}
}

// lines makes every line end a line feed, in place, and counts.
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

func (t *text) notText(bytes []byte) problem.Problem {
	p := t.wrong("the byte %s is not %s; expected a file in UTF-8, in UTF-16 with a byte order mark, or in the encoding that the mapping declares", hex(bytes), t.encoding.name())
	if _, is1252 := t.encoding.(windows1252Encoding); is1252 {
		return p.Hinted("take sheet.encoding out of the mapping if the file is UTF-8, or save it again")
	}
	return p.Hinted("save it as UTF-8, or, if Excel saved it as plain CSV, declare that in the mapping: sheet: {encoding: windows-1252}")
}

func (t *text) wrong(format string, args ...any) problem.Problem {
	return problem.At(problem.Where{File: t.path, Line: t.line, Column: t.column}, "not-text", format, args...)
}
