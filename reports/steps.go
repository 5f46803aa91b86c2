package reports

import (
	"iter"
	"strconv"
	"time"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
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
		numbers: []int{0, 5, 6, 7},
		layout: layout{widths: []float64{10, 30, 44, 14, 38, 11, 13, 20, 24},
			paint: []paint{{3, stateRules}}},
	}
	if err := t.start(); err != nil {
		return err
	}
	moment, err := w.styles.id(look{format: timeFormat})
	if err != nil {
		return err
	}
	quoted, err := w.styles.id(look{quoted: true})
	if err != nil {
		return err
	}
	lines := 0
	for s, err := range b.steps() {
		if err != nil {
			return err
		}
		if err := t.line(); err != nil {
			return err
		}
		lines++
		t.integer(0, s.Number)
		for _, text := range []string{s.ClientKey, s.Step, s.State, s.ID} {
			if needsQuote(text) {
				t.text(quoted, cut(text))
			} else {
				t.text(0, cut(text))
			}
		}
		t.integer(0, s.Attempts)
		if s.Status != 0 {
			t.integer(0, s.Status)
		} else {
			t.skip()
		}
		if !s.At.IsZero() {
			t.float(moment, serial(s.At, b.Sheet.Date1904))
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	if err := t.close(); err != nil {
		return err
	}
	return w.SetCustomProps(excelize.CustomProperty{Name: StepsProperty, Value: strconv.Itoa(lines)})
}

// steps are the book's steps, which may be none.
func (b Book) steps() iter.Seq2[result.Step, error] {
	if b.Steps == nil {
		return func(func(result.Step, error) bool) {}
	}
	return b.Steps
}

// serial is a moment in UTC as a spreadsheet program counts days, to the
// second.
func serial(at time.Time, date1904 bool) float64 {
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return float64(at.Unix()-epoch.Unix()) / (24 * 60 * 60)
}
