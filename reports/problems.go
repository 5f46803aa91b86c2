package reports

import (
	"slices"
	"strings"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// ProblemsSheet is the first sheet of a workbook with problems.
const ProblemsSheet = "Problems"

// writeProblems writes one line per problem, in the given order, and then one line per
// row that failed or is uncertain, each with a link to its cell.
func (s *resultsSheet) writeProblems(w *xlsx.Writer, b Workbook) error {
	t := w.NewSheet(xlsx.Layout{
		Name:    ProblemsSheet,
		Headers: []string{"Where", "Problem", "Cell says", "How to fix", "Code"},
		Widths:  []float64{32, 60, 30, 60, 22},
	})
	line := func(place string, texts ...string) {
		lines := 1
		for i, text := range texts {
			lines = max(lines, t.Lines(i, text))
		}
		t.Next(lines, false)
		t.Text(xlsx.Style{Wrap: true, Link: t.LinkTo(place)}, texts[0])
		for _, text := range texts[1:] {
			t.Text(xlsx.Style{Wrap: true}, text)
		}
		t.End()
	}
	for _, p := range b.Problems.Listed() {
		line(s.placeOf(p), p.Where.String(), p.Message, p.Seen, p.Hint, p.Code)
	}
	for r, err := range b.Rows {
		if err != nil {
			return err
		}
		if r.Status == result.Failed || r.Status == result.Uncertain {
			line(s.place(len(s.columns), r.Row), b.Sheet.AtRow(r.Row).String(), r.Error, "", r.Advice, string(r.Status))
		}
	}
	return t.Close()
}

// placeOf returns where in Results the cell of a problem is; "" for a problem that is not
// about one of the sheet's rows. A problem of a whole row leads to its first cell.
func (s *resultsSheet) placeOf(p problem.Problem) string {
	if p.Where.Sheet != s.of.Sheet.Name {
		return ""
	}
	letters := strings.TrimRight(p.Where.Cell, "0123456789")
	column := slices.IndexFunc(s.columns, func(source int) bool { return cell.ColumnName(source) == letters })
	return s.place(max(column, 0), p.Where.Row)
}
