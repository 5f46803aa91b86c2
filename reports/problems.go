package reports

import (
	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// ProblemsSheet is the first sheet of a workbook with problems.
const ProblemsSheet = "Problems"

// writeProblems writes one line per problem, in the given order, and then one line per row that failed or is uncertain.
func writeProblems(w *xlsx.Writer, b Workbook) error {
	t := w.NewSheet(xlsx.Layout{
		Name:    ProblemsSheet,
		Headers: []string{"Where", "Problem", "Cell says", "How to fix", "Code"},
		Widths:  []float64{32, 60, 30, 60, 22},
	})
	line := func(texts ...string) {
		lines := 1
		for i, text := range texts {
			lines = max(lines, t.Lines(i, text))
		}
		t.Next(lines, false)
		for _, text := range texts {
			t.Text(xlsx.Style{Wrap: true}, text)
		}
		t.End()
	}
	for _, p := range b.Problems.Listed() {
		line(p.Where.String(), p.Message, p.Seen, p.Hint, p.Code)
	}
	for r, err := range b.Rows {
		if err != nil {
			return err
		}
		if r.Status == result.Failed || r.Status == result.Uncertain {
			line(b.Sheet.AtRow(r.Row).String(), r.Error, "", r.Advice, string(r.Status))
		}
	}
	return t.Close()
}
