package reports

import (
	"fmt"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// ProblemsSheet is the first sheet of a workbook with problems.
const ProblemsSheet = "Problems"

// hasProblems reports whether the workbook has a sheet Problems.
func (b Book) hasProblems() bool {
	return len(b.Problems) > 0 || b.Summary.Rows.Failed+b.Summary.Rows.Uncertain > 0
}

// writeProblems writes one line per problem, in the given order, and then one line per
// row that failed or is uncertain, each with a link to its cell; nothing when there are
// none.
func writeProblems(w *xlsx.Workbook, b Book, results *resultsSheet) error {
	if !b.hasProblems() {
		return nil
	}
	t, err := w.NewTable(xlsx.TableLayout{
		Name:    ProblemsSheet,
		Headers: []string{"Where", "Problem", "Cell says", "How to fix", "Code"},
		Layout:  xlsx.Layout{Widths: []float64{32, 60, 30, 60, 22}},
	})
	if err != nil {
		return err
	}
	wrapped, link := w.Style(xlsx.Look{Wrap: true}), w.Style(xlsx.Look{Wrap: true, Link: true})
	line := func(place string, texts ...string) error {
		lines := 1
		for i, text := range texts {
			lines = max(lines, t.Lines(i, text))
		}
		if err := t.NextHigh(lines); err != nil {
			return err
		}
		style := wrapped
		if t.LinkTo(place) {
			style = link
		}
		for _, text := range texts {
			t.Text(style, text)
			style = wrapped
		}
		return t.End()
	}
	for _, p := range b.Problems.Listed() {
		if err := line(results.place(p), p.Where.String(), p.Message, p.Seen, p.Hint, p.Code); err != nil {
			return err
		}
	}
	for _, r := range results.troubled.rows {
		if err := line(r.place, r.where.String(), r.message, "", r.advice, string(r.status)); err != nil {
			return err
		}
	}
	if more := results.troubled.more; more > 0 {
		more := fmt.Sprintf("%d more rows failed or are uncertain", more)
		if err := line("", "", more, "", "filter the column "+cell.StatusHeader+" of the sheet "+ResultsSheet, ""); err != nil {
			return err
		}
	}
	return t.Close()
}

// troubledRows are the rows that failed or are uncertain.
type troubledRows struct {
	rows []troubledRow
	more int // rows beyond maxTroubled
}

type troubledRow struct {
	where           problem.Where
	place           string // of its status
	status          result.Status
	message, advice string
}

// maxTroubled is how many rows that failed or are uncertain the sheet Problems has one
// by one: they are kept in memory until Results is written.
const maxTroubled = 10_000

// note keeps a row of Results that failed or is uncertain. sheet is the source; ref is
// the cell of Results, named tab, with the row's status.
func (t *troubledRows) note(sheet cell.Sheet, r result.Row, tab, ref string) {
	switch {
	case r.Status != result.Failed && r.Status != result.Uncertain:
	case len(t.rows) == maxTroubled:
		t.more++
	default:
		t.rows = append(t.rows, troubledRow{sheet.AtRow(r.Row), xlsx.Place(tab, ref), r.Status, r.Error, r.Advice})
	}
}
