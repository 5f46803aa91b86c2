package sheet

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"claimsheet/mapping/problem"
)

// openFile opens a file that looks like a workbook: a zip file. What else
// people name .xlsx gets an answer of its own.
func openFile(path string) (*os.File, error) {
	at := problem.Where{File: path}
	info, err := os.Stat(path) // before opening: opening a pipe would wait for ever
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem.At(at, "no-such-file", "no such file")
	case err != nil:
		return nil, asProblem(path, err)
	case info.IsDir():
		return nil, problem.At(at, "not-a-workbook", "is a folder, not a workbook").
			Hinted("name the .xlsx file in it")
	case !info.Mode().IsRegular():
		return nil, problem.At(at, "not-a-workbook", "is not a regular file")
	case info.Size() == 0:
		return nil, problem.At(at, "not-a-workbook", "is empty (0 bytes), not a workbook").
			Hinted("export the sheet again")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, asProblem(path, err)
	}
	if err := checkMagic(file, at); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// checkMagic looks at the first bytes of the file.
func checkMagic(file io.ReaderAt, at problem.Where) error {
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return asProblem(at.File, err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		return nil
	case bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0")): // a compound file: .xls, or .xlsx with a password
		return problem.At(at, "encrypted-workbook", "is encrypted or an old .xls workbook; expected an .xlsx file").
			Hinted("save it as .xlsx without a password")
	case bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(head)), []byte("<")):
		return problem.At(at, "not-a-workbook", "is a web page or an XML file, not a workbook").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	case isText(head):
		return problem.At(at, "not-a-workbook", "is a text file, not a workbook").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	}
	return problem.At(at, "not-a-workbook", "is not a workbook; expected an .xlsx or .xlsm file")
}

// isText tells whether the bytes look like text in any of the usual
// encodings: no control characters, or a byte order mark.
func isText(b []byte) bool {
	if bytes.HasPrefix(b, []byte{0xFF, 0xFE}) || bytes.HasPrefix(b, []byte{0xFE, 0xFF}) {
		return true
	}
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}
