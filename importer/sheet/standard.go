package sheet

import (
	"bytes"
	"crypto/aes"
	"crypto/sha1"
	"encoding/binary"
	"unicode/utf16"
)

// standardEncryption is that of Excel 2007, and of programs that want to be read
// by it: AES block by block, by a key made from the password ([MS-OFFCRYPTO]
// 2.3.4.5).
type standardEncryption struct {
	keySize  int // in bytes
	salt     []byte
	verifier []byte
	hash     []byte
}

// standardSpins is how often the password is hashed.
const standardSpins = 50_000

// readStandard reads settings, which begin behind their version and flags.
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
		panic("sheet: a key of a length that was checked: " + err.Error())
	}
	for ; len(data) >= aes.BlockSize; data = data[aes.BlockSize:] {
		block.Decrypt(data, data)
	}
}

// utf16LittleEndian is a text as Windows has it in memory.
func utf16LittleEndian(s string) []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b
}
