package xlsx_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/sheet/xlsx"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// options are those of a test: a workbook that begins as a compound file is decrypted.
type options struct {
	Name      string
	HeaderRow int // 0 means 1
	Password  string
}

// opened is an open workbook.
type opened struct {
	*xlsx.Sheet
	file      *os.File
	headerRow int
}

func (o *opened) Close() { o.file.Close() }

func open(path string, o options) (_ *opened, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	book := &opened{file: f, headerRow: max(o.HeaderRow, 1)}
	var src io.ReaderAt = f
	size := info.Size()
	head := make([]byte, 4)
	if _, _ = f.ReadAt(head, 0); string(head) == "\xD0\xCF\x11\xE0" {
		var plain []byte
		if plain, err = xlsx.Decrypt(f, size, o.Password); err != nil {
			return nil, err
		}
		src, size = bytes.NewReader(plain), int64(len(plain))
	}
	book.Sheet, err = xlsx.Open(src, size, xlsx.Options{Name: o.Name, HeaderRow: book.headerRow})
	return book, err
}

// read opens a workbook and returns all of its records.
func read(path string, o options) (*xlsx.Sheet, []cell.Record, error) {
	r, err := open(path, o)
	if err != nil {
		return &xlsx.Sheet{}, nil, err
	}
	defer r.Close()
	all, err := sheettest.Collect(r.Records())
	return r.Sheet, all, err
}

// code returns the code of the problem that an error must be.
func code(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	p, ok := err.(problem.Problem)
	if !ok {
		t.Fatalf("%T is not a problem: %v", err, err)
	}
	if strings.Contains(p.Error(), "\n") {
		t.Errorf("problem %q: want one line", p.Error())
	}
	return p.Code
}
