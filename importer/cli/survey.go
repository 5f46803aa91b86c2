package cli

import (
	"context"

	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/spool"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
)

// surveyRows is the one pass over the rows of all sheets: see takes each row, rows keeps them in a private file in folder until the end of
// the command, to be read again, and the survey groups them by client. With convert every cell is converted too.
func (p *program) surveyRows(ctx context.Context, s *load.Session, folder string, convert bool, see func(cell.Record)) (rows *spool.Rows, survey *importer.Survey, err error) {
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
	if err != nil {
		return nil, nil, err
	}
	p.closers = append(p.closers, func() { _ = rows.Close() })
	survey, err = importer.NewSurvey(ctx, s.Binding, rows, convert)
	return rows, survey, err
}

// sheetLayout is what a pass over a sheet shows of its form.
type sheetLayout struct {
	sheet       cell.Sheet
	rows        int
	header      *draft.HeaderWatch
	hidden      int // rows
	firstHidden int
}

func newSheetLayout(s cell.Sheet) sheetLayout {
	return sheetLayout{sheet: s, header: draft.NewHeaderWatch(s)}
}

// see takes a row.
func (l *sheetLayout) see(record cell.Record) {
	l.rows++
	l.header.See(record)
	if record.Hidden {
		if l.hidden++; l.hidden == 1 {
			l.firstHidden = record.Row
		}
	}
}

// warnings are of data without a header, and of hidden rows, which may be hidden because they are not wanted.
func (l *sheetLayout) warnings() problem.List {
	warnings := l.header.Warnings()
	if l.hidden > 0 {
		at := problem.Where{File: l.sheet.Book, Table: l.sheet.Table, Sheet: l.sheet.Name, Row: l.firstHidden}
		warnings = append(warnings, problem.At(at, "hidden-rows", "rows that are hidden in the sheet are imported: %d; this is the first", l.hidden).
			Hinted("show them, or delete those that are not wanted"))
	}
	return warnings
}
