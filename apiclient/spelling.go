package apiclient

import (
	"bytes"
	"cmp"
	"html"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is how many spellings may be inside one another, such as JSON inside a
// url inside JSON.
const maxNesting = 3

// The escapes to decode, by the character with which they begin.
const (
	markupEscapes = `\&`   // of JSON and HTML
	pathEscapes   = `\&%`  // and of urls, except %20: in a link, a space would look like its end
	allEscapes    = `\&%+` // and of queries, where + is a space
)

// finding is a part of a text, from start to end, and what is written instead.
type finding struct {
	start, end int
	instead    string
}

// replaceSpelled replaces what find finds in a text, also where the text spells it with
// these escapes, any of them for any character, one inside another. The rest of the text
// is unchanged.
func replaceSpelled(text []byte, escapes string, find func(text []byte) []finding) []byte {
	for depth := range maxNesting + 1 {
		r := &reading{text: text}
		for range depth {
			if r = r.decoded(escapes); r == nil {
				return text
			}
		}
		text = r.replace(find(r.text))
	}
	return text
}

// decodeFully returns a text without escapes.
func decodeFully(text string) string {
	r := &reading{text: []byte(text)}
	for range maxNesting {
		next := r.decoded(allEscapes)
		if next == nil {
			break
		}
		r = next
	}
	return string(r.text)
}

// reading is a text, or what a text says once its escapes are decoded.
type reading struct {
	text   []byte
	source *reading // with the escapes; nil for a text as it arrived
	shifts []shift  // in the order of both places
}

// shift is a place behind an escape that is longer than what it stands for.
type shift struct{ text, source int }

// decoded returns r with these escapes decoded, once; nil when it has none.
func (r *reading) decoded(escapes string) *reading {
	var out []byte
	var shifts []shift
	copied, rest := 0, r.text
	for {
		i := bytes.IndexAny(rest, escapes)
		if i < 0 {
			break
		}
		at := len(r.text) - len(rest) + i
		value, length := unescape(r.text[at:])
		rest = r.text[at+max(length, 1):]
		if length == 0 || escapes == pathEscapes && string(r.text[at:at+length]) == "%20" {
			continue
		}
		out = append(append(out, r.text[copied:at]...), value...)
		copied = at + length
		if len(value) != length {
			shifts = append(shifts, shift{len(out), copied})
		}
	}
	if copied == 0 {
		return nil
	}
	return &reading{text: append(out, r.text[copied:]...), source: r, shifts: shifts}
}

// arrived returns the text as it arrived, and where in it a place of r is.
func (r *reading) arrived(place int) (text []byte, at int) {
	for ; r.source != nil; r = r.source {
		if i := sort.Search(len(r.shifts), func(i int) bool { return r.shifts[i].text > place }); i > 0 {
			s := r.shifts[i-1]
			place += s.source - s.text
		}
	}
	return r.text, place
}

// replace returns the text as it arrived, with the findings replaced. Findings that
// overlap are one.
func (r *reading) replace(findings []finding) []byte {
	text, _ := r.arrived(0)
	if len(findings) == 0 {
		return text
	}
	slices.SortFunc(findings, func(a, b finding) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	var out []byte
	copied := 0
	for i := 0; i < len(findings); {
		f := findings[i]
		for i++; i < len(findings) && findings[i].start < f.end; i++ {
			f.end = max(f.end, findings[i].end)
		}
		_, start := r.arrived(f.start)
		out = append(append(out, text[copied:start]...), f.instead...)
		_, copied = r.arrived(f.end)
	}
	return append(out, text[copied:]...)
}

// unescape returns what the escape at the start of a text stands for, and its length;
// 0 for no escape.
func unescape(text []byte) (value string, length int) {
	switch text[0] {
	case '+': // a space in a query
		return " ", 1
	case '%':
		if b, ok := hexadecimal(text, 1, 3); ok {
			return string([]byte{byte(b)}), 3
		}
	case '&':
		if value, length = unescapeNumber(text); length > 0 {
			return value, length
		}
		const longest = len("&thetasym;")
		if end := bytes.IndexByte(text[:min(len(text), longest)], ';'); end > 0 {
			name := string(text[:end+1])
			if value := html.UnescapeString(name); value != name {
				return value, len(name)
			}
		}
	case '\\':
		return unescapeJSON(text)
	}
	return "", 0
}

// unescapeNumber is unescape for a character that HTML writes as its number, with or
// without the semicolon, and with any number of zeros before it.
func unescapeNumber(text []byte) (value string, length int) {
	digits, begin := "0123456789", 2
	if len(text) < 3 || text[1] != '#' {
		return "", 0
	}
	if text[2] == 'x' || text[2] == 'X' {
		digits, begin = "0123456789abcdefABCDEF", 3
	}
	end := begin
	for end < len(text) && strings.IndexByte(digits, text[end]) >= 0 {
		end++
	}
	if end == begin {
		return "", 0
	}
	value = html.UnescapeString(string(text[:end]) + ";")
	if end < len(text) && text[end] == ';' {
		end++
	}
	return value, end
}

// jsonEscapes are the characters after a backslash, and what the two stand for.
var jsonEscapes = map[byte]string{'"': `"`, '\\': `\`, '/': "/", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t"}

// unescapeJSON is unescape for a text that begins with a backslash.
func unescapeJSON(text []byte) (value string, length int) {
	if len(text) < 2 {
		return "", 0
	}
	if text[1] != 'u' {
		if value, ok := jsonEscapes[text[1]]; ok {
			return value, 2
		}
		return "", 0
	}
	first, ok := hexadecimal(text, 2, 6)
	if !ok {
		return "", 0
	}
	if second, ok := hexadecimal(text, 8, 12); ok && text[6] == '\\' && text[7] == 'u' {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return string(r), 12
		}
	}
	return string(first), 6
}

// hexadecimal reads a hexadecimal number from start to end of a text.
func hexadecimal(text []byte, start, end int) (rune, bool) {
	if len(text) < end {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[start:end]), 16, 32)
	return rune(n), err == nil
}
