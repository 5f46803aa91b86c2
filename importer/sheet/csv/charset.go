package csv

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charset is how a file's bytes stand for text.
type charset struct {
	name        string
	transformer transform.Transformer // without a state
	unit        int                   // bytes of a character; two units in UTF-16 beyond U+FFFF
}

// The encodings.
var (
	inUTF8        = &charset{"UTF-8", encoding.UTF8Validator, 1}
	inUTF16LE     = &charset{"UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Transformer, 2}
	inUTF16BE     = &charset{"UTF-16", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Transformer, 2}
	inWindows1252 = &charset{"Windows-1252", charmap.Windows1252.NewDecoder().Transformer, 1} // what Excel's plain “CSV” is in Western Europe
)

// decode decodes src, with buf for the text. It stops before bytes that are not text
// (bad is their number), and before an incomplete character; n is the number of bytes
// of src that it read.
func (e *charset) decode(buf, src []byte) (text []byte, n, bad int) {
	buf = slices.Grow(buf[:0], utf8.UTFMax*len(src))
	length, n, err := e.transformer.Transform(buf[:cap(buf)], src, false)
	text = buf[:length]
	if err == encoding.ErrInvalidUTF8 {
		return text, n, 1
	}
	if e == inUTF8 || !bytes.Contains(text, []byte("\uFFFD")) {
		return text, n, 0
	}
	at := 0 // in src
	for i, r := range string(text) {
		// x/text makes U+FFFD of what has no meaning; in UTF-16 the file may have it itself.
		if r == utf8.RuneError && !bytes.HasPrefix(src[at:], []byte("\xFD\xFF")) && !bytes.HasPrefix(src[at:], []byte("\xFF\xFD")) {
			return text[:i], at, e.unit
		}
		at += e.unit
		if r > 0xFFFF {
			at += e.unit
		}
	}
	return text, n, 0
}

// skipMark reads the byte order mark at the beginning of a file, if there is one,
// and returns the encoding that it stands for. Without one it returns declared.
func skipMark(r *bufio.Reader, declared *charset) *charset {
	head, _ := r.Peek(3) // a shorter file returns what it has
	marks := []struct {
		mark     string
		encoding *charset
	}{
		{"\xEF\xBB\xBF", inUTF8},
		{"\xFF\xFE", inUTF16LE},
		{"\xFE\xFF", inUTF16BE},
	}
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			_, _ = r.Discard(len(m.mark)) // they were peeked at
			return m.encoding
		}
	}
	return declared
}

// invalidError reports bytes that are not text in their encoding.
type invalidError struct {
	bytes []byte
	in    *charset
}

func (e *invalidError) Error() string {
	return fmt.Sprintf("the bytes 0x%X are not %s", e.bytes, e.in.name)
}

// decoder reads a file as UTF-8. Bytes that are not text end it with an
// *invalidError, after all the text before them.
type decoder struct {
	src      io.Reader
	encoding *charset
	in       []byte // read but not decoded yet
	inBuf    []byte // the array behind in
	outBuf   []byte
	err      error // what ends the text; it stays
}

// newDecoder returns a decoder that decodes size bytes of r at once.
func newDecoder(r io.Reader, e *charset, size int) *decoder {
	return &decoder{src: r, encoding: e, inBuf: make([]byte, size)}
}

// next returns the next piece of the text. It is never empty unless err is set,
// the caller may change it, and it is valid until the next call.
func (r *decoder) next() (text []byte, err error) {
	for r.err == nil {
		left := copy(r.inBuf, r.in)
		n, err := r.src.Read(r.inBuf[left:])
		r.in = r.inBuf[:left+n]
		text, taken, bad := r.encoding.decode(r.outBuf, r.in)
		r.outBuf, r.in = text, r.in[taken:]
		if err == io.EOF && bad == 0 {
			bad = len(r.in) // an incomplete character
		}
		switch {
		case bad > 0:
			r.err = &invalidError{bytes.Clone(r.in[:bad]), r.encoding}
		case err != nil:
			r.err = err
		}
		if len(text) > 0 {
			return text, nil
		}
	}
	return nil, r.err
}
