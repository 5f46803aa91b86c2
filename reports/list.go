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
	_, err := writeAtomically(path, func(dst io.Writer, scratch string) error {
		f := excelize.NewFile(excelize.Options{TmpDir: scratch})
		defer func() {
			// Its only work is to remove spilled files, which go with scratch.
			_ = f.Close()
		}()
		if err := f.SetSheetName("Sheet1", sheet); err != nil {
			return err
		}
		if err := writeList(f, sheet, header, rows); err != nil {
			return err
		}
		return f.Write(dst)
	})
	if err != nil {
		return fmt.Errorf("writing the workbook %s: %w", path, err)
	}
	return nil
}

func writeList(f *excelize.File, sheet string, header []string, rows [][]string) error {
	bold, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	stream, err := f.NewStreamWriter(sheet)
	if err != nil {
		return err
	}
	for i, h := range header {
		longest := utf8.RuneCountInString(h)
		for _, row := range rows {
			longest = max(longest, utf8.RuneCountInString(row[i]))
		}
		if err := stream.SetColWidth(i+1, i+1, float64(min(longest, 60)+2)); err != nil {
			return err
		}
	}
	if err := stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	if err := stream.SetRow("A1", listCells(header), excelize.RowOpts{StyleID: bold}); err != nil {
		return err
	}
	for i, row := range rows {
		if err := stream.SetRow(fmt.Sprintf("A%d", i+2), listCells(row)); err != nil {
			return err
		}
	}
	return stream.Flush()
}

func listCells(texts []string) []any {
	cells := make([]any, len(texts))
	for i, t := range texts {
		cells[i] = text(t)
	}
	return cells
}
