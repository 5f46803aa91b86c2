package cli

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"claimsheet/importer"
	"claimsheet/importer/result"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/reports"
)

// resultSheet reads the sheet Results of a workbook of ours as the sheet that
// it was made from. Our columns, wherever they were moved to, have no header
// and no cells, so that every other cell keeps the address that a person sees.
type resultSheet struct {
	*sheet.Reader
	source cell.Sheet
	own    map[int]string // our columns, by what is in them
}

// openResults opens the copy of a results workbook. Its header is in row 1 and
// its sheet is Results, whatever the mapping says of the sheet first imported.
func openResults(in *input, from *origin) (*resultSheet, error) {
	r, err := in.open(sheet.Options{Name: reports.ResultsSheet, HeaderRow: 1})
	if err != nil {
		return nil, err
	}
	s := &resultSheet{Reader: r, source: r.Sheet(), own: map[int]string{}}
	s.source.Header = slices.Clone(s.source.Header)
	s.source.Origin = from.property[sheetProperty]
	for i, header := range s.source.Header {
		if name := mapping.ResultColumn(header); name != "" {
			s.own[i], s.source.Header[i] = name, ""
		}
	}
	for n := len(s.source.Header); n > 0 && s.source.Header[n-1] == ""; n-- {
		s.source.Header = s.source.Header[:n-1]
	}
	return s, nil
}

// Sheet is the source's, with our columns left blank.
func (s *resultSheet) Sheet() cell.Sheet { return s.source }

// Records are the source's cells of every row.
func (s *resultSheet) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for row, err := range s.rows() {
			if !yield(row.Record, err) {
				return
			}
		}
	}
}

// rows are the rows with what stands in our columns. Cells are used again for
// the next row, as the reader's are.
func (s *resultSheet) rows() iter.Seq2[importer.WorkbookRow, error] {
	return func(yield func(importer.WorkbookRow, error) bool) {
		for record, err := range s.Reader.Records() {
			if err != nil {
				yield(importer.WorkbookRow{}, err)
				return
			}
			if !yield(s.split(record), nil) {
				return
			}
		}
	}
}

// split takes our cells out of a record. A source text that was cut to fit its
// cell is an error: what was imported is no longer there.
func (s *resultSheet) split(record cell.Record) importer.WorkbookRow {
	var row importer.WorkbookRow
	for i := range record.Cells {
		if c := &record.Cells[i]; c.Kind == cell.Text && reports.IsCut(c.Raw) {
			c.Kind = cell.Error
		}
	}
	for i, name := range s.own {
		if i >= len(record.Cells) {
			continue
		}
		said, at := strings.TrimSpace(record.Cells[i].Shown), s.source.At(i, record.Row)
		record.Cells[i] = cell.Cell{}
		switch name {
		case reports.StatusHeader:
			row.Status, row.StatusAt = said, at
		case "clientId", "contactId":
			row.ClientID, row.ClientIDAt = said, at
		case reports.ClaimIDsHeader:
			row.ClaimIDs, row.ClaimIDsAt = claimIDs(said), at
		case reports.URLHeader:
			row.URL = said
		case reports.FailedStepHeader:
			row.FailedStep = said
		case reports.SourceRowHeader:
			record.Source = count(said)
		}
	}
	// Rows are hidden by the filter too. One for which anything was tried is not
	// left out because of it.
	record.Hidden = record.Hidden && (row.Status == "" || row.Status == string(result.Skipped)) && row.ClientID == ""
	row.Record = record
	return row
}

// claimIDs reads the column claimIds; the note at the end of a list that did
// not fit its cell is no id.
func claimIDs(said string) []string {
	said, _, _ = strings.Cut(said, " … ")
	var ids []string
	for id := range strings.SplitSeq(said, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// count reads a number that counts from 1, such as a row's; 0 when a cell holds
// none.
func count(said string) int {
	if n, err := strconv.Atoi(said); err == nil && n > 0 {
		return n
	}
	return 0
}

// ownColumns are our columns.
func (s *resultSheet) ownColumns() []int {
	var columns []int
	for i := range s.own {
		columns = append(columns, i)
	}
	return columns
}
