package sheet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// The encodings of a CSV file that has no byte order mark.
const (
	UTF8        = "utf-8"
	Windows1252 = "windows-1252" // what Excel's plain “CSV” is in Western Europe
)

// encoding turns the bytes of a text file into UTF-8.
type encoding interface {
	name() string
	// decode appends the text of src to dst. It stops before what is no text
	// (bad tells how many bytes that is), or before a character that is not whole
	// yet; n is how many bytes of src it took.
	decode(dst, src []byte) (text []byte, n, bad int)
}

// byteOrderMark takes the mark off the beginning of a file, which tells the
// encoding whatever is declared; without one it is the one declared.
func byteOrderMark(r *bufio.Reader, declared string) encoding {
	head, _ := r.Peek(3) // a shorter file gives what it has
	marks := []struct {
		mark     string
		encoding encoding
	}{
		{"\xEF\xBB\xBF", utf8Encoding{}},
		{"\xFF\xFE", utf16Encoding{binary.LittleEndian}},
		{"\xFE\xFF", utf16Encoding{binary.BigEndian}},
	}
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			_, _ = r.Discard(len(m.mark)) // they were peeked at
			return m.encoding
		}
	}
	if declared == Windows1252 {
		return windows1252Encoding{}
	}
	return utf8Encoding{}
}

type utf8Encoding struct{}

func (utf8Encoding) name() string { return "UTF-8" }

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

func (e utf16Encoding) name() string { return "UTF-16" }

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

func (windows1252Encoding) name() string { return "Windows-1252" }

func (windows1252Encoding) decode(dst, src []byte) ([]byte, int, int) {
	for n, c := range src {
		switch c {
		case 0x81, 0x8D, 0x8F, 0x90, 0x9D: // stand for nothing
			return dst, n, 1
		}
		dst = utf8.AppendRune(dst, charmap.Windows1252.DecodeByte(c))
	}
	return dst, len(src), 0
}

// hex writes bytes as people look them up: 0xE9.
func hex(b []byte) string { return fmt.Sprintf("0x%X", b) }
