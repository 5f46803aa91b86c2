package xlsx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/richardlehane/mscfb"
	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/problem"
)

// maxEncrypted bounds encrypted workbooks. They are decrypted in memory, and the time that
// mscfb takes grows with the square of the size: a second at 16 MiB.
const maxEncrypted = 16 << 20

// errCompound reports a compound file that is damaged, or encrypted in an unknown
// way.
var errCompound = errors.New("a compound file that cannot be read")

// Decrypt returns the workbook in a compound file, decrypted in memory. An error is a
// problem.Problem without a place, or an error of the disk.
func Decrypt(file io.ReaderAt, size int64, password string) (workbook []byte, err error) {
	if size > maxEncrypted {
		return nil, problem.New("workbook-too-large", "is an encrypted or old workbook of more than 16 MiB").
			Hinted("open it in a spreadsheet program and save it as .xlsx without a password")
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if err != nil {
		return nil, err
	}
	workbook, err = decryptCompound(raw, password)
	if errors.Is(err, errCompound) {
		err = problem.New("encrypted-workbook",
			"is damaged, or encrypted in a way that cannot be read; expected an .xlsx file, with a password as Excel sets it or without").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	}
	return workbook, err
}

// decryptCompound recognises and decrypts an encrypted workbook. A damaged file
// gives errCompound, even where a library panics.
func decryptCompound(raw []byte, password string) (workbook []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errCompound
		}
	}()
	if err := checkCompound(raw); err != nil {
		return nil, err
	}
	if password == "" {
		return nil, problem.New("encrypted-workbook", "is encrypted with a password").
			Hinted("pass it with --password env:NAME (or file:PATH, cmd:PROGRAM), or save the workbook without one")
	}
	workbook, err = excelize.Decrypt(raw, &excelize.Options{Password: password})
	if err != nil {
		return nil, errCompound
	}
	// Only what comes out shows whether the password was right.
	if !bytes.HasPrefix(workbook, []byte("PK\x03\x04")) {
		return nil, problem.New("wrong-password", "cannot be decrypted: wrong password, or damaged").
			Hinted("check what --password refers to; upper and lower case matter")
	}
	return workbook, nil
}

// checkCompound refuses what is not an encrypted workbook, and one whose header would make the libraries take too
// much memory: they trust it.
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
	has := map[string]bool{} // streams by name
	for entry, err := doc.Next(); err == nil; entry, err = doc.Next() {
		has[entry.Name] = true
	}
	switch {
	case has["EncryptionInfo"] && has["EncryptedPackage"]:
		return nil
	case has["Workbook"] || has["Book"]:
		return problem.New("not-a-workbook", "is an old .xls workbook; expected an .xlsx file").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	}
	return problem.New("not-a-workbook", "is a compound file, such as an old Word document, and not a workbook")
}
