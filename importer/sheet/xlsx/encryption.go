package xlsx

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"

	"github.com/richardlehane/mscfb"
	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/problem"
)

// Limits for encrypted workbooks. They are decrypted in memory, and the time that
// mscfb takes grows with the square of the size: a second at 16 MiB. The key takes
// longer the more often the password is hashed; Excel and LibreOffice hash it 100,000
// times.
const (
	maxEncrypted = 16 << 20
	maxSettings  = 16 << 10
	maxSpins     = 200_000
)

// excelsPassword is Excel's default password, for workbooks that open without one,
// such as those that are only protected against changes.
const excelsPassword = "VelvetSweatshop"

// errCompound reports a compound file that is damaged, or encrypted in an unknown
// way.
var errCompound = errors.New("a compound file that cannot be read")

// Decrypt returns the workbook in a compound file, decrypted in memory. secret
// reports that it needed the password: Excel does not ask for one where its own
// default password is right. An error is a problem.Problem without a place, or an
// error of the disk.
func Decrypt(file io.ReaderAt, size int64, password string) (workbook []byte, secret bool, err error) {
	if size > maxEncrypted {
		return nil, false, problem.New("workbook-too-large", "is an encrypted or old workbook of more than 16 MiB").
			Hinted("open it in a spreadsheet program and save it as .xlsx without a password")
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
	if err := checkCompound(raw); err != nil {
		return nil, false, err
	}
	for _, try := range []string{excelsPassword, password} {
		if try == "" {
			continue
		}
		workbook, err := excelize.Decrypt(raw, &excelize.Options{Password: try})
		if err != nil {
			return nil, false, errCompound
		}
		// Only what comes out shows whether the password was right.
		if bytes.HasPrefix(workbook, []byte("PK\x03\x04")) {
			return workbook, try != excelsPassword, nil
		}
	}
	if password == "" {
		return nil, false, problem.New("encrypted-workbook", "is encrypted with a password").
			Hinted("pass it with --password env:NAME (or file:PATH, cmd:PROGRAM), or save the workbook without one")
	}
	return nil, false, problem.New("wrong-password", "cannot be decrypted: wrong password, or damaged").
		Hinted("check what --password refers to; upper and lower case matter")
}

// checkCompound refuses what is not an encrypted workbook, and one whose numbers would
// make the libraries take too much memory or time: they trust most of them.
func checkCompound(raw []byte) error {
	const headerSize = 512
	if len(raw) < headerSize {
		return errCompound
	}
	for _, at := range []int{40, 44, 64, 72} { // sectors of the directory, the FAT, the mini FAT, the DIFAT
		if int64(binary.LittleEndian.Uint32(raw[at:]))*headerSize > int64(len(raw)) {
			return errCompound
		}
	}
	doc, err := mscfb.New(bytes.NewReader(raw))
	if err != nil {
		return errCompound
	}
	streams := map[string]int{} // by name: how many
	var settings []byte
	for entry, err := doc.Next(); err == nil; entry, err = doc.Next() {
		streams[entry.Name]++
		if entry.Name != "EncryptionInfo" {
			continue
		}
		if entry.Size < 0 || entry.Size > maxSettings {
			return errCompound
		}
		settings = make([]byte, entry.Size)
		if _, err := io.ReadFull(entry, settings); err != nil {
			return errCompound
		}
	}
	switch {
	case streams["EncryptionInfo"] == 1 && streams["EncryptedPackage"] == 1:
		return checkSpins(settings)
	case streams["EncryptionInfo"]+streams["EncryptedPackage"] > 0:
		return errCompound
	case streams["Workbook"]+streams["Book"] > 0:
		return problem.New("not-a-workbook", "is an old .xls workbook; expected an .xlsx file").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	}
	return problem.New("not-a-workbook", "is a compound file, such as an old Word document, and not a workbook")
}

// checkSpins refuses settings that ask to hash the password too often. Those of Excel
// 2007, which are not XML, have a fixed number.
func checkSpins(settings []byte) error {
	const versionAndFlags = 8
	if !bytes.HasPrefix(settings, []byte{4, 0, 4, 0}) {
		return nil
	}
	var e excelize.Encryption
	if len(settings) < versionAndFlags || xml.Unmarshal(settings[versionAndFlags:], &e) != nil {
		return errCompound
	}
	for _, key := range e.KeyEncryptors.KeyEncryptor {
		if key.EncryptedKey.SpinCount > maxSpins {
			return errCompound
		}
	}
	return nil
}
