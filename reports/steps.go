package reports

import (
	"github.com/xuri/excelize/v2"
)

// SettleHeader is the column of the sheet Steps that is left for the operator.
const SettleHeader = "Settle"

// timeFormat shows moments to the second, as they were in UTC.
const timeFormat = "yyyy-mm-dd hh:mm:ss"

// writeSteps writes one line per step.
func writeSteps(w *workbook, b Book) error {
	t := &table{
		book: w, name: "Steps", maxRows: excelize.TotalRows,
		headers: []string{"Number", "Client key", "Step", "State", "Id", "Attempts", "HTTP status", "When", SettleHeader},
		widths:  []float64{10, 30, 44, 14, 38, 11, 13, 20, 24},
	}
	if err := t.begin(); err != nil {
		return err
	}
	if b.Steps == nil {
		return t.finish()
	}
	for s, err := range b.Steps {
		if err != nil {
			return err
		}
		var status, when any
		if s.Status != 0 {
			status = s.Status
		}
		if !s.At.IsZero() {
			if when, err = w.styles.cell(s.At.UTC(), look{format: timeFormat}); err != nil {
				return err
			}
		}
		if err := t.add([]any{
			s.Number, text(s.ClientKey), text(s.Step), text(s.State), text(s.ID), s.Attempts, status, when,
		}); err != nil {
			return err
		}
	}
	return t.finish()
}
