package reports

import (
	"fmt"

	"github.com/xuri/excelize/v2"
)

// chart draws bars beside a table of the sheet: a name in column A and a number
// in column B of each row from first to last.
func (w *workbook) chart(sheet string, first, last int) error {
	return w.AddChart(sheet, fmt.Sprint("E", first-1), &excelize.Chart{
		Type: excelize.Bar,
		Series: []excelize.ChartSeries{{
			Name:       "Rows",
			Categories: at(sheet, "A", first, last),
			Values:     at(sheet, "B", first, last),
			Fill:       excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{strong.ground}},
		}},
		Title:     excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: "Rows by status"}}},
		Legend:    excelize.ChartLegend{Position: "none"},
		XAxis:     excelize.ChartAxis{ReverseOrder: true, Font: excelize.Font{Color: plain.text}}, // the first bar on top
		YAxis:     excelize.ChartAxis{None: true},                                                 // the bars tell their numbers
		PlotArea:  excelize.ChartPlotArea{ShowVal: true},
		Dimension: excelize.ChartDimension{Width: 460, Height: 300},
	})
}
