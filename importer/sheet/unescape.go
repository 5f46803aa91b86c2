package sheet

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends text as it stands in the file to dst, with its entities
// replaced and its line ends as XML wants them (CR and CRLF become LF). Bytes
// that are no UTF-8 and control characters are damage.
func (s *scanner) unescape(dst, raw []byte) ([]byte, error) {
	from := len(dst)
	for {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			dst = append(dst, raw...)
			break
		}
		dst = append(dst, raw[:i]...)
		end := bytes.IndexByte(raw[i:min(len(raw), i+12)], ';')
		if end < 0 {
			return dst, s.damaged("an entity is malformed")
		}
		r, ok := entity(raw[i+1 : i+end])
		if !ok {
			return dst, s.damaged("an entity is unknown")
		}
		dst = utf8.AppendRune(dst, r)
		raw = raw[i+end+1:]
	}
	return s.checked(dst, from)
}

// checked refuses what XML refuses in dst[from:], and makes its line ends LF.
func (s *scanner) checked(dst []byte, from int) ([]byte, error) {
	ascii, cr := true, false
	for _, c := range dst[from:] {
		switch {
		case c >= utf8.RuneSelf:
			ascii = false
		case c >= ' ' || c == '\t' || c == '\n':
		case c == '\r':
			cr = true
		default:
			return dst, s.damaged("it holds a control character")
		}
	}
	if !ascii && !utf8.Valid(dst[from:]) {
		return dst, s.damaged("it is not written in UTF-8")
	}
	if cr {
		lf := bytes.ReplaceAll(dst[from:], []byte("\r\n"), []byte("\n"))
		dst = append(dst[:from], bytes.ReplaceAll(lf, []byte("\r"), []byte("\n"))...)
	}
	return dst, nil
}

// entity is the character that stands between & and ;. Only XML's own five
// names are known: others need a document type.
func entity(name []byte) (rune, bool) {
	switch string(name) {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := string(name[1:]), 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	return rune(n), true
}

// decodeEscapes decodes in dst[from:] what spreadsheet programs write for
// characters that XML cannot hold: _x000D_ is a carriage return, and
// _x005F_x000D_ is the text _x000D_.
func decodeEscapes(dst []byte, from int) []byte {
	if !bytes.Contains(dst[from:], []byte("_x")) {
		return dst
	}
	in := bytes.Clone(dst[from:])
	dst = dst[:from]
	for i := 0; i < len(in); {
		r, ok := escaped(in[i:])
		if !ok {
			dst = append(dst, in[i])
			i++
			continue
		}
		i += 7
		if utf16.IsSurrogate(r) {
			low, ok := escaped(in[i:])
			whole := utf16.DecodeRune(r, low)
			if !ok || whole == utf8.RuneError { // half a character: left as it is
				dst = append(dst, in[i-7:i]...)
				continue
			}
			r, i = whole, i+7
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// escaped is the character of the escape that b begins with.
func escaped(b []byte) (rune, bool) {
	if len(b) < 7 || b[0] != '_' || b[1] != 'x' || b[6] != '_' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
