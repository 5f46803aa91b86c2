package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/reports/xlsx"
)

// byteOrderMark makes Excel read a CSV file as UTF-8.
const byteOrderMark = "\uFEFF"

// WriteCSV writes the rows of b as a CSV file with the columns of the sheet Results,
// in the same way as WriteWorkbook: complete, private and durable, or not at all. It
// is UTF-8 with a byte order mark, with every field in quotes and lines ended by CR
// LF.
//
// It loses what a workbook keeps: a cell is what it shows, without types and formats,
// and the sheets Steps, Problems and Summary are missing. A field that a spreadsheet
// program would read as a formula gets a ' before it. So the file is for reading only
// and cannot be run again.
func (p Placement) WriteCSV(b Book) (Written, error) {
	w, err := writeAtomically(p, func(dst io.Writer, _ readBack) error { return b.writeCSV(dst) })
	if err != nil {
		return Written{}, fmt.Errorf("writing %s: %w", p.Path, err)
	}
	return w, nil
}

func (b Book) writeCSV(dst io.Writer) error {
	widths, err := b.widths()
	if err != nil {
		return err
	}
	w := csvWriter{Writer: bufio.NewWriterSize(dst, 64<<10)}
	_, _ = w.WriteString(byteOrderMark) // the first error stays, and Flush returns it
	var columns []int
	for i := range widths {
		if slices.Contains(b.Own, i) {
			continue
		}
		columns = append(columns, i)
		header := ""
		if i < len(b.Sheet.Header) {
			header = b.Sheet.Header[i]
		}
		w.field(header)
	}
	for _, header := range cell.ResultHeaders(b.ClientIDHeader, b.Contacts) {
		w.field(header)
	}
	w.end()
	if err := eachRow(b, func(record cell.Record, r result.Row) error {
		for _, i := range columns {
			w.field(csvText(record.Cell(i)))
		}
		for _, text := range []string{string(r.Status), r.ClientID, strings.Join(r.ClaimIDs, ", "), r.URL} {
			w.field(text)
		}
		if b.Contacts {
			w.field(strings.Join(r.Contacts, ", "))
		}
		for _, text := range []string{result.ShownStep(r.FailedStep), r.Error, r.Advice} {
			w.field(text)
		}
		w.field(strconv.Itoa(cmp.Or(record.Source, r.Row)))
		return w.end()
	}); err != nil {
		return err
	}
	return w.Flush()
}

// csvText is what a cell shows; #N/A for a formula whose result was never stored.
func csvText(c cell.Cell) string {
	switch c.Kind {
	case cell.Text:
		return c.Raw
	case cell.Uncomputed:
		return "#N/A"
	}
	return c.Shown
}

// csvWriter writes fields. All are in quotes: otherwise a program that splits lines at
// semicolons would find formulas inside fields.
type csvWriter struct {
	*bufio.Writer
	fields int // of the current line
}

// field writes a field of the current line.
func (w *csvWriter) field(s string) {
	if w.fields > 0 {
		_ = w.WriteByte(',')
	}
	w.fields++
	_ = w.WriteByte('"')
	if xlsx.OpensFormula(s) {
		_ = w.WriteByte('\'')
	}
	if strings.IndexByte(s, '"') >= 0 {
		s = strings.ReplaceAll(s, `"`, `""`)
	}
	_, _ = w.WriteString(s)
	_ = w.WriteByte('"')
}

// end ends the line.
func (w *csvWriter) end() error {
	w.fields = 0
	_, err := w.WriteString("\r\n")
	return err
}
