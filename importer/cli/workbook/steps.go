package workbook

import (
	"iter"
	"strconv"
	"strings"

	"claimsheet/importer/rerun"
	"claimsheet/importer/result"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// Steps returns the lines of a results workbook's sheet Steps and of the sheets
// that continue it, none when the sheet was deleted. Each range over it is a new
// pass.
func Steps(open Opener) iter.Seq2[rerun.Step, error] {
	return func(yield func(rerun.Step, error) bool) {
		for n := 1; ; n++ {
			name := reports.StepsSheet
			if n > 1 {
				name += " " + strconv.Itoa(n)
			}
			r, err := open(sheet.Options{Name: name})
			if p, ok := err.(problem.Problem); ok && (p.Code == "sheet-not-found" || p.Code == "empty-sheet") {
				return
			}
			more := true
			if err == nil {
				more, err = eachStep(r, yield), r.Close()
			}
			if err != nil && more {
				yield(rerun.Step{}, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// eachStep yields the lines of one sheet that are not empty; more is false when the consumer has
// stopped or has got an error.
func eachStep(r *sheet.Reader, yield func(rerun.Step, error) bool) (more bool) {
	tab := r.Sheet()
	columns, err := stepColumns(tab)
	if err != nil {
		yield(rerun.Step{}, err)
		return false
	}
	for record, err := range r.Records() {
		if err != nil {
			yield(rerun.Step{}, err)
			return false
		}
		text := func(header string) string { return strings.TrimSpace(record.Cell(columns[header]).Shown) }
		at := func(header string) problem.Where { return tab.At(columns[header], record.Row) }
		line := rerun.Step{
			Number: count(text(reports.NumberHeader)),
			Client: record.Cell(columns[reports.ClientKeyHeader]).Shown, Step: result.StepShown(record.Cell(columns[reports.StepHeader]).Shown),
			State: text(reports.StateHeader), ID: text(reports.IDHeader), Settle: text(reports.SettleHeader),
			StepAt: at(reports.StepHeader), StateAt: at(reports.StateHeader), IDAt: at(reports.IDHeader), SettleAt: at(reports.SettleHeader),
		}
		if line.Client+line.Step+line.State+line.ID+line.Settle != "" && !yield(line, nil) {
			return false
		}
	}
	return true
}

// stepHeaders are the columns that are read back.
var stepHeaders = []string{reports.NumberHeader, reports.ClientKeyHeader, reports.StepHeader,
	reports.StateHeader, reports.IDHeader, reports.SettleHeader}

// stepColumns finds the columns by their headers, wherever they were moved to. A
// missing column is a problem: without it a decision or an id would be ignored.
func stepColumns(tab cell.Sheet) (map[string]int, error) {
	columns := map[string]int{}
	for i, header := range tab.Header {
		name := strings.TrimSpace(header)
		if _, twice := columns[name]; !twice {
			columns[name] = i
		}
	}
	var found problem.List
	for _, name := range stepHeaders {
		if _, ok := columns[name]; !ok {
			found = append(found, problem.At(problem.Where{Sheet: tab.Name}, "no-column", "the sheet has no column “%s”", name).
				Hinted("take it from the copy that was kept of the workbook; if nothing in this sheet matters, delete the sheet"))
		}
	}
	return columns, found.Err()
}
