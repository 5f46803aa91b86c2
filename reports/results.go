package reports

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// maxComments bounds the cell comments: programs grow slow with thousands. The
// cells beyond are still marked, and the sheet Problems has all of them.
const maxComments = 1000

// resultsSheet is the sheet Results under construction.
type resultsSheet struct {
	*table
	columns  []int                   // of the source, without those of an earlier workbook's
	invalid  map[string]problem.List // by the source's cell reference; dry run only
	comments int
}

// writeResults writes every source row with what became of it beside it.
func writeResults(w *workbook, b Book) error {
	if err := checkHeaders(b); err != nil {
		return err
	}
	s, err := newResultsSheet(w, b)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(b.Rows)
	defer stop()
	for record, err := range b.Records {
		if err != nil {
			return err
		}
		result, err, ok := next()
		if err != nil {
			return err
		}
		if !ok || result.Row != record.Row {
			return fmt.Errorf("row %d of the sheet has no result", record.Row)
		}
		if err := s.write(record, result); err != nil {
			return err
		}
	}
	if result, err, ok := next(); err != nil {
		return err
	} else if ok {
		return fmt.Errorf("the result of row %d has no row in the sheet", result.Row)
	}
	return s.finish()
}

// newResultsSheet measures the source and writes the header.
func newResultsSheet(w *workbook, b Book) (*resultsSheet, error) {
	widths, err := sourceWidths(b)
	if err != nil {
		return nil, err
	}
	t := &table{book: w, name: ResultsSheet, maxRows: excelize.TotalRows}
	var columns []int
	for i, width := range widths {
		if slices.Contains(b.Own, i) {
			continue
		}
		header := ""
		if i < len(b.Sheet.Header) {
			header = cut(b.Sheet.Header[i])
		}
		columns = append(columns, i)
		t.headers, t.widths = append(t.headers, header), append(t.widths, width)
	}
	t.ours = len(columns)
	t.headers = append(t.headers, ResultHeaders(b.ClientIDHeader)...)
	t.widths = append(t.widths, columnWidths...)
	return &resultsSheet{table: t, columns: columns, invalid: invalidCells(b)}, t.begin()
}

// write writes one row.
func (s *resultsSheet) write(record mapping.Record, r importer.RowResult) error {
	values := make([]any, len(s.columns), len(s.columns)+len(columnWidths))
	for i, column := range s.columns {
		found := s.invalid[mapping.ColumnName(column)+strconv.Itoa(record.Row)]
		var err error
		if values[i], err = s.book.sourceCell(record.Cell(column), markOf(found)); err != nil {
			return err
		}
		if err := s.comment(i, found); err != nil {
			return err
		}
	}
	status, err := s.book.styles.cell(string(r.Status), look{colour: statusColours[r.Status]})
	if err != nil {
		return err
	}
	// A row that was left out for being hidden stays so: it would be taken when
	// the workbook is run again.
	stays := excelize.RowOpts{Hidden: record.Hidden && r.Status == importer.Skipped}
	return s.add(append(values, status, text(r.ClientID), text(joinIDs(r.ClaimIDs)), text(r.URL),
		text(r.FailedStep), text(r.Error), text(r.Advice), cmp.Or(record.Source, r.Row)), stays)
}

// sourceWidths measures the source's columns: how many there are, those beyond
// the last header included, and in what width their values can be read.
func sourceWidths(b Book) ([]float64, error) {
	longest := make([]int, len(b.Sheet.Header))
	for i, h := range b.Sheet.Header {
		longest[i] = utf8.RuneCountInString(h) + 2 // room for the filter's button
	}
	for record, err := range b.Records {
		if err != nil {
			return nil, err
		}
		for i, c := range record.Cells {
			if c.Kind == mapping.Empty {
				continue
			}
			for len(longest) <= i {
				longest = append(longest, 0)
			}
			longest[i] = max(longest[i], shownLength(c))
		}
	}
	widths := make([]float64, len(longest))
	for i, n := range longest {
		widths[i] = float64(min(max(n, 8), 48) + 2)
	}
	return widths, nil
}

// shownLength is how many characters a cell shows, roughly. A date or an amount
// that does not fit shows as ####, so its format counts too.
func shownLength(c mapping.Cell) int {
	n := utf8.RuneCountInString(c.Shown)
	if c.Kind == mapping.DateCell {
		n = max(n, utf8.RuneCountInString(c.Format))
	}
	return n
}

// text is a text as it fits a cell; nil for none.
func text(s string) any {
	if s == "" {
		return nil
	}
	return cut(s)
}
