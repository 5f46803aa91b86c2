package reports

import (
	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// ValuesSheet shows what a run would send for the first clients, value by value.
const ValuesSheet = "Values"

// Value is a line of the sheet Values: one value of a call, and the cells that it is made of.
type Value struct {
	Call  result.Step
	Name  string // of the field or attribute
	Sent  string
	Cells string // "" for a constant of the mapping
}

// writeValues writes one line for each of the values; without any it writes no sheet.
func writeValues(w *xlsx.Writer, b Workbook) error {
	if len(b.Values) == 0 {
		return nil
	}
	t := w.NewSheet(xlsx.Layout{
		Name:    ValuesSheet,
		Headers: []string{ClientKeyHeader, "Call", "Field or attribute", "Value as sent", "From"},
		Widths:  []float64{34, 44, 34, 44, 20},
	})
	for _, v := range b.Values {
		t.Row(xlsx.Style{}, v.Call.ClientKey, inWords(v.Call), v.Name, v.Sent, v.Cells)
	}
	return t.Close()
}
