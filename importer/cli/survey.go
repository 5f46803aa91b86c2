package cli

import (
	"context"
	"fmt"
	"strings"

	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/spool"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
)

// surveyRows is the one pass over the rows of all sheets: see takes each row, rows keeps them in
// a private file in folder, to be read again, and the survey groups them by client. With convert
// every cell is converted too. The caller closes rows.
func surveyRows(ctx context.Context, s *load.Session, folder string, convert bool, see func(cell.Record)) (rows *spool.Rows, survey *importer.Survey, err error) {
	rows, err = spool.NewRows(folder, func(yield func(cell.Record, error) bool) {
		for record, err := range s.Records() {
			if err == nil {
				see(record)
			}
			if !yield(record, err) {
				return
			}
		}
	})
	if err == nil {
		survey, err = importer.Take(ctx, s.Binding, rows, convert)
	}
	return rows, survey, err
}

// sheetLayout is what a pass over a sheet shows of its form.
type sheetLayout struct {
	sheet  cell.Sheet
	rows   int
	header *draft.HeaderWatch
	hidden int
	spans  [][2]int // the first ranges of hidden rows, each from first row to last
}

func newSheetLayout(s cell.Sheet) sheetLayout {
	return sheetLayout{sheet: s, header: draft.NewHeaderWatch(s)}
}

// mostSpans limits how many ranges of rows a warning names.
const mostSpans = 5

// see takes a row.
func (l *sheetLayout) see(record cell.Record) {
	l.rows++
	l.header.See(record)
	if !record.Hidden {
		return
	}
	l.hidden++
	last, row := len(l.spans)-1, record.Row
	if last >= 0 && l.spans[last][1] == row-1 {
		l.spans[last][1] = row
	} else if len(l.spans) <= mostSpans { // one more than is named, to know whether there are more
		l.spans = append(l.spans, [2]int{row, row})
	}
}

// hiddenRows warns that hidden rows are imported: they may have been hidden because they are
// not wanted.
func (l *sheetLayout) hiddenRows() problem.List {
	if l.hidden == 0 {
		return nil
	}
	var names []string
	for _, span := range l.spans[:min(len(l.spans), mostSpans)] {
		name := fmt.Sprint(span[0])
		if span[1] > span[0] {
			name += fmt.Sprintf("–%d", span[1])
		}
		names = append(names, name)
	}
	where := strings.Join(names, ", ")
	if len(l.spans) > mostSpans {
		where += " and more"
	}
	rows := "1 row is hidden in the sheet and is imported: "
	if l.hidden > 1 {
		rows = fmt.Sprintf("%d rows are hidden in the sheet and are imported: ", l.hidden)
	}
	return problem.List{problem.At(problem.Where{File: l.sheet.Book, Table: l.sheet.Table, Sheet: l.sheet.Name}, "hidden-rows", "%s", rows+where).
		Hinted("show them, or leave them out with sheet: {hidden_rows: skip} in the mapping")}
}
