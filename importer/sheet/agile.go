package sheet

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
	"hash"
	"slices"
	"strings"
)

// agileEncryption is what Excel has written since 2010: AES in chained blocks, by
// a key of its own, which is encrypted with one made from the password. Its
// settings are XML ([MS-OFFCRYPTO] 2.3.4.10).
type agileEncryption struct {
	Data agileCipher `xml:"keyData"`
	Keys []agileKey  `xml:"keyEncryptors>keyEncryptor>encryptedKey"`
}

// agileKey is the key that a password opens. Beside it a file may have others,
// which need a certificate.
type agileKey struct {
	agileCipher
	Spins    int         `xml:"spinCount,attr"`
	Verifier base64Bytes `xml:"encryptedVerifierHashInput,attr"`
	Hash     base64Bytes `xml:"encryptedVerifierHashValue,attr"`
	Key      base64Bytes `xml:"encryptedKeyValue,attr"`
}

// agileCipher says how something is encrypted.
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

// What is hashed behind the password for each use of it.
var (
	agileVerifierUse = []byte{0xFE, 0xA7, 0xD2, 0x76, 0x3B, 0x4B, 0x9E, 0x79}
	agileHashUse     = []byte{0xD7, 0xAA, 0x0F, 0x6D, 0x30, 0x61, 0x34, 0x4E}
	agileKeyUse      = []byte{0x14, 0x6E, 0x0B, 0xE7, 0xAB, 0xAC, 0xD0, 0xD6}
)

// agileSegment is the length of the pieces that are chained each by itself.
const agileSegment = 4096

// maxAgileSettings and maxSalt bound what is read and hashed again and again.
const (
	maxAgileSettings = 1 << 20
	maxSalt          = 1 << 10
)

// readAgile reads settings and refuses what cannot be done, or would take all of
// the machine's time.
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

// key gives the key of the package if the password is right.
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

// spin hashes a password so often that trying many takes long.
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
		panic("sheet: a key of a length that was checked: " + err.Error())
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
