package reports

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// WriteList writes a workbook of one sheet with a header and rows of texts to
// path, whole or not at all. It is no results workbook: nothing reads it back.
func WriteList(path, sheet string, header []string, rows [][]string) error {
	_, err := writeAtomically(Placement{Path: path}, func(dst io.Writer, file readBack) error {
		w := newWorkbook(dst)
		defer w.abandon()
		if err := writeList(w, sheet, header, rows); err != nil {
			return err
		}
		if err := w.complete(); err != nil {
			return err
		}
		return w.verify(file)
	})
	if err != nil {
		return fmt.Errorf("writing the workbook %s: %w", path, err)
	}
	return nil
}

func writeList(w *workbook, sheet string, header []string, rows [][]string) error {
	widths := make([]float64, len(header))
	for i, h := range header {
		longest := utf8.RuneCountInString(h) + 2 // room for the filter's button
		for _, row := range rows {
			longest = max(longest, utf8.RuneCountInString(row[i]))
		}
		widths[i] = float64(min(longest, 60) + 2)
	}
	quoted, err := w.styles.id(look{quoted: true})
	if err != nil {
		return err
	}
	t := &table{book: w, name: sheet, maxRows: excelize.TotalRows, headers: header, ours: len(header), layout: layout{widths: widths}}
	if err := t.start(); err != nil {
		return err
	}
	for _, row := range rows {
		if err := t.line(); err != nil {
			return err
		}
		for _, text := range row {
			style := 0
			if needsQuote(text) {
				style = quoted
			}
			t.text(style, cut(text))
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return t.close()
}
