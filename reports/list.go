package reports

import (
	"fmt"
	"io"
	"unicode/utf8"

	"claimsheet/reports/xlsx"
)

// WriteList writes a workbook of one sheet with a header and rows of texts to path,
// complete or not at all. It is not a results workbook: nothing reads it back.
func WriteList(path, sheet string, header []string, rows [][]string) error {
	_, err := writeAtomically(Placement{Path: path}, func(dst io.Writer, file readBack) error {
		w := xlsx.New(dst)
		defer w.Abandon()
		if err := writeList(w, sheet, header, rows); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		return verify(w, file)
	})
	if err != nil {
		return fmt.Errorf("writing the workbook %s: %w", path, err)
	}
	return nil
}

func writeList(w *xlsx.Workbook, sheet string, header []string, rows [][]string) error {
	widths := make([]float64, len(header))
	for i, h := range header {
		longest := utf8.RuneCountInString(h) + 2 // room for the filter's button
		for _, row := range rows {
			longest = max(longest, utf8.RuneCountInString(row[i]))
		}
		widths[i] = float64(min(longest, 60) + 2)
	}
	t, err := w.NewTable(xlsx.TableLayout{Name: sheet, Headers: header, Ours: len(header), Layout: xlsx.Layout{Widths: widths}})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := t.Next(); err != nil {
			return err
		}
		for _, text := range row {
			t.Text(nil, text)
		}
		if err := t.End(); err != nil {
			return err
		}
	}
	return t.Close()
}
