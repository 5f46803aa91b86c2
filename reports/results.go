package reports

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// ResultsSheet is the sheet with every source row and what became of it. It continues
// in "Results 2" and so on when it is full.
const ResultsSheet = "Results"

// addedWidths are the widths of the added columns, in characters. In a plan few rows
// have ids, and what is to be corrected should be near the cells.
var addedWidths = map[string]struct{ results, plan float64 }{
	cell.StatusHeader: {14, 14}, cell.ClientIDHeader: {38, 12}, cell.ContactIDHeader: {38, 12}, cell.ClaimIDsHeader: {38, 12}, cell.URLHeader: {40, 14},
	cell.ContactsHeader: {48, 14}, cell.FailedStepHeader: {34, 14}, cell.ErrorHeader: {52, 70}, cell.AdviceHeader: {52, 52}, cell.SourceRowHeader: {12, 12},
}

// statusRules show at a glance which rows need attention.
var statusRules = []xlsx.Rule{
	{Word: string(result.Invalid), Colour: xlsx.Red},
	{Word: string(result.Failed), Colour: xlsx.Red},
	{Word: string(result.Uncertain), Colour: xlsx.Amber},
	{Word: string(result.NotStarted), Colour: xlsx.Grey},
	{Word: string(result.Changed), Colour: xlsx.Amber},
	{Word: string(result.Done), Colour: xlsx.Green},
	{Word: string(result.Unchanged), Colour: xlsx.Green},
	{Word: string(result.Skipped), Colour: xlsx.Grey},
	{Word: string(result.Planned), Colour: xlsx.Blue},
}

// resultsSheet is the sheet Results under construction.
type resultsSheet struct {
	*xlsx.Table
	book        *xlsx.Workbook
	columns     []column // of the source, without those of an earlier results workbook
	low, high   rowLooks // of rows whose Error and What to do fit on a line, and of the others
	annotations annotations
	clients     *clientRows // dry run only
	source      cell.Sheet
	contacts    bool // it has the column contacts
	message     int  // the column Error; What to do is the next
	troubled    troubledRows
}

// rowLooks are the styles of the added columns in a row.
type rowLooks struct{ text, link, wrapped *xlsx.Style }

// writeResults writes every source row with what became of it beside it.
func writeResults(w *xlsx.Workbook, b Book) (*resultsSheet, error) {
	s, err := newResultsSheet(w, b)
	if err != nil {
		return nil, err
	}
	if err := s.writeRows(b); err != nil {
		return nil, err
	}
	return s, s.Close()
}

// writeRows writes each record with its result.
func (s *resultsSheet) writeRows(b Book) error {
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
	return nil
}

// newResultsSheet measures the source and writes the header.
func newResultsSheet(w *xlsx.Workbook, b Book) (*resultsSheet, error) {
	widths, err := b.widths()
	if err != nil {
		return nil, err
	}
	s := &resultsSheet{book: w, source: b.Sheet, contacts: b.Contacts, annotations: newAnnotations(b),
		low:  rowLooks{link: w.Style(xlsx.Look{Link: true})},
		high: rowLooks{text: w.Style(xlsx.Look{Top: true}), link: w.Style(xlsx.Look{Top: true, Link: true}), wrapped: w.Style(xlsx.Look{Wrap: true})}}
	table := xlsx.TableLayout{Name: ResultsSheet}
	for i, width := range widths {
		if slices.Contains(b.Own, i) {
			continue
		}
		s.columns = append(s.columns, column{source: i, book: w})
		header := ""
		if i < len(b.Sheet.Header) {
			header = b.Sheet.Header[i]
		}
		table.Headers, table.Widths = append(table.Headers, header), append(table.Widths, width)
		table.Hidden = append(table.Hidden, slices.Contains(b.Sheet.HiddenColumns, i))
	}
	table.Ours = len(s.columns)
	added := cell.ResultHeaders(b.ClientIDHeader, b.Contacts)
	s.message = table.Ours + slices.Index(added, cell.ErrorHeader)
	for _, header := range added {
		width := addedWidths[header].results
		if b.Summary.DryRun {
			width = addedWidths[header].plan
		}
		table.Headers, table.Widths = append(table.Headers, header), append(table.Widths, width)
	}
	table.Numbers = []int{len(table.Headers) - 1}
	table.Paint = []xlsx.Paint{{Column: table.Ours, Rules: statusRules}}
	if b.Summary.DryRun {
		s.clients = new(clientRows)
	}
	s.Table, err = w.NewTable(table)
	return s, err
}

// write writes one row.
func (s *resultsSheet) write(record cell.Record, r result.Row) error {
	// A row that was skipped because it is hidden stays hidden: otherwise a rerun of
	// the workbook would import it.
	if record.Hidden && r.Status == result.Skipped {
		s.HideNext()
	}
	looks, lines := &s.low, max(s.Lines(s.message, r.Error), s.Lines(s.message+1, r.Advice))
	if lines > 1 {
		looks = &s.high
	}
	if err := s.NextHigh(lines); err != nil {
		return err
	}
	row := s.annotations.at(record.Row, s.Name(), s.Row())
	for i := range s.columns {
		c := &s.columns[i]
		problems := row.cell(c.source)
		c.write(s.Table, record.Cell(c.source), colourOf(problems), lines > 1)
		if problems != nil {
			if err := s.Comment(s.Ref(i), "Claimsheet", commentText(problems)); err != nil {
				return err
			}
		}
	}
	source := cmp.Or(record.Source, r.Row)
	s.clients.note(r.Client, source, s.Row())
	s.troubled.note(s.source, r, s.Name(), s.Ref(len(s.columns)))
	s.Text(looks.text, string(r.Status))
	s.Text(looks.text, r.ClientID)
	s.Text(looks.text, joinIDs(r.ClaimIDs))
	if s.Link(r.URL) {
		s.Text(looks.link, r.URL)
	} else {
		s.Text(looks.text, r.URL)
	}
	if s.contacts {
		s.Text(looks.text, joinIDs(r.Contacts))
	}
	s.Text(looks.text, result.ShownStep(r.FailedStep))
	s.Text(looks.wrapped, r.Error)
	s.Text(looks.wrapped, r.Advice)
	s.Integer(looks.text, source)
	return s.End()
}

// joinIDs lists ids, complete ones only: those that do not fit are counted, and are
// in the sheet Steps.
func joinIDs(ids []string) string {
	all := strings.Join(ids, ", ")
	if xlsx.Units(all) <= xlsx.MaxCell {
		return all
	}
	const room = len(" … and 1000000 more, see the sheet Steps")
	var b strings.Builder
	for i, id := range ids {
		if b.Len()+len(id)+2+room > xlsx.MaxCell {
			fmt.Fprintf(&b, " … and %d more, see the sheet Steps", len(ids)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(id)
	}
	return b.String()
}

// column is a source column on its way into the workbook. Most of its cells have one
// kind and format, so it keeps the style of the last cell.
type column struct {
	source int // 0 = A
	book   *xlsx.Workbook
	look   xlsx.Look
	style  *xlsx.Style
}

// colourOf is red for a cell with problems, amber where all are warnings.
func colourOf(problems problem.List) xlsx.Colour {
	switch {
	case problems == nil:
		return xlsx.Colour{}
	case slices.ContainsFunc(problems, func(p problem.Problem) bool { return !p.Warning }):
		return xlsx.Red
	}
	return xlsx.Amber
}

// write writes a cell of the source in a colour, and at the top of a row of several lines.
//
// Values, types and number formats are kept, except a formula, whose stored result is
// written. A formula without a stored result becomes #N/A, "no value is available":
// an empty cell would count as an answer in a rerun. A text that is too long for a
// cell is cut and marked: IsCut recognises it in a rerun, where it is an error.
func (c *column) write(to *xlsx.Table, in cell.Cell, colour xlsx.Colour, top bool) {
	look := xlsx.Look{Top: top, Colour: colour}
	if in.Kind != cell.Empty {
		look.Format = in.Format
	}
	if look != c.look {
		c.look, c.style = look, c.book.Style(look)
	}
	switch {
	case in.Kind == cell.Text, in.Kind == cell.Error && IsCut(in.Raw):
		to.Text(c.style, xlsx.Cut(in.Raw, cutMark))
	case in.Kind == cell.Number || in.Kind == cell.Date:
		to.Number(c.style, in.Raw)
	case in.Kind == cell.Bool:
		to.Bool(c.style, in.Raw == "1")
	case in.Kind == cell.Error:
		to.Error(c.style, in.Raw)
	case in.Kind == cell.Uncomputed:
		to.Error(c.style, "#N/A")
	default:
		to.Blank(c.style)
	}
}

// cutMark ends a source text that was cut.
const cutMark = "… [cut here: a cell of a workbook cannot hold more]"

// IsCut reports whether a text of a results workbook is the beginning of a source text
// that was too long for a cell. It is no longer the text that was imported.
func IsCut(s string) bool {
	return strings.HasSuffix(s, cutMark) && xlsx.Units(s) >= xlsx.MaxCell-1
}

// annotations are the problems of the source's rows, and where in the workbook these
// rows are.
type annotations struct {
	sheet string
	rows  map[int]*annotatedRow // by the source's row
}

// annotatedRow is a row with problems.
type annotatedRow struct {
	row   int // of the source
	found problem.List
	sheet string // of the workbook; "" until the row is written
	line  int
}

func newAnnotations(b Book) annotations {
	a := annotations{sheet: b.Sheet.Name, rows: map[int]*annotatedRow{}}
	for _, p := range b.Problems {
		row := p.Where.Row
		if row == 0 || row == b.Sheet.HeaderRow || p.Where.Sheet != b.Sheet.Name {
			continue
		}
		if a.rows[row] == nil {
			a.rows[row] = &annotatedRow{row: row}
		}
		a.rows[row].found = append(a.rows[row].found, p)
	}
	return a
}

// at notes where a row of the source is written, and returns it if it has problems.
func (a annotations) at(row int, sheet string, line int) *annotatedRow {
	r := a.rows[row]
	if r == nil {
		return nil
	}
	r.sheet, r.line = sheet, line
	return r
}

// cell returns the problems of one cell of the row.
func (r *annotatedRow) cell(column int) problem.List {
	if r == nil {
		return nil
	}
	ref := cell.ColumnName(column) + strconv.Itoa(r.row)
	var found problem.List
	for _, p := range r.found {
		if p.Where.Cell == ref {
			found = append(found, p)
		}
	}
	return found
}

// commentText is the comment on an invalid cell.
func commentText(found problem.List) string {
	var b strings.Builder
	for i, p := range found {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(p.Message)
		if p.Hint != "" {
			b.WriteString("\n" + p.Hint)
		}
	}
	return b.String()
}

// place returns where in the workbook the cell of a problem is; "" for a problem that
// is not about one of the sheet's rows. A problem of a whole row leads to its first
// cell.
func (s *resultsSheet) place(p problem.Problem) string {
	r := s.annotations.rows[p.Where.Row]
	if r == nil || r.sheet == "" || p.Where.Sheet != s.annotations.sheet {
		return ""
	}
	letters := strings.TrimRight(p.Where.Cell, "0123456789")
	for i, c := range s.columns {
		if cell.ColumnName(c.source) == letters {
			return xlsx.Place(r.sheet, fmt.Sprint(cell.ColumnName(i), r.line))
		}
	}
	return xlsx.Place(r.sheet, fmt.Sprint("A", r.line))
}

// ColumnWidths measures a sheet's columns during a pass that is made for something
// else, so that a workbook does not read the sheet once more. The zero ColumnWidths
// has measured nothing.
type ColumnWidths struct {
	longest []int // characters, by column
}

// narrowest and widest bound a source column's width in characters.
const (
	narrowest = 8
	widest    = 48
)

// Measure takes a row into account.
func (r *ColumnWidths) Measure(record cell.Record) {
	for i := range record.Cells {
		c := &record.Cells[i]
		if c.Kind == cell.Empty {
			continue
		}
		for len(r.longest) <= i {
			r.longest = append(r.longest, 0)
		}
		if most := r.longest[i]; most < widest && (len(c.Shown) > most || c.Kind == cell.Date) {
			r.longest[i] = max(most, shownLength(c))
		}
	}
}

// Fits returns a problem if a results workbook has no room for the measured columns
// and Claimsheet's own beside them; own and contacts are as in Book. The problem names
// the cell of the last column.
func (r *ColumnWidths) Fits(sheet cell.Sheet, own []int, contacts bool) error {
	columns, added := max(len(sheet.Header), len(r.longest)), len(cell.ResultHeaders("", contacts))
	room := xlsx.MaxColumns - added
	if columns-len(own) <= room {
		return nil
	}
	return problem.At(sheet.At(columns-1, sheet.HeaderRow), "too-wide",
		"the sheet reaches to its column %s, and the results workbook needs %d columns beside them; expected at most %d columns",
		cell.ColumnName(columns-1), added, room).
		Hinted("delete the cells far to the right: look for a stray one")
}

// shownLength is roughly how many characters a cell shows. A date that does not fit is
// shown as ####, so its format counts too.
func shownLength(c *cell.Cell) int {
	n := utf8.RuneCountInString(c.Shown)
	if c.Kind == cell.Date {
		n = max(n, utf8.RuneCountInString(c.Format))
	}
	return n
}

// widths returns widths in which the columns' values and headers are readable, for
// all columns, including those beyond the last header.
func (r *ColumnWidths) widths(header []string) []float64 {
	widths := make([]float64, max(len(header), len(r.longest)))
	for i := range widths {
		n := 0
		if i < len(r.longest) {
			n = r.longest[i]
		}
		if i < len(header) {
			n = max(n, utf8.RuneCountInString(header[i])+2) // room for the filter's button
		}
		widths[i] = float64(min(max(n, narrowest), widest) + 2)
	}
	return widths
}

// widths measures the source's columns unless Widths has done so.
func (b Book) widths() ([]float64, error) {
	measured := b.Widths
	if measured == nil {
		measured = new(ColumnWidths)
		for record, err := range b.Records {
			if err != nil {
				return nil, err
			}
			measured.Measure(record)
		}
	}
	return measured.widths(b.Sheet.Header), nil
}
