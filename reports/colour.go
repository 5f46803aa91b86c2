package reports

import (
	"fmt"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
)

// colour is a text colour on a ground; the zero colour is the program's own.
type colour struct{ text, ground string }

// Colours, as spreadsheet programs' own "good", "bad" and "neutral" have them.
var (
	red    = colour{"9C0006", "FFC7CE"}
	amber  = colour{"9C5700", "FFEB9C"}
	green  = colour{"006100", "C6EFCE"}
	grey   = colour{"595959", "E7E6E6"}
	blue   = colour{"1F4E78", "DDEBF7"}
	strong = colour{"FFFFFF", "1F4E78"} // headers of columns that Claimsheet adds
	plain  = colour{"000000", "D9D9D9"} // other headers
)

// statusRules tell at a glance what a person has to look at.
var statusRules = []rule{
	{string(result.Invalid), red},
	{string(result.Failed), red},
	{string(result.Uncertain), amber},
	{string(result.NotStarted), grey},
	{string(result.Changed), amber},
	{string(result.Done), green},
	{string(result.Unchanged), green},
	{string(result.Skipped), grey},
	{string(result.Planned), blue},
}

// stateRules do so for the states of steps, by the ledger's words.
var stateRules = []rule{
	{"done", green},
	{"failed", red},
	{"uncertain", amber},
	{"parked", amber},
	{"given up", grey},
	{"not sent", grey},
}

// paintColumn colours the cells of a column by their words. It is done by
// conditional formats, so that the colours follow sorting and editing.
func (w *workbook) paintColumn(sheet string, p paint) error {
	var formats []excelize.ConditionalFormatOptions
	for _, r := range p.rules {
		id, err := w.styles.conditional(r.colour)
		if err != nil {
			return err
		}
		formats = append(formats, excelize.ConditionalFormatOptions{
			Type: "cell", Criteria: "==", Value: `"` + r.word + `"`, Format: &id, StopIfTrue: true,
		})
	}
	column := cell.ColumnName(p.column)
	return w.SetConditionalFormat(sheet, fmt.Sprintf("%s2:%[1]s%d", column, excelize.TotalRows), formats)
}

// conditional is the workbook's number for a colour of conditional formats.
func (s styles) conditional(c colour) (int, error) {
	if id, ok := s.conditionals[c]; ok {
		return id, nil
	}
	id, err := s.file.NewConditionalStyle(&excelize.Style{
		Font: &excelize.Font{Color: c.text},
		Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{c.ground}},
	})
	if err == nil {
		s.conditionals[c] = id
	}
	return id, err
}
