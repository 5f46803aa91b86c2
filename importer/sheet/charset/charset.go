// Package charset reads text files in UTF-8, UTF-16 and Windows-1252 as UTF-8.
package charset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Encoding is how a file's bytes stand for text.
type Encoding interface {
	// String returns the encoding's name.
	String() string
	// decode appends the text of src to dst. It stops before bytes that are not
	// text (bad is their number), and before an incomplete character; n is the
	// number of bytes of src that it read.
	decode(dst, src []byte) (text []byte, n, bad int)
}

// The encodings.
var (
	UTF8        Encoding = utf8Encoding{}
	UTF16LE     Encoding = utf16Encoding{binary.LittleEndian}
	UTF16BE     Encoding = utf16Encoding{binary.BigEndian}
	Windows1252 Encoding = windows1252Encoding{} // what Excel's plain “CSV” is in Western Europe
)

// SkipMark reads the byte order mark at the beginning of a file, if there is one,
// and returns the encoding that it stands for. Without one it returns declared.
func SkipMark(r *bufio.Reader, declared Encoding) Encoding {
	head, _ := r.Peek(3) // a shorter file returns what it has
	marks := []struct {
		mark     string
		encoding Encoding
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
	Encoding Encoding
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("the bytes 0x%X are not %s", e.Bytes, e.Encoding)
}

// Reader reads a file as UTF-8. Bytes that are not text end it with an
// *InvalidError, after all the text before them.
type Reader struct {
	src      io.Reader
	encoding Encoding
	in       []byte // read but not decoded yet
	inBuf    []byte // the array behind in
	out      []byte // decoded but not returned by Read yet
	outBuf   []byte
	err      error // what ends the text; it stays
}

// NewReader returns a Reader that decodes size bytes of r at once.
func NewReader(r io.Reader, e Encoding, size int) *Reader {
	return &Reader{src: r, encoding: e, inBuf: make([]byte, size)}
}

// Next returns the next piece of the text. It is never empty unless err is set,
// the caller may change it, and it is valid until the next call.
func (r *Reader) Next() (text []byte, err error) {
	for r.err == nil {
		left := copy(r.inBuf, r.in)
		n, err := r.src.Read(r.inBuf[left:])
		r.in = r.inBuf[:left+n]
		text, taken, bad := r.encoding.decode(r.outBuf[:0], r.in)
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

type utf8Encoding struct{}

func (utf8Encoding) String() string { return "UTF-8" }

func (utf8Encoding) decode(dst, src []byte) ([]byte, int, int) {
	n := len(src)
	if !utf8.Valid(src) {
		n = 0
		for n < len(src) {
			r, size := utf8.DecodeRune(src[n:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			n += size
		}
	}
	dst = append(dst, src[:n]...)
	if n < len(src) && utf8.FullRune(src[n:]) {
		return dst, n, 1
	}
	return dst, n, 0
}

type utf16Encoding struct{ order binary.ByteOrder }

func (utf16Encoding) String() string { return "UTF-16" }

func (e utf16Encoding) decode(dst, src []byte) ([]byte, int, int) {
	n := 0
	for n+2 <= len(src) {
		r, size := rune(e.order.Uint16(src[n:])), 2
		if utf16.IsSurrogate(r) {
			if n+4 > len(src) {
				break
			}
			if r = utf16.DecodeRune(r, rune(e.order.Uint16(src[n+2:]))); r == utf8.RuneError {
				return dst, n, 2
			}
			size = 4
		}
		dst = utf8.AppendRune(dst, r)
		n += size
	}
	return dst, n, 0
}

type windows1252Encoding struct{}

func (windows1252Encoding) String() string { return "Windows-1252" }

func (windows1252Encoding) decode(dst, src []byte) ([]byte, int, int) {
	for n, c := range src {
		switch c {
		case 0x81, 0x8D, 0x8F, 0x90, 0x9D: // have no meaning
			return dst, n, 1
		}
		dst = utf8.AppendRune(dst, charmap.Windows1252.DecodeByte(c))
	}
	return dst, len(src), 0
}
