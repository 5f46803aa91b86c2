package reports

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// ResultsSheet is the sheet with every source row and what became of it.
const ResultsSheet = "Results"

// addedWidths are the widths of the added columns, in characters.
var addedWidths = map[string]float64{
	cell.StatusHeader: 14, cell.ClientIDHeader: 38, cell.ContactIDHeader: 38, cell.ClaimIDsHeader: 38, cell.URLHeader: 40,
	cell.ContactsHeader: 48, cell.FailedStepHeader: 34, cell.ErrorHeader: 52, cell.AdviceHeader: 52, cell.SourceRowHeader: 12,
}

// statusColours show at a glance which rows need attention.
var statusColours = map[result.Status]xlsx.Colour{
	result.Invalid: xlsx.Red, result.Failed: xlsx.Red, result.Uncertain: xlsx.Amber, result.Changed: xlsx.Amber,
	result.Done: xlsx.Green, result.Unchanged: xlsx.Green, result.NotStarted: xlsx.Grey, result.Skipped: xlsx.Grey, result.Planned: xlsx.Blue,
}

// resultsSheet is the sheet Results.
type resultsSheet struct {
	*xlsx.Sheet
	of       Workbook
	columns  []int                           // of the source, without those of an earlier results workbook
	message  int                             // the column Error; What to do is the next
	problems map[int]map[string]problem.List // by row and cell of the source
}

// writeResults writes every source row with what became of it beside it.
func writeResults(w *xlsx.Writer, b Workbook) error {
	s := newResultsSheet(w, b)
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
		s.write(record, result)
	}
	if result, err, ok := next(); err != nil {
		return err
	} else if ok {
		return fmt.Errorf("the result of row %d has no row in the sheet", result.Row)
	}
	return s.Close()
}

// newResultsSheet begins the sheet with its header.
func newResultsSheet(w *xlsx.Writer, b Workbook) *resultsSheet {
	s := &resultsSheet{of: b, problems: map[int]map[string]problem.List{}}
	for _, p := range b.Problems {
		if row := p.Where.Row; row != 0 && row != b.Sheet.HeaderRow && p.Where.Sheet == b.Sheet.Name {
			if s.problems[row] == nil {
				s.problems[row] = map[string]problem.List{}
			}
			s.problems[row][p.Where.Cell] = append(s.problems[row][p.Where.Cell], p)
		}
	}
	layout := xlsx.Layout{Name: ResultsSheet}
	for i, width := range b.Preview.widths(b.Sheet.Header) {
		if slices.Contains(b.Preview.Own, i) {
			continue
		}
		s.columns = append(s.columns, i)
		header := ""
		if i < len(b.Sheet.Header) {
			header = b.Sheet.Header[i]
		}
		layout.Headers, layout.Widths = append(layout.Headers, header), append(layout.Widths, width)
		layout.Hidden = append(layout.Hidden, slices.Contains(b.Sheet.HiddenColumns, i))
	}
	layout.Ours = len(s.columns)
	for _, header := range cell.ResultHeaders(b.ClientIDHeader, b.Contacts) {
		width := addedWidths[header]
		if b.Summary.DryRun && width < 50 {
			width = 14 // few rows have ids, and what is to be corrected should be near the cells
		}
		layout.Headers, layout.Widths = append(layout.Headers, header), append(layout.Widths, width)
	}
	s.message = len(layout.Headers) - 3
	s.Sheet = w.NewSheet(layout)
	return s
}

// write writes one row.
func (s *resultsSheet) write(record cell.Record, r result.Row) {
	lines := max(s.Lines(s.message, r.Error), s.Lines(s.message+1, r.Advice))
	// A row that is hidden in the sheet and was skipped stays hidden.
	s.Next(lines, record.Hidden && r.Status == result.Skipped)
	top, found := lines > 1, s.problems[record.Row]
	for _, column := range s.columns {
		var wrong problem.List
		if found != nil {
			wrong = found[cell.ColumnName(column)+strconv.Itoa(record.Row)]
		}
		s.writeSource(record.Cell(column), top, wrong)
	}
	text := xlsx.Style{Top: top}
	s.Text(xlsx.Style{Top: top, Colour: statusColours[r.Status]}, string(r.Status))
	s.Text(text, r.ClientID)
	if s.of.ClientIDHeader != cell.ClientIDHeader {
		s.Text(text, strings.Join(r.ClaimIDs, ", "))
	}
	s.Text(text, r.URL)
	if s.of.Contacts {
		s.Text(text, strings.Join(r.Contacts, ", "))
	}
	s.Text(text, r.FailedStep)
	s.Text(xlsx.Style{Wrap: top}, r.Error)
	s.Text(xlsx.Style{Wrap: top}, r.Advice)
	s.Value(text, cmp.Or(record.Source, r.Row))
	s.End()
}

// writeSource writes a cell of the source: red and with a comment if something is wrong with it.
//
// Values, types and number formats are kept, except a formula, whose stored result is written. A formula without a stored result becomes
// #N/A, "no value is available": an empty cell would count as an answer in a rerun.
func (s *resultsSheet) writeSource(in cell.Cell, top bool, found problem.List) {
	style := xlsx.Style{Top: top}
	if found != nil {
		style.Colour = xlsx.Red
		s.Comment(commentText(found))
	}
	if in.Kind != cell.Empty {
		style.Format = in.Format
	}
	switch in.Kind {
	case cell.Text:
		s.Text(style, in.Raw)
	case cell.Number, cell.Date:
		s.Number(style, in.Raw)
	case cell.Bool:
		s.Value(style, in.Raw == "1")
	case cell.Error:
		s.Error(style, in.Raw)
	case cell.Uncomputed:
		s.Error(style, "#N/A")
	default:
		s.Text(style, "")
	}
}

// commentText is the comment on an invalid cell.
func commentText(found problem.List) string {
	var texts []string
	for _, p := range found {
		texts = append(texts, strings.TrimSpace(p.Message+"\n"+p.Hint))
	}
	return strings.Join(texts, "\n\n")
}
