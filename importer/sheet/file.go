package sheet

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// fileKind is what a file is.
type fileKind uint8

const (
	zipFile      fileKind = iota // a workbook, if all is well
	compoundFile                 // an encrypted workbook, or an old .xls
	csvText
	csvGzip
)

// openFile opens a file that looks like a workbook or a CSV file; named is the
// path to judge and to name it by. What else people name .xlsx gets an answer
// of its own.
func openFile(path, named string) (*os.File, fileKind, error) {
	at := problem.Where{File: named}
	info, err := os.Stat(path) // before opening: opening a pipe would wait for ever
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = problem.At(at, "no-such-file", "no such file")
	case err != nil:
		err = asProblem(named, err)
	case info.IsDir():
		err = problem.At(at, "not-a-workbook", "is a folder, not a workbook").
			Hinted("name the .xlsx file in it")
	case !info.Mode().IsRegular():
		err = problem.At(at, "not-a-workbook", "is not a regular file")
	case info.Size() == 0:
		err = problem.At(at, "not-a-workbook", "is empty (0 bytes), not a workbook").
			Hinted("export the sheet again")
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, asProblem(named, err)
	}
	kind, err := kindOf(file, at)
	if err != nil {
		file.Close()
	}
	return file, kind, err
}

// kindOf looks at the first bytes of the file. Text is a CSV file only by its
// name, for nothing in it says so.
func kindOf(file io.ReaderAt, at problem.Where) (fileKind, error) {
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return 0, asProblem(at.File, err)
	}
	head = head[:n]
	isCSV := strings.HasPrefix(Ext(at.File), ".csv")
	isMarkup := bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) && (!isCSV || isPage(head))
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		return zipFile, nil
	case bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0")):
		return compoundFile, nil
	case bytes.HasPrefix(head, []byte("\x1F\x8B")) && isCSV:
		return csvGzip, nil
	case bytes.HasPrefix(head, []byte("\x1F\x8B")):
		return 0, problem.At(at, "not-a-workbook", "is packed by gzip; expected an .xlsx, .xlsm, .csv or .csv.gz file").
			Hinted("if it is a packed CSV file, name it .csv.gz")
	case isMarkup:
		return 0, problem.At(at, "not-a-workbook", "is a web page or an XML file, not a workbook").
			Hinted("open it in a spreadsheet program and save it as .xlsx")
	case isCSV:
		return csvText, nil
	case isText(head):
		return 0, problem.At(at, "not-a-workbook", "is a text file, not a workbook").
			Hinted("if it is a CSV file, name it .csv; else open it in a spreadsheet program and save it as .xlsx")
	}
	return 0, problem.At(at, "not-a-workbook", "is not a workbook; expected an .xlsx, .xlsm, .csv or .csv.gz file")
}

// isPage reports whether the bytes begin as web pages and XML files do. A field of
// a CSV file may begin with a tag too, such as a link.
func isPage(head []byte) bool {
	text := strings.ToLower(string(bytes.TrimSpace(head)))
	return slices.ContainsFunc([]string{"<!", "<?", "<html", "<head", "<body", "<meta", "<table", "<script", "<style"}, func(tag string) bool {
		return strings.HasPrefix(text, tag)
	})
}

// Ext is a path's extension, of which .csv.gz is one, in lower case.
func Ext(path string) string {
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".gz" && strings.HasSuffix(strings.ToLower(path), ".csv.gz") {
		return ".csv.gz"
	}
	return ext
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
