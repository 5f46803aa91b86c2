package xlsx_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/sheet/sheettest"
)

func readOther(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEncrypted(t *testing.T) {
	t.Parallel()
	for file, password := range map[string]string{"encrypted-libreoffice.xlsx": "pässword 1", "encrypted-agile.xlsx": "password"} {
		r, err := open(filepath.Join("testdata", file), options{Password: password})
		if err != nil {
			t.Fatal(file, err)
		}
		all, err := sheettest.Collect(r.Records())
		isWhole := password == "password" || strings.Contains(sheettest.Dump(all), `3 | A text "bob@example.com" | B text "Baker" | C text "03/04/1981" {@}`)
		if err != nil || !isWhole {
			t.Errorf("%s: %v\n%s", file, err, sheettest.Dump(all))
		}
		r.Close()
	}
}

// compoundRefused are compound files that must be refused; all but those
// without a password are given the right one.
func compoundRefused(t testing.TB) []hostileFile {
	agile, standard := readOther(t, "encrypted-agile.xlsx"), readOther(t, "encrypted-libreoffice.xlsx")
	agilePassword := options{Password: "password"}
	patch := func(old, new string) []byte {
		if len(old) != len(new) || !bytes.Contains(agile, []byte(old)) {
			t.Fatalf("%q does not stand in the file, or is not as long as %q", old, new)
		}
		return bytes.ReplaceAll(agile, []byte(old), []byte(new))
	}
	number := func(data []byte, at int, value ...byte) []byte {
		data = bytes.Clone(data)
		copy(data[at:], value)
		return data
	}
	return []hostileFile{
		{name: "agile without a password", data: agile, want: "encrypted-workbook"},
		{name: "standard without a password", data: standard, want: "encrypted-workbook"},
		{name: "agile with another password", data: agile, options: options{Password: "Password"}, want: "wrong-password"},
		{name: "standard with another password", data: standard, options: options{Password: "password"}, want: "wrong-password"},
		{name: "old workbook", data: readOther(t, "old.xls"), want: "not-a-workbook"},
		{name: "OpenDocument workbook", data: readOther(t, "opendocument.ods"), want: "not-a-workbook"},
		{name: "more than 16 MiB", data: append(bytes.Clone(agile), make([]byte, 16<<20)...), options: agilePassword, want: "workbook-too-large"},
		{name: "huge blocks", data: patch(`saltSize="16" blockSize="16"`, `blockSize="1099511627776"   `), options: agilePassword, want: "encrypted-workbook"},
		{name: "no blocks", data: patch(`blockSize="16"`, `blockSize="00"`), options: agilePassword, want: "encrypted-workbook"},
		{name: "huge key", data: patch(`keyBits="256"`, `keyBits="999"`), options: agilePassword, want: "encrypted-workbook"},
		{name: "unknown hash", data: patch(`hashAlgorithm="SHA512"`, `hashAlgorithm="SHA999"`), options: agilePassword, want: "encrypted-workbook"},
		{name: "settings that are no XML", data: patch(`<encryption`, `<<<<<<<<<<<`), options: agilePassword, want: "encrypted-workbook"},
		{name: "unknown version of encryption", data: bytes.ReplaceAll(agile, []byte("\x04\x00\x04\x00\x40\x00\x00\x00"), []byte("\x09\x00\x09\x00\x40\x00\x00\x00")), options: agilePassword, want: "encrypted-workbook"},
		{name: "FAT beyond the file", data: number(agile, 44, 0xFF, 0xFF, 0xFF, 0x0F), options: agilePassword, want: "encrypted-workbook"},
		{name: "mini FAT beyond the file", data: number(agile, 64, 0xFF, 0xFF, 0xFF, 0x0F), options: agilePassword, want: "encrypted-workbook"},
		{name: "directory outside the file", data: number(agile, 48, 0xFF, 0xFF, 0xFF, 0x0F), options: agilePassword, want: "encrypted-workbook"},
		{name: "compound file cut short", data: agile[:1024], options: agilePassword, want: "encrypted-workbook"},
		{name: "half of an encrypted workbook", data: agile[:len(agile)/2], options: agilePassword, want: "encrypted-workbook"},
		{name: "compound header only", data: agile[:512], options: agilePassword, want: "encrypted-workbook"},
		{name: "compound magic only", data: []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and so on"), want: "encrypted-workbook"},
	}
}

func TestCompoundRefused(t *testing.T) {
	t.Parallel()
	for i, tt := range compoundRefused(t) {
		if !*long && i%4 != 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			path := sheettest.Save(t, "leads.xlsx", tt.data)
			_, _, err := read(path, tt.options)
			if got := code(t, err); got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

// An encrypted workbook altered on its way gives an error, or all that it holds.
func TestCompoundDamaged(t *testing.T) {
	t.Parallel()
	whole := readOther(t, "encrypted-libreoffice.xlsx")
	o := options{Password: "pässword 1"}
	path := sheettest.Save(t, "leads.xlsx", whole)
	_, all, err := read(path, o)
	if err != nil {
		t.Fatal(err)
	}
	want := sheettest.Dump(all)
	for n := 0; n < len(whole); n += longOr(397, 9_973) {
		damaged := bytes.Clone(whole)
		damaged[n] ^= 1 << (n % 8)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, all, err := read(path, o); err == nil && sheettest.Dump(all) != want {
			t.Fatalf("bit flipped in byte %d: other rows and no error", n)
		}
	}
}
