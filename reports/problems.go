package reports

import (
	"github.com/xuri/excelize/v2"
)

// ProblemsSheet is the first sheet of a workbook with problems.
const ProblemsSheet = "Problems"

// writeProblems writes one line per problem, in the order given, each leading to
// its cell; nothing when there are none.
func writeProblems(w *workbook, b Book, results *resultsSheet) error {
	if len(b.Problems) == 0 {
		return nil
	}
	t := &table{
		book: w, name: ProblemsSheet, maxRows: excelize.TotalRows,
		headers: []string{"Where", "Problem", "Cell says", "How to fix", "Code"},
		layout:  layout{widths: []float64{32, 60, 30, 60, 22}},
	}
	if err := t.start(); err != nil {
		return err
	}
	plain, quoted, linked, err := problemStyles(w.styles)
	if err != nil {
		return err
	}
	for _, p := range b.Problems {
		if err := t.lineFor(p.Where.String(), p.Message, p.Seen, p.Hint, p.Code); err != nil {
			return err
		}
		style := plain
		if place := results.place(p); place != "" && t.links.room() {
			t.links.add(link{cell: t.at(), place: place})
			style = linked
		}
		t.text(style, cut(p.Where.String()))
		for _, text := range []string{p.Message, p.Seen, p.Hint, p.Code} {
			if needsQuote(text) {
				t.text(quoted, cut(text))
			} else {
				t.text(plain, cut(text))
			}
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return t.close()
}

func problemStyles(s styles) (plain, quoted, linked int, err error) {
	if plain, err = s.id(look{wrap: true}); err != nil {
		return
	}
	if quoted, err = s.id(look{wrap: true, quoted: true}); err != nil {
		return
	}
	linked, err = s.id(look{wrap: true, link: true})
	return
}
