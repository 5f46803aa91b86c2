package xlsx_test

import (
	"bytes"
	"os"
	"testing"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/sheet/xlsx"
	"claimsheet/importer/testform"
	"claimsheet/mapping/cell"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var code = testform.Code

// options are those of a test: a workbook that begins as a compound file is decrypted.
type options struct {
	Name      string
	HeaderRow int // 0 means 1
	Password  string
}

func open(data []byte, o options) (*xlsx.Sheet, error) {
	if bytes.HasPrefix(data, []byte("\xD0\xCF\x11\xE0")) {
		var err error
		if data, err = xlsx.Decrypt(bytes.NewReader(data), int64(len(data)), o.Password); err != nil {
			return nil, err
		}
	}
	return xlsx.Open(bytes.NewReader(data), int64(len(data)), o.Name, max(o.HeaderRow, 1))
}

// read opens a workbook and returns all of its records, in a pass that is not the first.
func read(data []byte, o options) (*xlsx.Sheet, []cell.Record, error) {
	s, err := open(data, o)
	if err != nil {
		return nil, nil, err
	}
	for range s.Records() {
		break
	}
	all, err := sheettest.Collect(s.Records())
	return s, all, err
}
