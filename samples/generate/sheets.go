package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/xuri/excelize/v2"
)

// column is a column of a sheet: which value of a lead it shows, and how.
type column struct {
	header string
	width  float64 // in characters
	format string  // the number format; "" for General, "@" for Text
	value  func(lead) any
}

// of is what the column shows for a lead: its value, or somebody's slip.
func (c column) of(l lead) any {
	if value, slipped := l.instead[c.header]; slipped {
		return value
	}
	return c.value(l)
}

// The number formats of the sheets.
const (
	asText   = "@"
	asDay    = "dd/mm/yyyy"
	asMinute = "dd/mm/yyyy hh:mm"
	asMoney  = "#,##0.00"
	asFive   = "00000" // 123 shows as 00123
)

const sheetName = "Leads"

// writeWorkbook saves the leads as a workbook with one sheet, as a sales team would
// send it.
func writeWorkbook(path string, columns []column, leads []lead) error {
	f := excelize.NewFile()
	defer f.Close()
	if err := f.SetSheetName("Sheet1", sheetName); err != nil {
		return err
	}
	for i, c := range columns {
		if err := fill(f, i+1, c, leads); err != nil {
			return err
		}
	}
	if err := dress(f, len(columns), len(leads)); err != nil {
		return err
	}
	return save(f, path)
}

func save(f *excelize.File, path string) error {
	book, err := f.WriteToBuffer()
	if err != nil {
		return err
	}
	return os.WriteFile(path, book.Bytes(), 0o644)
}

// writeReport saves the leads as a workbook that somebody made to be read: with a
// title above the header, and a line of totals.
func writeReport(path string, columns []column, leads []lead) error {
	if err := writeWorkbook(path, columns, leads); err != nil {
		return err
	}
	f, err := excelize.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	bold, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true, Size: 14}})
	if err != nil {
		return err
	}
	total := len(leads) + 2
	amounts := slices.IndexFunc(columns, func(c column) bool { return c.format == asMoney }) + 1
	sum := 0.0
	for _, l := range leads {
		sum += l.amount
	}
	letters, err := excelize.ColumnNumberToName(amounts)
	if err != nil {
		return err
	}
	for _, do := range []func() error{
		func() error { return f.SetCellStr(sheetName, fmt.Sprintf("A%d", total), "Total") },
		func() error { return f.SetCellFloat(sheetName, fmt.Sprintf("%s%d", letters, total), sum, 2, 64) },
		func() error {
			style, err := f.GetCellStyle(sheetName, fmt.Sprintf("%s%d", letters, total-1))
			return errors.Join(err, f.SetCellStyle(sheetName, fmt.Sprintf("%s%d", letters, total), fmt.Sprintf("%s%d", letters, total), style))
		},
		func() error { return f.InsertRows(sheetName, 1, 2) },
		func() error { return f.SetCellStr(sheetName, "A1", "Car finance enquiries, October 2026") },
		func() error { return f.SetCellStyle(sheetName, "A1", "A1", bold) },
		func() error { return f.MergeCell(sheetName, "A1", "F1") },
		func() error {
			return f.SetPanes(sheetName, &excelize.Panes{Freeze: true, YSplit: 3, TopLeftCell: "A4", ActivePane: "bottomLeft"})
		},
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return save(f, path)
}

// fill writes one column, 1-based, and its header.
func fill(f *excelize.File, number int, c column, leads []lead) error {
	letters, err := excelize.ColumnNumberToName(number)
	if err != nil {
		return err
	}
	style := &excelize.Style{Alignment: &excelize.Alignment{Vertical: "top"}}
	if c.format != "" {
		style.CustomNumFmt = &c.format
	}
	id, err := f.NewStyle(style)
	if err != nil {
		return err
	}
	if err := f.SetColWidth(sheetName, letters, letters, c.width); err != nil {
		return err
	}
	if err := f.SetCellStr(sheetName, letters+"1", c.header); err != nil {
		return err
	}
	for i, l := range leads {
		cell, err := excelize.CoordinatesToCellName(number, i+2)
		if err != nil {
			return err
		}
		if err := set(f, cell, c.of(l)); err != nil {
			return err
		}
		if err := f.SetCellStyle(sheetName, cell, cell, id); err != nil {
			return err
		}
	}
	return nil
}

// set writes a value. A time becomes Excel's serial number; an empty text leaves
// the cell empty.
func set(f *excelize.File, cell string, value any) error {
	switch v := value.(type) {
	case time.Time:
		return f.SetCellValue(sheetName, cell, serial(v))
	case string:
		if v == "" {
			return nil
		}
	}
	return f.SetCellValue(sheetName, cell, value)
}

// writeCSV saves the leads as a CRM exports them: UTF-8 with a byte order mark, and
// every cell as it would be shown in a workbook.
func writeCSV(path string, columns []column, leads []lead) error {
	out := bytes.NewBufferString("\ufeff")
	w := csv.NewWriter(out)
	w.UseCRLF = true
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.header
	}
	if err := w.Write(row); err != nil {
		return err
	}
	for _, l := range leads {
		for i, c := range columns {
			row[i] = shown(c.of(l), c.format)
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// shown is a value as text.
func shown(value any, format string) string {
	switch v := value.(type) {
	case time.Time:
		if format == asMinute {
			return v.Format("02/01/2006 15:04")
		}
		return v.Format("02/01/2006")
	case float64:
		return fmt.Sprintf("£%.2f", v)
	case int:
		if format == asFive {
			return fmt.Sprintf("%05d", v)
		}
	}
	return fmt.Sprint(value)
}

// serial counts days since 30 December 1899, as Excel does for every day after
// February 1900, with the 15 digits that Excel keeps.
func serial(t time.Time) float64 {
	days := t.Sub(day(1899, time.December, 30)).Hours() / 24
	return math.Round(days*1e10) / 1e10
}

// dress adds what every sheet has: a bold header that stays visible, a filter, a
// page as wide as the sheet, and properties that do not depend on the day.
func dress(f *excelize.File, columns, leads int) error {
	head, err := f.NewStyle(&excelize.Style{
		Font:      &excelize.Font{Bold: true, Color: "FFFFFF"},
		Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"1F4E79"}},
		Alignment: &excelize.Alignment{Vertical: "center"},
	})
	if err != nil {
		return err
	}
	topRight, err := excelize.CoordinatesToCellName(columns, 1)
	if err != nil {
		return err
	}
	bottomRight, err := excelize.CoordinatesToCellName(columns, leads+1)
	if err != nil {
		return err
	}
	yes, landscape, paper, wide, high := true, "landscape", 9, 1, 0
	for _, do := range []func() error{
		func() error { return f.SetCellStyle(sheetName, "A1", topRight, head) },
		func() error { return f.SetRowHeight(sheetName, 1, 20) },
		func() error { return f.AutoFilter(sheetName, "A1:"+bottomRight, nil) },
		func() error {
			return f.SetPanes(sheetName, &excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
		},
		func() error { return f.SetSheetProps(sheetName, &excelize.SheetPropsOptions{FitToPage: &yes}) },
		func() error {
			return f.SetPageLayout(sheetName, &excelize.PageLayoutOptions{
				Size: &paper, Orientation: &landscape, FitToWidth: &wide, FitToHeight: &high})
		},
		func() error {
			return f.SetDocProps(&excelize.DocProperties{
				Creator: "Claimsheet samples", LastModifiedBy: "Claimsheet samples",
				Created: "2026-11-02T09:00:00Z", Modified: "2026-11-02T09:00:00Z"})
		},
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}
