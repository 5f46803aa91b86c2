package workbook

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"claimsheet/importer/rerun"
	"claimsheet/importer/result"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// Table reads a lead sheet, or the sheet Results of a workbook as the sheet that it was made from: the columns that Claimsheet added are
// empty, wherever they are, so every other cell keeps its address.
type Table struct {
	*sheet.Reader
	source   cell.Sheet
	added    map[int]string // what the columns hold that Claimsheet added
	fillDown []string       // columns whose empty cells take the one above
}

// Open opens a sheet as a mapping reads it or, if b is not nil, the results workbook of b: its sheet Results, with the header in row 1.
// open opens one of the sheets of the file.
func Open(open func(sheet.Options) (*sheet.Reader, error), m *mapping.Mapping, b *Results) (*Table, error) {
	o := Options(m)
	if b != nil {
		o = sheet.Options{Name: reports.ResultsSheet, HeaderRow: 1}
	}
	r, err := open(o)
	if err != nil {
		return nil, err
	}
	t := &Table{Reader: r, source: r.Sheet(), added: map[int]string{}, fillDown: m.FillDown()}
	if b == nil {
		return t, nil
	}
	t.source.Header = slices.Clone(t.source.Header)
	t.source.Origin = b.Sheet
	for i, header := range t.source.Header {
		if name := mapping.ResultColumn(header, b.Contacts); name != "" {
			t.added[i], t.source.Header[i] = name, ""
		}
	}
	if len(t.fillDown) > 0 && !slices.Contains(slices.Collect(maps.Values(t.added)), cell.SourceRowHeader) {
		p := problem.At(t.source.At(0, 1), "unknown-column",
			"the workbook has no column “%s” any more, and the mapping has sheet.fill_down: rows that were sorted would take the cells of other clients", cell.SourceRowHeader).
			Hinted("put the column back from a copy; or write the workbook again: claimsheet report")
		return nil, errors.Join(p, r.Close())
	}
	t.source.Header = cell.TrimHeader(t.source.Header)
	return t, nil
}

// Sheet describes the source's sheet; the added columns have no header.
func (t *Table) Sheet() cell.Sheet { return t.source }

// AddedColumns returns the indexes of the columns that Claimsheet added.
func (t *Table) AddedColumns() []int { return slices.Collect(maps.Keys(t.added)) }

// Options returns how a mapping reads its sheet.
func Options(m *mapping.Mapping) sheet.Options {
	rule := m.Sheet
	return sheet.Options{Name: rule.Name.Text, HeaderRow: rule.HeaderRow, Encoding: rule.Encoding, Delimiter: rule.Delimiter}
}

// Records returns the source's cells of every row, filled down, at each range in a new pass; a record is valid until the next one.
func (t *Table) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for row, err := range t.Rows() {
			if !yield(row.Record, err) {
				return
			}
		}
	}
}

// Rows returns what Records does, with what the added columns hold.
func (t *Table) Rows() iter.Seq2[rerun.Row, error] {
	return func(yield func(rerun.Row, error) bool) {
		fill := mapping.FillDown(t.fillDown, t.source)
		for record, err := range t.Reader.Records() {
			if err != nil {
				yield(rerun.Row{}, err)
				return
			}
			row := t.split(record)
			row.Record = fill(row.Record)
			if !yield(row, nil) {
				return
			}
		}
	}
}

// split takes the cells that Claimsheet added out of a record.
func (t *Table) split(record cell.Record) rerun.Row {
	var row rerun.Row
	for i, name := range t.added {
		if i >= len(record.Cells) {
			continue
		}
		text, at := strings.TrimSpace(record.Cells[i].Shown), t.source.At(i, record.Row)
		record.Cells[i] = cell.Cell{}
		switch name {
		case cell.StatusHeader:
			row.Status, row.StatusAt = text, at
		case cell.ClientIDHeader, cell.ContactIDHeader:
			row.ClientID, row.ClientIDAt = text, at
		case cell.ClaimIDsHeader:
			row.ClaimIDs, row.ClaimIDsAt = listOf(text), at
		case cell.URLHeader:
			row.URL = text
		case cell.FailedStepHeader:
			row.FailedStep = text
		case cell.SourceRowHeader:
			record.Source = count(text)
		}
	}
	// The filter hides rows too, so a row for which something was sent counts as visible.
	record.Hidden = record.Hidden && (row.Status == "" || row.Status == string(result.Skipped)) && row.ClientID == ""
	row.Record = record
	return row
}

// listOf splits a cell of the column claimIds; the note at the end of a list that did not fit its cell is not an id.
func listOf(text string) []string {
	text, _, _ = strings.Cut(text, " … ")
	var ids []string
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// count reads a number that starts at 1, such as a row number; other text is 0.
func count(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return 0
}

// Steps returns the lines of a results workbook's sheets Steps, none when they were deleted. Each range over it is a new pass.
func Steps(open func(sheet.Options) (*sheet.Reader, error)) iter.Seq2[rerun.Step, error] {
	return func(yield func(rerun.Step, error) bool) {
		for n := 1; ; n++ {
			name := reports.StepsSheet
			if n > 1 {
				name += " " + strconv.Itoa(n)
			}
			r, err := open(sheet.Options{Name: name})
			if p, ok := err.(problem.Problem); ok && (p.Code == "sheet-not-found" || p.Code == "empty-sheet") {
				return
			}
			more := true
			if err == nil {
				more, err = eachStep(r, yield), r.Close()
			}
			if err != nil && more {
				yield(rerun.Step{}, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// eachStep yields the lines of one sheet that are not empty; more is false when the consumer has stopped or has got an error.
func eachStep(r *sheet.Reader, yield func(rerun.Step, error) bool) (more bool) {
	tab := r.Sheet()
	columns, err := stepColumns(tab)
	if err != nil {
		yield(rerun.Step{}, err)
		return false
	}
	for record, err := range r.Records() {
		if err != nil {
			yield(rerun.Step{}, err)
			return false
		}
		text := func(header string) string { return strings.TrimSpace(record.Cell(columns[header]).Shown) }
		at := func(header string) problem.Where { return tab.At(columns[header], record.Row) }
		line := rerun.Step{
			Number: count(text(reports.NumberHeader)),
			Client: record.Cell(columns[reports.ClientKeyHeader]).Shown, Step: record.Cell(columns[reports.StepHeader]).Shown,
			State: text(reports.StateHeader), ID: text(reports.IDHeader), Settle: text(reports.SettleHeader),
			StepAt: at(reports.StepHeader), StateAt: at(reports.StateHeader), IDAt: at(reports.IDHeader), SettleAt: at(reports.SettleHeader),
		}
		if line.Client+line.Step+line.State+line.ID+line.Settle != "" && !yield(line, nil) {
			return false
		}
	}
	return true
}

// stepHeaders are the columns that are read back.
var stepHeaders = []string{reports.NumberHeader, reports.ClientKeyHeader, reports.StepHeader,
	reports.StateHeader, reports.IDHeader, reports.SettleHeader}

// stepColumns finds the columns by their headers. A missing one is a problem: without it a decision or an id would be ignored.
func stepColumns(tab cell.Sheet) (map[string]int, error) {
	columns := map[string]int{}
	var found problem.List
	for _, name := range stepHeaders {
		columns[name] = slices.IndexFunc(tab.Header, func(header string) bool { return strings.TrimSpace(header) == name })
		if columns[name] < 0 {
			found = append(found, problem.At(problem.Where{Sheet: tab.Name}, "no-column", "the sheet has no column “%s”", name).
				Hinted("take it from the copy that was kept of the workbook; if nothing in this sheet matters, delete the sheet"))
		}
	}
	return columns, found.Err()
}
