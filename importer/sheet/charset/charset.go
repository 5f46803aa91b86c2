// Package charset reads text files in UTF-8, UTF-16 and Windows-1252 as UTF-8.
package charset

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

// Encoding is how a file's bytes stand for text.
type Encoding struct {
	name    string
	decoder transform.Transformer // without a state
	unit    int                   // bytes of a character; two units in UTF-16 beyond U+FFFF
}

// The encodings.
var (
	UTF8        = &Encoding{"UTF-8", encoding.UTF8Validator, 1}
	UTF16LE     = &Encoding{"UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Transformer, 2}
	UTF16BE     = &Encoding{"UTF-16", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Transformer, 2}
	Windows1252 = &Encoding{"Windows-1252", charmap.Windows1252.NewDecoder().Transformer, 1} // what Excel's plain “CSV” is in Western Europe
)

// String returns the encoding's name.
func (e *Encoding) String() string { return e.name }

// decode decodes src, with buf for the text. It stops before bytes that are not text
// (bad is their number), and before an incomplete character; n is the number of bytes
// of src that it read.
func (e *Encoding) decode(buf, src []byte) (text []byte, n, bad int) {
	buf = slices.Grow(buf[:0], utf8.UTFMax*len(src))
	length, n, err := e.decoder.Transform(buf[:cap(buf)], src, false)
	text = buf[:length]
	if err == encoding.ErrInvalidUTF8 {
		return text, n, 1
	}
	if e == UTF8 || !bytes.Contains(text, []byte("\uFFFD")) {
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

// SkipMark reads the byte order mark at the beginning of a file, if there is one,
// and returns the encoding that it stands for. Without one it returns declared.
func SkipMark(r *bufio.Reader, declared *Encoding) *Encoding {
	head, _ := r.Peek(3) // a shorter file returns what it has
	marks := []struct {
		mark     string
		encoding *Encoding
	}{
		{"\xEF\xBB\xBF", UTF8},
		{"\xFF\xFE", UTF16LE},
		{"\xFE\xFF", UTF16BE},
	}
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			_, _ = r.Discard(len(m.mark)) // they were peeked at
			return m.encoding
		}
	}
	return declared
}

// InvalidError reports bytes that are not text in their encoding.
type InvalidError struct {
	Bytes    []byte
	Encoding *Encoding
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("the bytes 0x%X are not %s", e.Bytes, e.Encoding)
}

// Reader reads a file as UTF-8. Bytes that are not text end it with an
// *InvalidError, after all the text before them.
type Reader struct {
	src      io.Reader
	encoding *Encoding
	in       []byte // read but not decoded yet
	inBuf    []byte // the array behind in
	out      []byte // decoded but not returned by Read yet
	outBuf   []byte
	err      error // what ends the text; it stays
}

// NewReader returns a Reader that decodes size bytes of r at once.
func NewReader(r io.Reader, e *Encoding, size int) *Reader {
	return &Reader{src: r, encoding: e, inBuf: make([]byte, size)}
}

// Next returns the next piece of the text. It is never empty unless err is set,
// the caller may change it, and it is valid until the next call.
func (r *Reader) Next() (text []byte, err error) {
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
			r.err = &InvalidError{bytes.Clone(r.in[:bad]), r.encoding}
		case err != nil:
			r.err = err
		}
		if len(text) > 0 {
			return text, nil
		}
	}
	return nil, r.err
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	if len(r.out) == 0 {
		var err error
		if r.out, err = r.Next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.out)
	r.out = r.out[n:]
	return n, nil
}
