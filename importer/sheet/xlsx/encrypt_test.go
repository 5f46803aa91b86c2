package xlsx_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/importer/sheet/sheettest"
)

// agileSettings are ways to encrypt a workbook as Excel does since 2010.
type agileSettings struct {
	bits, keyBits int // of the package's key and of the password's
	hash          string
	certificate   bool // another key comes before the password's
}

func (a agileSettings) newHash() hash.Hash {
	return map[string]func() hash.Hash{"SHA1": sha1.New, "SHA256": sha256.New, "SHA384": sha512.New384, "SHA512": sha512.New}[a.hash]()
}

func (a agileSettings) sum(parts ...[]byte) []byte {
	h := a.newHash()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

func fitted(b []byte, n int) []byte {
	return append(slices.Clone(b), bytes.Repeat([]byte{0x36}, max(0, n-len(b)))...)[:n]
}

// chained encrypts data, padded to whole blocks.
func chained(key, iv, data []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := append(slices.Clone(data), make([]byte, -len(data)&15)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
	return out
}

// encrypt encrypts a workbook with a password, by the steps of [MS-OFFCRYPTO].
func (a agileSettings) encrypt(workbook []byte, password string) []byte {
	const spins = 1_000
	dataSalt, keySalt := random(16), random(16)
	var typed []byte
	for _, unit := range utf16.Encode([]rune(password)) {
		typed = binary.LittleEndian.AppendUint16(typed, unit)
	}
	sum := a.sum(keySalt, typed)
	for i := range spins {
		sum = a.sum(binary.LittleEndian.AppendUint32(nil, uint32(i)), sum)
	}
	encrypted := func(use string, data []byte) string {
		return base64.StdEncoding.EncodeToString(chained(fitted(a.sum(sum, []byte(use)), a.keyBits/8), keySalt, data))
	}
	key, verifier := random(a.bits/8), random(16)
	cipherOf := func(bits int, salt []byte) string {
		return fmt.Sprintf(`saltSize="16" blockSize="16" keyBits="%d" hashSize="%d" cipherAlgorithm="AES" cipherChaining="ChainingModeCBC" hashAlgorithm="%s" saltValue="%s"`,
			bits, a.newHash().Size(), a.hash, base64.StdEncoding.EncodeToString(salt))
	}
	other := ""
	if a.certificate {
		other = `<keyEncryptor uri="http://schemas.microsoft.com/office/2006/keyEncryptor/certificate"><c:encryptedKey encryptedKeyValue="AAAA" X509Certificate="AAAA" certVerifier="AAAA"/></keyEncryptor>`
	}
	xml := `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\r\n" +
		`<encryption xmlns="http://schemas.microsoft.com/office/2006/encryption" xmlns:p="http://schemas.microsoft.com/office/2006/keyEncryptor/password" xmlns:c="http://schemas.microsoft.com/office/2006/keyEncryptor/certificate"><keyData ` +
		cipherOf(a.bits, dataSalt) + `/><keyEncryptors>` + other + `<keyEncryptor uri="http://schemas.microsoft.com/office/2006/keyEncryptor/password"><p:encryptedKey spinCount="` +
		fmt.Sprint(spins) + `" ` + cipherOf(a.keyBits, keySalt) +
		` encryptedVerifierHashInput="` + encrypted("\xFE\xA7\xD2\x76\x3B\x4B\x9E\x79", verifier) +
		`" encryptedVerifierHashValue="` + encrypted("\xD7\xAA\x0F\x6D\x30\x61\x34\x4E", a.sum(verifier)) +
		`" encryptedKeyValue="` + encrypted("\x14\x6E\x0B\xE7\xAB\xAC\xD0\xD6", key) + `"/></keyEncryptor></keyEncryptors></encryption>`
	data := binary.LittleEndian.AppendUint64(nil, uint64(len(workbook)))
	for i := 0; i*4096 < len(workbook); i++ {
		iv := fitted(a.sum(dataSalt, binary.LittleEndian.AppendUint32(nil, uint32(i))), 16)
		data = append(data, chained(key, iv, workbook[i*4096:min(len(workbook), (i+1)*4096)])...)
	}
	return compoundOf(map[string][]byte{
		"EncryptionInfo":   []byte("\x04\x00\x04\x00\x40\x00\x00\x00" + xml + strings.Repeat(" ", max(0, 4096-len(xml)))),
		"EncryptedPackage": append(data, make([]byte, max(0, 4096-len(data)))...),
	})
}

// compoundOf returns a compound file of streams of 4,096 bytes or more: shorter ones
// would share sectors.
func compoundOf(streams map[string][]byte) []byte {
	const size, free, end, fatSector = 512, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
	sectors := func(n int) int { return (n + size - 1) / size }
	total := 1 // the directory
	for _, data := range streams {
		total += sectors(len(data))
	}
	fats := 1
	for (total+fats)*4 > fats*size {
		fats++
	}
	le := binary.LittleEndian
	header := append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), make([]byte, 16)...)
	for _, n := range []uint16{0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0} { // version 3, sectors of 2^9 and 2^6 bytes
		header = le.AppendUint16(header, n)
	}
	for _, n := range []uint32{0, uint32(fats), uint32(fats), 0, 4096, end, 0, end, 0} { // the directory follows the FAT
		header = le.AppendUint32(header, n)
	}
	var fat, body []byte
	for i := range 109 {
		n := uint32(free)
		if i < fats {
			n = uint32(i)
			fat = le.AppendUint32(fat, fatSector)
		}
		header = le.AppendUint32(header, n)
	}
	fat = le.AppendUint32(fat, end)
	entry := func(name string, kind byte, left, right, child, start, length uint32) []byte {
		b := make([]byte, 64)
		for i, unit := range utf16.Encode([]rune(name)) {
			le.PutUint16(b[2*i:], unit)
		}
		b = append(le.AppendUint16(b, uint16(2*len(name)+2)), kind, 1)
		for _, n := range []uint32{left, right, child} {
			b = le.AppendUint32(b, n)
		}
		b = append(b, make([]byte, 36)...)
		return append(le.AppendUint32(le.AppendUint32(b, start), length), 0, 0, 0, 0)
	}
	names := []string{"EncryptedPackage", "EncryptionInfo"} // in the order of the file: by length, then by name
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) })
	directory := entry("Root Entry", 5, free, free, 1, end, 0)
	next := uint32(fats + 1)
	for i, name := range names {
		right := uint32(free)
		if i+1 < len(names) {
			right = uint32(i + 2)
		}
		data := streams[name]
		directory = append(directory, entry(name, 2, free, right, free, next, uint32(len(data)))...)
		body = append(append(body, data...), make([]byte, -len(data)&(size-1))...)
		for i := range sectors(len(data)) {
			n := next + 1
			if i+1 == sectors(len(data)) {
				n = end
			}
			fat = le.AppendUint32(fat, n)
			next++
		}
	}
	directory = append(directory, make([]byte, size-len(directory))...)
	fat = append(fat, bytes.Repeat([]byte{0xFF}, fats*size-len(fat))...)
	return slices.Concat(header, fat, directory, body)
}

// largeWorkbook is more than a few segments long when it is packed.
func largeWorkbook() []byte {
	var xml strings.Builder
	for i := range 900 {
		fmt.Fprintf(&xml, `<row r="%d"><c t="str"><v>%x</v></c></row>`, i+2, sha1.Sum([]byte{byte(i), byte(i >> 8)}))
	}
	return sheettest.Workbook(sheettest.Rows(xml.String())).Zip()
}

func TestAgileEncryption(t *testing.T) {
	t.Parallel()
	plain := largeWorkbook()
	_, rowsOf, err := read(sheettest.Save(t, "leads.xlsx", plain), options{})
	if err != nil || len(rowsOf) != 900 {
		t.Fatal(len(rowsOf), err)
	}
	for _, a := range []agileSettings{
		{128, 128, "SHA1", false}, {128, 128, "SHA512", false}, {192, 192, "SHA512", false}, {192, 192, "SHA1", false}, {192, 192, "SHA256", true},
		{256, 256, "SHA512", false}, {256, 256, "SHA384", true}, {256, 256, "SHA1", false}, {128, 256, "SHA256", false}, {192, 128, "SHA384", false},
	} {
		t.Run(fmt.Sprintf("%+v", a), func(t *testing.T) {
			data := a.encrypt(plain, "pässword 😀")
			path := sheettest.Save(t, "leads.xlsx", data)
			r, err := open(path, options{Password: "pässword 😀"})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			all, err := sheettest.Collect(r.Records())
			if err != nil || !r.encrypted {
				t.Fatal(err, r.encrypted)
			}
			if diff := cmp.Diff(sheettest.Dump(rowsOf), sheettest.Dump(all)); diff != "" {
				t.Error(diff)
			}
			for password, want := range map[string]string{"": "encrypted-workbook", "password": "wrong-password"} {
				_, _, err := read(path, options{Password: password})
				if got := code(t, err); got != want {
					t.Errorf("password %q: %v, want %s", password, err, want)
				}
			}
		})
	}
}

// A workbook that Excel opens without asking is opened without a password, and
// whatever password is given for others.
func TestExcelsOwnPassword(t *testing.T) {
	t.Parallel()
	plain := largeWorkbook() // excelize loses small ones
	standard, err := excelize.Encrypt(plain, &excelize.Options{Password: "VelvetSweatshop"})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"agile": agileSettings{256, 256, "SHA512", false}.encrypt(plain, "VelvetSweatshop"), "standard": standard,
	} {
		for _, password := range []string{"", "another", "VelvetSweatshop"} {
			r, err := open(sheettest.Save(t, "leads.xlsx", data), options{Password: password})
			if err != nil {
				t.Errorf("%s, %q: %v", name, password, err)
				continue
			}
			all, err := sheettest.Collect(r.Records())
			if err != nil || len(all) != 900 || r.encrypted {
				t.Errorf("%s, %q: %d rows, %v, encrypted: %t", name, password, len(all), err, r.encrypted)
			}
			r.Close()
		}
	}
}
