package reports

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
)

// resultsSheet is the sheet Results under construction.
type resultsSheet struct {
	table
	header  []string // of the source
	columns []column // of the source, without those of an earlier workbook's
	added   addedStyles
	marks   marks
	clients *clientRows // dry run only
}

// writeResults writes every source row with what became of it beside it.
func writeResults(w *workbook, b Book) (*resultsSheet, error) {
	if err := checkHeaders(b); err != nil {
		return nil, err
	}
	s, err := newResultsSheet(w, b)
	if err != nil {
		return nil, err
	}
	if err := eachRow(b, s.write); err != nil {
		return nil, err
	}
	return s, s.close()
}

// eachRow goes through the records, each with its result.
func eachRow(b Book, do func(cell.Record, result.Row) error) error {
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
		if err := do(record, result); err != nil {
			return err
		}
	}
	if result, err, ok := next(); err != nil {
		return err
	} else if ok {
		return fmt.Errorf("the result of row %d has no row in the sheet", result.Row)
	}
	return nil
}

// newResultsSheet measures the source and writes the header.
func newResultsSheet(w *workbook, b Book) (*resultsSheet, error) {
	widths, err := b.widths()
	if err != nil {
		return nil, err
	}
	s := &resultsSheet{
		table:  table{book: w, name: ResultsSheet, maxRows: excelize.TotalRows},
		header: b.Sheet.Header, marks: newMarks(b),
	}
	for i, width := range widths {
		if slices.Contains(b.Own, i) {
			continue
		}
		s.columns = append(s.columns, column{source: i, styles: &w.styles})
		s.headers, s.layout.widths = append(s.headers, headerOf(b, i)), append(s.layout.widths, width)
		s.layout.hidden = append(s.layout.hidden, slices.Contains(b.Sheet.HiddenColumns, i))
	}
	s.ours = len(s.columns)
	s.headers = append(s.headers, ResultHeaders(b.ClientIDHeader)...)
	s.numbers = []int{len(s.headers) - 1}
	s.layout.paint = []paint{{s.ours, statusRules}}
	if b.Summary.DryRun {
		s.clients = new(clientRows)
		s.layout.widths = append(s.layout.widths, planColumnWidths...)
	} else {
		s.layout.widths = append(s.layout.widths, columnWidths...)
	}
	if s.added, err = newAddedStyles(w.styles); err != nil {
		return nil, err
	}
	return s, s.start()
}

// headerOf is the header of a source column as it fits a cell.
func headerOf(b Book, column int) string {
	if column < len(b.Sheet.Header) {
		return cut(b.Sheet.Header[column])
	}
	return ""
}

// addedStyles are those of the columns that Claimsheet adds.
type addedStyles struct{ link, quoted int }

func newAddedStyles(s styles) (a addedStyles, err error) {
	if a.link, err = s.id(look{link: true}); err != nil {
		return a, err
	}
	a.quoted, err = s.id(look{quoted: true})
	return a, err
}

// write writes one row.
func (s *resultsSheet) write(record cell.Record, r result.Row) error {
	// A row that was left out for being hidden stays so: it would be taken when
	// the workbook is run again.
	s.hidden = record.Hidden && r.Status == result.Skipped
	if err := s.line(); err != nil {
		return err
	}
	found := s.marks.take(record.Row, s.sheetName(), s.row)
	for i := range s.columns {
		c := &s.columns[i]
		marked := found != nil && found.cell(c.source) != nil
		if err := c.write(s.rows, record.Cell(c.source), marked); err != nil {
			return err
		}
		if marked {
			if err := s.explain(s.ref(i), found.cell(c.source)); err != nil {
				return err
			}
		}
	}
	s.clients.note(r.Client, cmp.Or(record.Source, r.Row), s.row)
	s.text(0, string(r.Status))
	s.said(r.ClientID)
	s.said(joinIDs(r.ClaimIDs))
	s.address(r.URL)
	s.said(r.FailedStep)
	s.said(r.Error)
	s.said(r.Advice)
	s.integer(0, cmp.Or(record.Source, r.Row))
	return s.end()
}

// said writes a text of ours, or of the service's.
func (s *resultsSheet) said(text string) {
	style := 0
	if needsQuote(text) {
		style = s.added.quoted
	}
	s.text(style, cut(text))
}

// address writes a redirect url, clickable if it can be.
func (s *resultsSheet) address(url string) {
	if url == "" || !s.links.room() || !isAddress(url) {
		s.said(url)
		return
	}
	s.links.add(link{cell: s.at(), address: url})
	s.text(s.added.link, url)
}

// sheetName is the name of the sheet that is being written.
func (s *resultsSheet) sheetName() string { return s.page.name }
