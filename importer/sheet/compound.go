package sheet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/richardlehane/mscfb"

	"claimsheet/mapping/problem"
)

// Limits for encrypted workbooks. They are decrypted in memory, which takes a
// few times their size, and making the key takes longer the more often the
// password is to be hashed; Excel and LibreOffice do so 100,000 times.
const (
	maxEncrypted = 256 << 20
	maxSpins     = 1_000_000
)

// The streams of an encrypted workbook: how it is encrypted, and itself.
const (
	settingsStream = "EncryptionInfo"
	packageStream  = "EncryptedPackage"
)

// excelsPassword is the one under which Excel encrypts workbooks that need none
// to be opened, such as those that are only protected against changes.
const excelsPassword = "VelvetSweatshop"

// errCompound says that a compound file is damaged, or encrypted in a way that
// is not known.
var errCompound = errors.New("a compound file that cannot be read")

// encryption is a way in which workbooks are encrypted.
type encryption interface {
	// key is the key of the package, if the password is right.
	key(password string) (key []byte, right bool)
	// decryptPackage decrypts data in place.
	decryptPackage(key, data []byte)
}

// decrypt gives the workbook in a compound file, which stays in memory. secret
// reports that it took the password, for Excel asks for none where its own is
// right.
func decrypt(file *os.File, password string) (workbook []byte, secret bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	if info.Size() > maxEncrypted {
		return nil, false, tooLarge("it is a compound file of more than 256 MiB")
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
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

// decryptCompound tells encrypted workbooks from others and decrypts them. What
// is made of a damaged file, a panic included, is errCompound.
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
			Hinted("give the password with --password env:NAME (or file:PATH, cmd:PROGRAM), or save the workbook without one")
	}
	if !right {
		key, secret = way.key(password)
		if !secret {
			return nil, false, problem.New("wrong-password", "cannot be decrypted: the password is not the workbook's").
				Hinted("look at what --password refers to; upper and lower case matter")
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

// readCompound names the streams of a compound file and gives those of an
// encrypted workbook. Its numbers are held against the file's size first, for
// the library believes them.
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
