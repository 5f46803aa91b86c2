package reports

import (
	"iter"
	"strconv"
	"time"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// StepsSheet lists the steps of a results workbook. A rerun reads it back. It
// continues in "Steps 2" and so on when it is full.
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

// StepsProperty is the document property with the number of lines of the sheet Steps:
// it shows whether some were deleted. WriteWorkbook sets it.
const StepsProperty = "claimsheet.steps"

// timeFormat shows times in UTC, to the second.
const timeFormat = "yyyy-mm-dd hh:mm:ss"

// stateRules colour the states of steps, by the ledger's words.
var stateRules = []xlsx.Rule{
	{Word: "done", Colour: xlsx.Green},
	{Word: "failed", Colour: xlsx.Red},
	{Word: "uncertain", Colour: xlsx.Amber},
	{Word: "parked", Colour: xlsx.Amber},
	{Word: "given up", Colour: xlsx.Grey},
	{Word: "not sent", Colour: xlsx.Grey},
	{Word: result.StepSkipped, Colour: xlsx.Grey},
}

// writeSteps writes one line per step.
func writeSteps(w *xlsx.Workbook, b Book) error {
	t, err := w.NewTable(xlsx.TableLayout{
		Name:    StepsSheet,
		Headers: []string{NumberHeader, ClientKeyHeader, StepHeader, StateHeader, IDHeader, "Attempts", "HTTP status", "When", SettleHeader},
		Numbers: []int{0, 5, 6, 7},
		Layout: xlsx.Layout{Widths: []float64{10, 30, 44, 14, 38, 11, 13, 20, 24},
			Paint: []xlsx.Paint{{Column: 3, Rules: stateRules}}},
	})
	if err != nil {
		return err
	}
	moment := w.Style(xlsx.Look{Format: timeFormat})
	lines := 0
	for s, err := range b.steps() {
		if err != nil {
			return err
		}
		if err := t.Next(); err != nil {
			return err
		}
		lines++
		t.Integer(nil, s.Number)
		t.Text(nil, s.ClientKey)
		t.Text(nil, result.ShownStep(s.Step))
		t.Text(nil, s.State)
		t.Text(nil, s.ID)
		t.Integer(nil, s.Attempts)
		if s.Status != 0 {
			t.Integer(nil, s.Status)
		} else {
			t.Skip()
		}
		if !s.At.IsZero() {
			t.Float(moment, serial(s.At, b.Sheet.Date1904))
		}
		if err := t.End(); err != nil {
			return err
		}
	}
	w.SetProperty(StepsProperty, strconv.Itoa(lines))
	return t.Close()
}

// steps returns the book's steps; there may be none.
func (b Book) steps() iter.Seq2[result.Step, error] {
	if b.Steps == nil {
		return func(func(result.Step, error) bool) {}
	}
	return b.Steps
}

// serial returns a time in UTC as a spreadsheet program's day count, to the second.
func serial(at time.Time, date1904 bool) float64 {
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return float64(at.Unix()-epoch.Unix()) / (24 * 60 * 60)
}
