package sheet

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/richardlehane/mscfb"
	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/problem"
)

// Limits for encrypted workbooks. They are decrypted in memory, which takes a
// few times their size, and making the key takes longer the more often the
// password is to be hashed; Excel and LibreOffice do so 100,000 times.
const (
	maxEncrypted = 256 << 20
	maxSpins     = 1_000_000
)

// settingsStream says how a workbook is encrypted.
const settingsStream = "EncryptionInfo"

// errCompound says that a compound file is damaged, or encrypted in a way that
// is not known.
var errCompound = errors.New("a compound file that cannot be read")

// decrypt gives the workbook in a compound file. It stays in memory.
func decrypt(file *os.File, password string) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxEncrypted {
		return nil, tooLarge("it is a compound file of more than 256 MiB")
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
	if err != nil {
		return nil, err
	}
	workbook, err := decryptCompound(raw, password)
	switch {
	case errors.Is(err, errCompound):
		return nil, problem.New("encrypted-workbook", "is damaged, or encrypted in a way that cannot be read; expected an .xlsx file, with a password as Excel sets it or without").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	case err != nil:
		return nil, err
	case !bytes.HasPrefix(workbook, []byte("PK")):
		return nil, problem.New("wrong-password", "cannot be decrypted: the password is not the workbook's").
			Hinted("look at what --password refers to; upper and lower case matter")
	}
	return workbook, nil
}

// decryptCompound tells encrypted workbooks from others and decrypts them;
// with a wrong password that gives noise. What the libraries make of a damaged
// file, a panic included, is errCompound.
func decryptCompound(raw []byte, password string) (workbook []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errCompound
		}
	}()
	streams, err := readCompound(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case streams["EncryptedPackage"] != nil && streams[settingsStream] != nil:
	case streams["Workbook"] != nil || streams["Book"] != nil:
		return nil, problem.New("not-a-workbook", "is an old .xls workbook; expected an .xlsx file").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	default:
		return nil, problem.New("not-a-workbook", "is a compound file, such as an old Word document, and not a workbook")
	}
	if password == "" {
		return nil, problem.New("encrypted-workbook", "is encrypted with a password").
			Hinted("give the password with --password env:NAME (or file:PATH, cmd:PROGRAM), or save the workbook without one")
	}
	if err := checkSettings(streams[settingsStream]); err != nil {
		return nil, err
	}
	if workbook, err = excelize.Decrypt(raw, &excelize.Options{Password: password}); err != nil {
		return nil, errCompound
	}
	return workbook, nil
}

// readCompound names the streams of a compound file and gives the one that
// says how it is encrypted. Its numbers are held against the file's size first, for
// the libraries believe them.
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
		if entry.Name == settingsStream {
			content := make([]byte, entry.Size)
			if _, err := io.ReadFull(entry, content); err != nil {
				return nil, errCompound
			}
			streams[entry.Name] = content
		}
	}
	return streams, nil
}

// checkSettings refuses agile encryption, which is described in XML, with
// numbers that would take all of the machine's time or memory.
func checkSettings(settings []byte) error {
	const agile, version = "\x04\x00\x04\x00", 8
	if !bytes.HasPrefix(settings, []byte(agile)) {
		return nil
	}
	var said struct {
		KeyData struct {
			BlockSize int `xml:"blockSize,attr"`
		} `xml:"keyData"`
		Keys []struct {
			Spins     int `xml:"spinCount,attr"`
			BlockSize int `xml:"blockSize,attr"`
		} `xml:"keyEncryptors>keyEncryptor>encryptedKey"`
	}
	const aesBlock = 16
	if len(settings) < version || xml.Unmarshal(settings[version:], &said) != nil || said.KeyData.BlockSize != aesBlock {
		return errCompound
	}
	for _, key := range said.Keys {
		if key.Spins < 0 || key.Spins > maxSpins || key.BlockSize != aesBlock {
			return errCompound
		}
	}
	return nil
}
