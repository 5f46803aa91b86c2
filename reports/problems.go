package reports

import (
	"claimsheet/reports/xlsx"
)

// ProblemsSheet is the first sheet of a workbook with problems.
const ProblemsSheet = "Problems"

// writeProblems writes one line per problem, in the given order, each with a link to
// its cell; nothing when there are none.
func writeProblems(w *xlsx.Workbook, b Book, results *resultsSheet) error {
	if len(b.Problems) == 0 {
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
	for _, p := range b.Problems {
		texts := []string{p.Where.String(), p.Message, p.Seen, p.Hint, p.Code}
		if err := t.Next(texts...); err != nil {
			return err
		}
		style := wrapped
		if t.LinkTo(results.place(p)) {
			style = link
		}
		for _, text := range texts {
			t.Text(style, text)
			style = wrapped
		}
		if err := t.End(); err != nil {
			return err
		}
	}
	return t.Close()
}
