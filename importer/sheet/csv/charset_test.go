package csv

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"claimsheet/importer/sheet/sheettest"
)

// decodeAll returns all of a decoder's text, and the error that ends it.
func decodeAll(d *decoder) (all []byte, err error) {
	for {
		text, err := d.next()
		if all = append(all, text...); err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
	}
}

// Text is decoded however its bytes arrive, up to the first ones that are not text.
func TestDecoder(t *testing.T) {
	long := strings.Repeat("é😀a", 5_000)
	for _, tt := range []struct {
		name, data string
		declared   *charset
		want       string
		bad        string // the bytes that end it; "" for none
	}{
		{"UTF-8", "é😀", inUTF8, "é😀", ""},
		{"UTF-8, long", long, inUTF8, long, ""},
		{"UTF-8 with a mark", "\xEF\xBB\xBFé", inWindows1252, "é", ""},
		{"UTF-8, cut short", "a\xF0\x9F", inUTF8, "a", "\xF0\x9F"},
		{"Latin-1 as UTF-8", "caf\xE9s", inUTF8, "caf", "\xE9"},
		{"UTF-16, little end first", string(sheettest.UTF16(binary.LittleEndian, long)), inUTF8, long, ""},
		{"UTF-16, big end first", string(sheettest.UTF16(binary.BigEndian, long)), inUTF8, long, ""},
		{"UTF-16 without a mark", "\x00a\x00b", inUTF16BE, "ab", ""},
		{"half a character", "a\x00b", inUTF16LE, "a", "b"},
		{"half a pair", "a\x00\x3D\xD8b\x00", inUTF16LE, "a", "\x3D\xD8"},
		{"Windows-1252", "\x80 \x93q\x94", inWindows1252, "€ “q”", ""},
		{"undefined in Windows-1252", "a\x81", inWindows1252, "a", "\x81"},
		{"U+FFFD in UTF-8", "é\uFFFDé", inUTF8, "é\uFFFDé", ""},
		{"U+FFFD in UTF-16", string(sheettest.UTF16(binary.LittleEndian, "😀\uFFFD")), inUTF8, "😀\uFFFD", ""},
		{"U+FFFD before half a pair", string(sheettest.UTF16(binary.BigEndian, "\uFFFDé😀")) + "\xD8\x3Da", inUTF8, "\uFFFDé😀", "\xD8\x3Da"},
		{"nothing", "", inUTF8, "", ""},
	} {
		for how, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with its end": iotest.DataErrReader} {
			src := bufio.NewReader(strings.NewReader(tt.data))
			encoding := skipMark(src, tt.declared)
			got, err := decodeAll(newDecoder(wrap(src), encoding, 16))
			bad := ""
			if invalid, ok := errors.AsType[*invalidError](err); ok {
				bad, err = string(invalid.bytes), nil
			}
			if string(got) != tt.want || bad != tt.bad || err != nil {
				t.Errorf("%s, %s: got %.30q, then %q, %v; want %.30q, then %q", tt.name, how, got, bad, err, tt.want, tt.bad)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := decodeAll(newDecoder(iotest.ErrReader(broken), inUTF8, 16)); !errors.Is(err, broken) {
		t.Errorf("an error of the disk became %v", err)
	}
}
