package charset_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"claimsheet/importer/sheet/charset"
	"claimsheet/importer/sheet/sheettest"
)

// Text is decoded however its bytes arrive, up to the first ones that are not text.
func TestReader(t *testing.T) {
	long := strings.Repeat("é😀a", 5_000)
	for _, tt := range []struct {
		name, data string
		declared   *charset.Encoding
		want       string
		bad        string // the bytes that end it; "" for none
	}{
		{"UTF-8", "é😀", charset.UTF8, "é😀", ""},
		{"UTF-8, long", long, charset.UTF8, long, ""},
		{"UTF-8 with a mark", "\xEF\xBB\xBFé", charset.Windows1252, "é", ""},
		{"UTF-8, cut short", "a\xF0\x9F", charset.UTF8, "a", "\xF0\x9F"},
		{"Latin-1 as UTF-8", "caf\xE9s", charset.UTF8, "caf", "\xE9"},
		{"UTF-16, little end first", string(sheettest.UTF16(binary.LittleEndian, long)), charset.UTF8, long, ""},
		{"UTF-16, big end first", string(sheettest.UTF16(binary.BigEndian, long)), charset.UTF8, long, ""},
		{"UTF-16 without a mark", "\x00a\x00b", charset.UTF16BE, "ab", ""},
		{"half a character", "a\x00b", charset.UTF16LE, "a", "b"},
		{"half a pair", "a\x00\x3D\xD8b\x00", charset.UTF16LE, "a", "\x3D\xD8"},
		{"Windows-1252", "\x80 \x93q\x94", charset.Windows1252, "€ “q”", ""},
		{"undefined in Windows-1252", "a\x81", charset.Windows1252, "a", "\x81"},
		{"U+FFFD in UTF-8", "é\uFFFDé", charset.UTF8, "é\uFFFDé", ""},
		{"U+FFFD in UTF-16", string(sheettest.UTF16(binary.LittleEndian, "😀\uFFFD")), charset.UTF8, "😀\uFFFD", ""},
		{"U+FFFD before half a pair", string(sheettest.UTF16(binary.BigEndian, "\uFFFDé😀")) + "\xD8\x3Da", charset.UTF8, "\uFFFDé😀", "\xD8\x3Da"},
		{"nothing", "", charset.UTF8, "", ""},
	} {
		for how, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with its end": iotest.DataErrReader} {
			src := bufio.NewReader(strings.NewReader(tt.data))
			encoding := charset.SkipMark(src, tt.declared)
			got, err := io.ReadAll(charset.NewReader(wrap(src), encoding, 16))
			bad := ""
			if invalid, ok := errors.AsType[*charset.InvalidError](err); ok {
				bad, err = string(invalid.Bytes), nil
			}
			if string(got) != tt.want || bad != tt.bad || err != nil {
				t.Errorf("%s, %s: got %.30q, then %q, %v; want %.30q, then %q", tt.name, how, got, bad, err, tt.want, tt.bad)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(charset.NewReader(iotest.ErrReader(broken), charset.UTF8, 16)); !errors.Is(err, broken) {
		t.Errorf("an error of the disk became %v", err)
	}
}
