package reports

import (
	"strconv"
	"time"

	"claimsheet/reports/xlsx"
)

// StepsSheet lists the steps. A rerun reads it back, and it continues in "Steps 2" and so on when it is full.
const StepsSheet = "Steps"

// The columns of the sheet Steps. SettleHeader is for the user's decisions.
const (
	NumberHeader    = "Number"
	ClientKeyHeader = "Client key"
	StepHeader      = "Step"
	StateHeader     = "State"
	IDHeader        = "Id"
	SettleHeader    = "Settle"
)

// StepsProperty is the document property with the number of lines of the sheet Steps: it shows whether some were deleted. Write sets it.
const StepsProperty = "claimsheet.steps"

// writeSteps writes one line per step.
func writeSteps(w *xlsx.Writer, b Workbook) error {
	t := w.NewSheet(xlsx.Layout{
		Name:    StepsSheet,
		Headers: []string{NumberHeader, ClientKeyHeader, StepHeader, StateHeader, IDHeader, "Attempts", "HTTP status", "When", SettleHeader},
		Widths:  []float64{10, 30, 44, 14, 38, 11, 13, 20, 24},
	})
	lines := 0
	for s, err := range b.Steps {
		if err != nil {
			return err
		}
		lines++
		var status, when any // left out when there was no answer, or no attempt
		if s.Status != 0 {
			status = s.Status
		}
		if !s.At.IsZero() {
			when = s.At.UTC().Format(time.DateTime)
		}
		t.Row(xlsx.Style{}, s.Number, s.ClientKey, s.Step, s.State, s.ID, s.Attempts, status, when)
	}
	w.SetProperty(StepsProperty, strconv.Itoa(lines))
	return t.Close()
}
