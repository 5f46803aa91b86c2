package reports

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
)

// verify reads a finished workbook back: its archive must be whole, every part
// must be what its checksum says, and every sheet must have the rows that were
// written. A disk that lies or a fault of ours shows before an older file is
// replaced.
func (w *workbook) verify(file readBack) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(file, info.Size())
	if err != nil {
		return fmt.Errorf("reading it back: %w", err)
	}
	left := len(w.archive.done)
	buffer := make([]byte, partBuffer)
	for _, f := range archive.File {
		rows, err := countRows(f, buffer)
		if err != nil {
			return fmt.Errorf("reading its part %s back: %w", f.Name, err)
		}
		if written, counts := w.counted[f.Name]; counts && written != rows {
			return fmt.Errorf("%d rows were written to its part %s, and %d are there", written, f.Name, rows)
		}
		left--
	}
	if left != 0 {
		return fmt.Errorf("%d of its parts are not there", left)
	}
	return nil
}

var rowBegins = []byte(`<row `)

// countRows reads a part to its end, where its checksum is compared, and counts
// the rows in it. In text < never stands as it is.
func countRows(f *zip.File, buffer []byte) (rows int, err error) {
	part, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer part.Close()
	kept := 0 // bytes at the beginning of buffer that may begin a row
	for {
		n, err := part.Read(buffer[kept:])
		piece := buffer[:kept+n]
		rows += bytes.Count(piece, rowBegins)
		kept = min(len(piece), len(rowBegins)-1)
		copy(buffer, piece[len(piece)-kept:])
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
