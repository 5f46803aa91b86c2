package xlsx

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"hash"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"

	"claimsheet/mapping/problem"
)

// Limits for encrypted workbooks. Decrypting in memory takes a few times their size.
// The key takes longer the more often the password is hashed; Excel and LibreOffice
// hash it 100,000 times.
const (
	maxEncrypted = 256 << 20
	maxSpins     = 1_000_000
)

// The streams of an encrypted workbook: its settings and the workbook itself.
const (
	settingsStream = "EncryptionInfo"
	packageStream  = "EncryptedPackage"
)

// excelsPassword is Excel's default password, for workbooks that open without one,
// such as those that are only protected against changes.
const excelsPassword = "VelvetSweatshop"

// errCompound reports a compound file that is damaged, or encrypted in an unknown
// way.
var errCompound = errors.New("a compound file that cannot be read")

// encryption is a way in which workbooks are encrypted.
type encryption interface {
	// key returns the key of the package if the password is right.
	key(password string) (key []byte, right bool)
	// decryptPackage decrypts data in place.
	decryptPackage(key, data []byte)
}

// Decrypt returns the workbook in a compound file, decrypted in memory. secret
// reports that it needed the password: Excel does not ask for one where its own
// default password is right. An error is a problem.Problem without a place, or an
// error of the disk.
func Decrypt(file io.ReaderAt, size int64, password string) (workbook []byte, secret bool, err error) {
	if size > maxEncrypted {
		return nil, false, tooLarge("it is a compound file of more than 256 MiB")
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if err != nil {
		return nil, false, err
	}
	workbook, secret, err = decryptCompound(raw, password)
	if errors.Is(err, errCompound) {
		err = problem.New("encrypted-workbook", "is damaged, or encrypted in a way that cannot be read; expected an .xlsx file, with a password as Excel sets it or without").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	}
	return workbook, secret, err
}

// decryptCompound recognises and decrypts an encrypted workbook. A damaged file
// gives errCompound, even where a library panics.
func decryptCompound(raw []byte, password string) (workbook []byte, secret bool, err error) {
	defer func() {
		if recover() != nil {
			err = errCompound
		}
	}()
	streams, err := readCompound(raw)
	if err != nil {
		return nil, false, err
	}
	data, settings := streams[packageStream], streams[settingsStream]
	switch {
	case data != nil && settings != nil:
	case streams["Workbook"] != nil || streams["Book"] != nil:
		return nil, false, problem.New("not-a-workbook", "is an old .xls workbook; expected an .xlsx file").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	default:
		return nil, false, problem.New("not-a-workbook", "is a compound file, such as an old Word document, and not a workbook")
	}
	way, err := readEncryption(settings)
	if err != nil {
		return nil, false, err
	}
	key, right := way.key(excelsPassword)
	if !right && password == "" {
		return nil, false, problem.New("encrypted-workbook", "is encrypted with a password").
			Hinted("pass it with --password env:NAME (or file:PATH, cmd:PROGRAM), or save the workbook without one")
	}
	if !right {
		key, secret = way.key(password)
		if !secret {
			return nil, false, problem.New("wrong-password", "cannot be decrypted: the password is not the workbook's").
				Hinted("check what --password refers to; upper and lower case matter")
		}
	}
	const sizeBytes = 8 // of the workbook, before it is padded
	if len(data) < sizeBytes || binary.LittleEndian.Uint64(data) > uint64(len(data)-sizeBytes) {
		return nil, false, errCompound
	}
	size := binary.LittleEndian.Uint64(data)
	data = data[sizeBytes:]
	way.decryptPackage(key, data)
	return data[:size], secret, nil
}

// readEncryption reads the settings by their version.
func readEncryption(settings []byte) (encryption, error) {
	const versionAndFlags = 8
	if len(settings) < versionAndFlags {
		return nil, errCompound
	}
	major, minor := binary.LittleEndian.Uint16(settings), binary.LittleEndian.Uint16(settings[2:])
	switch {
	case major == 4 && minor == 4:
		return readAgile(settings[versionAndFlags:])
	case major >= 2 && major <= 4 && minor == 2:
		return readStandard(settings[versionAndFlags:])
	}
	return nil, errCompound
}

// readCompound returns the streams of a compound file by name, with the contents of
// those of an encrypted workbook. It first compares the header's numbers with the
// file's size, because the library trusts them.
func readCompound(raw []byte) (map[string][]byte, error) {
	const headerSize = 512
	if len(raw) < headerSize {
		return nil, errCompound
	}
	for _, at := range []int{40, 44, 64, 72} { // sectors of the directory, the FAT, the mini FAT, the DIFAT
		if int64(binary.LittleEndian.Uint32(raw[at:]))*headerSize > int64(len(raw)) {
			return nil, errCompound
		}
	}
	doc, err := mscfb.New(bytes.NewReader(raw))
	if err != nil {
		return nil, errCompound
	}
	streams := map[string][]byte{}
	for entry, err := doc.Next(); err == nil; entry, err = doc.Next() {
		_, twice := streams[entry.Name] // names in storages of their own may be the same
		if twice && strings.HasPrefix(entry.Name, "Encrypt") || entry.Size < 0 || entry.Size > int64(len(raw)) {
			return nil, errCompound
		}
		streams[entry.Name] = []byte{}
		if entry.Name == settingsStream || entry.Name == packageStream {
			content := make([]byte, entry.Size)
			if _, err := io.ReadFull(entry, content); err != nil {
				return nil, errCompound
			}
			streams[entry.Name] = content
		}
	}
	return streams, nil
}

// agileEncryption is Excel's encryption since 2010: AES in chained blocks. The key is
// random and encrypted with another one, made from the password. The settings are
// XML ([MS-OFFCRYPTO] 2.3.4.10).
type agileEncryption struct {
	Data agileCipher `xml:"keyData"`
	Keys []agileKey  `xml:"keyEncryptors>keyEncryptor>encryptedKey"`
}

// agileKey is a key that a password opens. A file may have others, which need a
// certificate.
type agileKey struct {
	agileCipher
	Spins    int         `xml:"spinCount,attr"`
	Verifier base64Bytes `xml:"encryptedVerifierHashInput,attr"`
	Hash     base64Bytes `xml:"encryptedVerifierHashValue,attr"`
	Key      base64Bytes `xml:"encryptedKeyValue,attr"`
}

// agileCipher is how something is encrypted.
type agileCipher struct {
	BlockSize int         `xml:"blockSize,attr"`
	KeyBits   int         `xml:"keyBits,attr"`
	SaltSize  int         `xml:"saltSize,attr"`
	Algorithm string      `xml:"cipherAlgorithm,attr"`
	Chaining  string      `xml:"cipherChaining,attr"`
	HashName  string      `xml:"hashAlgorithm,attr"`
	Salt      base64Bytes `xml:"saltValue,attr"`
}

type base64Bytes []byte

func (b *base64Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = base64.StdEncoding.DecodeString(string(text))
	return err
}

// agileHashes are the hash functions, as settings name them.
var agileHashes = map[string]func() hash.Hash{
	"SHA512": sha512.New, "SHA384": sha512.New384, "SHA256": sha256.New, "SHA1": sha1.New, "SHA-1": sha1.New, "MD5": md5.New,
}

// The bytes that are hashed after the password, by use.
var (
	agileVerifierUse = []byte{0xFE, 0xA7, 0xD2, 0x76, 0x3B, 0x4B, 0x9E, 0x79}
	agileHashUse     = []byte{0xD7, 0xAA, 0x0F, 0x6D, 0x30, 0x61, 0x34, 0x4E}
	agileKeyUse      = []byte{0x14, 0x6E, 0x0B, 0xE7, 0xAB, 0xAC, 0xD0, 0xD6}
)

// agileSegment is the length of the pieces that are chained separately.
const agileSegment = 4096

// maxAgileSettings and maxSalt bound what is parsed and hashed repeatedly.
const (
	maxAgileSettings = 1 << 20
	maxSalt          = 1 << 10
)

// readAgile reads settings and refuses those that are unknown, or would take too
// long.
func readAgile(settings []byte) (*agileEncryption, error) {
	e := &agileEncryption{}
	if len(settings) > maxAgileSettings || xml.Unmarshal(settings, e) != nil {
		return nil, errCompound
	}
	e.Keys = slices.DeleteFunc(e.Keys, func(k agileKey) bool {
		return k.Spins <= 0 || k.Spins > maxSpins || !k.isKnown() || len(k.Hash) < k.newHash().Size()
	})
	if len(e.Keys) == 0 || !e.Data.isKnown() {
		return nil, errCompound
	}
	return e, nil
}

func (c *agileCipher) isKnown() bool {
	return c.BlockSize == aes.BlockSize && len(c.Salt) <= maxSalt && (c.KeyBits == 128 || c.KeyBits == 192 || c.KeyBits == 256) &&
		c.Algorithm == "AES" && c.Chaining == "ChainingModeCBC" && agileHashes[strings.ToUpper(c.HashName)] != nil
}

func (c *agileCipher) newHash() hash.Hash { return agileHashes[strings.ToUpper(c.HashName)]() }

func (e *agileEncryption) key(password string) (key []byte, right bool) {
	key, right = e.Keys[0].open(password)
	if !right || len(key) < e.Data.KeyBits/8 {
		return nil, false
	}
	return key[:e.Data.KeyBits/8], true // it was padded to whole blocks
}

func (k *agileKey) open(password string) (key []byte, right bool) {
	h := k.newHash()
	sum := spin(h, k.Salt, password, k.Spins)
	decrypt := func(use, data []byte) []byte {
		h.Reset()
		h.Write(sum)
		h.Write(use)
		data = bytes.Clone(data)
		k.decryptBlocks(fit(h.Sum(nil), k.KeyBits/8), fit(k.Salt, k.BlockSize), data)
		return data
	}
	verifier := decrypt(agileVerifierUse, k.Verifier)
	h.Reset()
	h.Write(verifier[:min(k.SaltSize, len(verifier))])
	if !bytes.Equal(h.Sum(nil), decrypt(agileHashUse, k.Hash)[:h.Size()]) {
		return nil, false
	}
	return decrypt(agileKeyUse, k.Key), true
}

// spin hashes a password many times, so that guessing it takes long.
func spin(h hash.Hash, salt []byte, password string, times int) []byte {
	h.Write(salt)
	h.Write(utf16LittleEndian(password))
	sum := h.Sum(nil)
	var count [4]byte
	for i := range times {
		binary.LittleEndian.PutUint32(count[:], uint32(i))
		h.Reset()
		h.Write(count[:])
		h.Write(sum)
		sum = h.Sum(sum[:0])
	}
	return sum
}

// decryptPackage decrypts in place.
func (e *agileEncryption) decryptPackage(key, data []byte) {
	h := e.Data.newHash()
	var count [4]byte
	for i := 0; i*agileSegment < len(data); i++ {
		binary.LittleEndian.PutUint32(count[:], uint32(i))
		h.Reset()
		h.Write(e.Data.Salt)
		h.Write(count[:])
		e.Data.decryptBlocks(key, fit(h.Sum(nil), e.Data.BlockSize), data[i*agileSegment:min(len(data), (i+1)*agileSegment)])
	}
}

// decryptBlocks decrypts the whole blocks of data, in place.
func (c *agileCipher) decryptBlocks(key, iv, data []byte) {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("xlsx: a key of a length that was checked: " + err.Error())
	}
	data = data[:len(data)/aes.BlockSize*aes.BlockSize]
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
}

// fit cuts or pads to a length.
func fit(b []byte, n int) []byte {
	fitted := bytes.Repeat([]byte{0x36}, n)
	copy(fitted, b)
	return fitted
}

// standardEncryption is the encryption of Excel 2007 and of programs compatible with
// it: AES block by block, with a key made from the password ([MS-OFFCRYPTO]
// 2.3.4.5).
type standardEncryption struct {
	keySize  int // in bytes
	salt     []byte
	verifier []byte
	hash     []byte
}

// standardSpins is how often the password is hashed.
const standardSpins = 50_000

// readStandard reads the settings after their version and flags.
func readStandard(settings []byte) (*standardEncryption, error) {
	const (
		algorithmAt, keyBitsAt, leastHeader   = 8, 16, 32
		saltAt, verifierAt, hashAt, leastTail = 4, 20, 40, 72
	)
	if len(settings) < 4 {
		return nil, errCompound
	}
	size := binary.LittleEndian.Uint32(settings)
	settings = settings[4:]
	if size < leastHeader || uint64(size)+leastTail > uint64(len(settings)) {
		return nil, errCompound
	}
	header, tail := settings[:size], settings[size:]
	keyBits := binary.LittleEndian.Uint32(header[keyBitsAt:])
	switch algorithm := binary.LittleEndian.Uint32(header[algorithmAt:]); {
	case algorithm != 0 && (algorithm < 0x660E || algorithm > 0x6610): // AES of 128, 192 and 256 bits
		return nil, errCompound
	case keyBits != 128 && keyBits != 192 && keyBits != 256:
		return nil, errCompound
	}
	return &standardEncryption{
		keySize: int(keyBits / 8), salt: tail[saltAt:verifierAt], verifier: tail[verifierAt : verifierAt+16], hash: tail[hashAt:leastTail],
	}, nil
}

func (e *standardEncryption) key(password string) (key []byte, right bool) {
	h := sha1.New()
	sum := spin(h, e.salt, password, standardSpins)
	h.Reset()
	h.Write(sum)
	h.Write(make([]byte, 4))
	sum = h.Sum(nil)
	for _, pad := range []byte{0x36, 0x5C} {
		block := bytes.Repeat([]byte{pad}, sha1.BlockSize)
		for i, b := range sum {
			block[i] ^= b
		}
		part := sha1.Sum(block)
		key = append(key, part[:]...)
	}
	key = key[:e.keySize]
	verifier, hash := bytes.Clone(e.verifier), bytes.Clone(e.hash)
	e.decryptPackage(key, verifier)
	e.decryptPackage(key, hash)
	want := sha1.Sum(verifier)
	return key, bytes.Equal(want[:], hash[:sha1.Size])
}

// decryptPackage decrypts the whole blocks of data, in place.
func (e *standardEncryption) decryptPackage(key, data []byte) {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("xlsx: a key of a length that was checked: " + err.Error())
	}
	for ; len(data) >= aes.BlockSize; data = data[aes.BlockSize:] {
		block.Decrypt(data, data)
	}
}

// utf16LittleEndian encodes a text as Windows holds it in memory.
func utf16LittleEndian(s string) []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b
}
