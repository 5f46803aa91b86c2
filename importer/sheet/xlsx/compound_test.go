package xlsx_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCompoundRefused(t *testing.T) {
	t.Parallel()
	agile, standard := testdata(t, "encrypted-agile.xlsx"), testdata(t, "encrypted-libreoffice.xlsx")
	beyond := func(at int) []byte { // a sector that lies beyond the file
		data := bytes.Clone(agile)
		copy(data[at:], "\xFF\xFF\xFF\x0F")
		return data
	}
	for name, c := range map[string]struct {
		data           []byte
		password, want string
	}{
		"agile without a password":         {agile, "", "encrypted-workbook"},
		"standard without a password":      {standard, "", "encrypted-workbook"},
		"agile with another password":      {agile, "Password", "wrong-password"},
		"standard with another password":   {standard, "password", "wrong-password"},
		"old workbook":                     {testdata(t, "old.xls"), "", "not-a-workbook"},
		"OpenDocument workbook":            {testdata(t, "opendocument.ods"), "", "not-a-workbook"},
		"more than 16 MiB":                 {append(bytes.Clone(agile), make([]byte, 16<<20)...), "password", "workbook-too-large"},
		"huge blocks":                      {bytes.ReplaceAll(agile, []byte(`saltSize="16" blockSize="16"`), []byte(`blockSize="1099511627776"   `)), "password", "encrypted-workbook"},
		"no blocks":                        {bytes.ReplaceAll(agile, []byte(`blockSize="16"`), []byte(`blockSize="00"`)), "password", "encrypted-workbook"},
		"directory beyond the file":        {beyond(48), "password", "encrypted-workbook"},
		"number of directory sectors":      {beyond(40), "password", "encrypted-workbook"},
		"number of FAT sectors":            {beyond(44), "password", "encrypted-workbook"},
		"number of mini FAT sectors":       {beyond(64), "password", "encrypted-workbook"},
		"number of DIFAT sectors":          {beyond(72), "password", "encrypted-workbook"},
		"half of an encrypted workbook":    {agile[:len(agile)/2], "password", "encrypted-workbook"},
		"the beginning of a compound file": {agile[:100], "", "encrypted-workbook"},
	} {
		_, _, err := read(c.data, options{Password: c.password})
		if got := code(t, err); got != c.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, c.want)
		}
	}
}

// Encrypted workbooks are read; one altered on its way gives an error, or all that it holds.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	if _, _, err := read(testdata(t, "encrypted-agile.xlsx"), options{Password: "password"}); err != nil {
		t.Error(err)
	}
	whole, o := testdata(t, "encrypted-libreoffice.xlsx"), options{Password: "pässword 1"}
	_, all, err := read(whole, o)
	want := sheettest.Dump(all)
	if err != nil || !strings.Contains(want, `3 | A text "bob@example.com" | B text "Baker" | C text "03/04/1981" {@}`) {
		t.Fatalf("%v\n%s", err, want)
	}
	for n := 0; n < len(whole); n += testform.LongOr(397, 9_973) {
		damaged := bytes.Clone(whole)
		damaged[n] ^= 1 << (n % 8)
		if _, all, err := read(damaged, o); err == nil && sheettest.Dump(all) != want {
			t.Fatalf("bit flipped in byte %d: other rows and no error", n)
		}
	}
}
