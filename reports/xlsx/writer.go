// Package xlsx writes workbooks, with excelize.
//
// excelize makes everything of a workbook but its sheets: styles, comments and the parts around them. A Sheet goes straight into the zip
// file while its rows are made, so memory does not grow with the rows. excelize's own stream writer takes more than twice as long, keeps
// the sheet in a temporary file, spells numbers its own way, and has no error values and no control characters.
package xlsx

import (
	"archive/zip"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/xuri/excelize/v2"
)

// Writer writes a workbook file. Its sheets are written one after another; Close completes the file.
type Writer struct {
	file    *excelize.File // makes the parts that are not sheets
	zip     *zip.Writer
	styles  map[Style]int
	written map[string]bool // by part
	maxRows int             // of a sheet, including the header

	properties map[string]string
	err        error // the first one; it stays

	packing   sync.WaitGroup // of the one that compresses a sheet's XML
	packed    []byte         // what it compresses
	packError error
}

// NewWriter begins a workbook that is written to dst. date1904 is its date system.
func NewWriter(dst io.Writer, date1904 bool) *Writer {
	w := &Writer{file: excelize.NewFile(), zip: zip.NewWriter(dst), styles: map[Style]int{},
		written: map[string]bool{}, maxRows: MaxRows, properties: map[string]string{}}
	// One for all parts, because it is large. Level 6 makes a sheet a fifth smaller in five times the time.
	packer, err := flate.NewWriter(nil, flate.BestSpeed)
	w.fail(err)
	w.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		packer.Reset(w)
		return packer, nil
	})
	w.fail(w.file.SetDocProps(&excelize.DocProperties{Creator: "Claimsheet", LastModifiedBy: "Claimsheet"}))
	w.fail(w.file.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}))
	return w
}

// waitForPacker returns when what was flushed is in the file.
func (w *Writer) waitForPacker() {
	w.packing.Wait()
	w.fail(w.packError)
}

// fail keeps the first error.
func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// SetProperty sets a custom document property; "" leaves it out.
func (w *Writer) SetProperty(name, value string) {
	if value != "" {
		w.properties[name] = value
		w.fail(w.file.SetCustomProps(excelize.CustomProperty{Name: name, Value: value}))
	}
}

// Close writes the parts that are not in the file yet and completes it.
func (w *Writer) Close() error {
	w.waitForPacker()
	w.writeProperties()
	w.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return rest{w.zip, w.written} })
	if w.err == nil {
		w.err = w.file.Write(io.Discard)
	}
	return w.err
}

// rest takes what excelize writes into the file, except for the sheets, which are there already.
type rest struct {
	*zip.Writer
	written map[string]bool
}

func (r rest) Create(name string) (io.Writer, error) {
	if r.written[name] {
		return io.Discard, nil
	}
	return r.Writer.Create(name)
}

const xmlHeader = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
