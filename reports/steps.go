package reports

import (
	"strconv"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer"
)

// The sheets of a results workbook that are read back when it is run again.
const (
	ResultsSheet = "Results"
	StepsSheet   = "Steps" // goes on in "Steps 2" and so on when it is full
)

// The columns of the sheet Steps. SettleHeader is left for the operator.
const (
	NumberHeader    = "Number"
	ClientKeyHeader = "Client key"
	StepHeader      = "Step"
	StateHeader     = "State"
	IDHeader        = "Id"
	SettleHeader    = "Settle"
)

// StepsProperty is the document property that holds how many lines the sheet
// Steps was written with, to tell whether some are gone. WriteWorkbook sets it.
const StepsProperty = "claimsheet.steps"

// timeFormat shows moments to the second, as they were in UTC.
const timeFormat = "yyyy-mm-dd hh:mm:ss"

// writeSteps writes one line per step.
func writeSteps(w *workbook, b Book) error {
	t := &table{
		book: w, name: StepsSheet, maxRows: excelize.TotalRows,
		headers: []string{NumberHeader, ClientKeyHeader, StepHeader, StateHeader, IDHeader, "Attempts", "HTTP status", "When", SettleHeader},
		widths:  []float64{10, 30, 44, 14, 38, 11, 13, 20, 24},
	}
	if err := t.begin(); err != nil {
		return err
	}
	steps, lines := b.Steps, 0
	if steps == nil {
		steps = func(func(importer.StepResult, error) bool) {}
	}
	for s, err := range steps {
		if err != nil {
			return err
		}
		lines++
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
	if err := t.finish(); err != nil {
		return err
	}
	return w.SetCustomProps(excelize.CustomProperty{Name: StepsProperty, Value: strconv.Itoa(lines)})
}
