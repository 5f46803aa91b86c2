package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// part is one sheet's share of a run: what the ledger calls a run of its own,
// with its own results workbook. A client whose rows stand in several sheets is
// one client all the same.
type part struct {
	source *source
	table  int // its place among the run's sheets
	record ledger.Run
	target target
	rows   int // as the first pass counted them
	hidden hiddenRows
	layout *layout
	widths reports.ColumnWidths
	marked string // the digest of its source, a results workbook, once that is marked; "" before
}

// parts are the run's sheets. The first has the run's own id.
func (o runOptions) parts(s *setup, known *ledger.Ledger, id string, started time.Time) ([]*part, error) {
	if n := len(s.sources); n > 1 && o.out != "" && !isFolder(o.out) {
		return nil, problem.At(problem.Where{File: o.out}, "output-no-folder", "%d sheets make %d workbooks; -o must name a folder that exists", n, n).
			Hinted("make the folder, or leave -o out: each workbook goes beside its sheet")
	}
	var parts []*part
	var found problem.List
	takenBy := map[string]string{}
	for i, src := range s.sources {
		if i > 0 {
			id = uuid.NewString()
		}
		path := o.output(src.input.given)
		if other, taken := takenBy[absolute(path)]; taken {
			found = append(found, problem.At(problem.Where{File: path}, "output-twice", "the workbooks of %s and %s would be written to the same file",
				other, src.input.given).Hinted("rename one of the sheets, or run them one after the other"))
		}
		takenBy[absolute(path)] = src.input.given
		parts = append(parts, &part{source: src, table: i, layout: newLayout(s, i),
			record: o.runRecord(s, src, id, started),
			target: target{path: path, format: o.format, dryRun: o.dryRun, ledger: known}})
	}
	nameWorkbooks(parts)
	return parts, found.Err()
}

// nameWorkbooks sets what places call the results workbooks.
func nameWorkbooks(parts []*part) {
	paths := make([]string, len(parts))
	for i, part := range parts {
		paths[i] = part.target.path
	}
	for i, name := range bookNames(paths) {
		if places := parts[i].source.places; places != nil {
			places.File = name
		}
	}
}

// output is where a sheet's workbook goes. -o is a file, or for several sheets,
// and whenever it is one, a folder.
func (o runOptions) output(path string) string {
	switch {
	case o.out == "":
		return o.defaultOutput(path)
	case isFolder(o.out):
		return filepath.Join(o.out, filepath.Base(o.defaultOutput(path)))
	}
	return o.out
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (o runOptions) defaultOutput(path string) string {
	stem := strings.TrimSuffix(path, sheet.Ext(path))
	switch {
	case o.dryRun:
		return stem + ".plan.xlsx"
	case o.format == formatCSV:
		return strings.TrimSuffix(stem, ".results") + ".results.csv"
	case o.origins != nil:
		return path
	}
	return stem + ".results.xlsx"
}

func (o runOptions) runRecord(s *setup, src *source, id string, started time.Time) ledger.Run {
	return ledger.Run{
		ID: id, Environment: s.scope, EnvironmentName: s.env.Name,
		Mapping: s.mapping.Name.Text, MappingFile: absolute(s.mapping.File), MappingDigest: s.mapping.Digest,
		Input: src.input.given, InputDigest: src.input.digest, KeptInput: src.input.path,
		Version: Version, Started: started.UTC(),
	}
}

// sheet is what is known of the part's sheet besides its records.
func (p *part) sheet() cell.Sheet { return p.source.sheet(p.table) }

// see counts a row.
func (p *part) see(record cell.Record) {
	p.rows++
	p.widths.Measure(record)
	if places := p.source.places; places != nil {
		places.Note(record)
	}
	p.layout.see(record)
	if record.Hidden {
		p.hidden.note(record.Row)
	}
}

// own are the columns that an earlier results workbook added, of a rerun.
func (p *part) own() []int {
	if p.source.results == nil {
		return nil
	}
	return p.source.results.ownColumns()
}

// checkWidths refuses sheets that leave no room for the columns that Claimsheet
// adds, before anything is sent.
func checkWidths(parts []*part) error {
	var found problem.List
	for _, part := range parts {
		if part.target.format == formatCSV {
			continue // a text file is as wide as it likes
		}
		if err := found.Collect(part.widths.Fits(part.sheet(), part.own())); err != nil {
			return err
		}
	}
	return found.Err()
}

// checkTargets refuses places that cannot be written to, before anything is
// sent.
func checkTargets(ctx context.Context, parts []*part, now time.Time) error {
	var found problem.List
	for _, part := range parts {
		if err := found.Collect(part.target.check(ctx, now)); err != nil {
			return err
		}
	}
	return found.Err()
}

// survey makes the first pass over all the sheets. It refuses one with too few
// rows or a title for its header, and typed cells whose attribute nobody gave a
// type.
func (p *program) survey(ctx context.Context, o runOptions, s *setup, parts []*part) (*importer.Survey, error) {
	survey, err := importer.Take(ctx, s.binding, s.rows, !o.dryRun)
	if err != nil {
		return nil, err
	}
	found, untyped := s.binding.CheckTypes(survey.Typed)
	console.PrintWarnings(p.Err, untyped)
	for _, part := range parts {
		wrong, warnings := part.layout.verdict()
		found = append(found, wrong...)
		console.PrintWarnings(p.Err, warnings)
		if !s.mapping.Sheet.SkipHidden {
			console.PrintProblems(p.Err, part.hidden.taken(part.sheet()))
		}
		if part.rows < o.minRows {
			return nil, tooFewRows(part, o.minRows)
		}
	}
	return survey, found.Err()
}

func runsOf(parts []*part) []string {
	ids := make([]string, len(parts))
	for i, part := range parts {
		ids[i] = part.record.ID
	}
	return ids
}

// notices are what is to be known of a run before it starts.
func (o runOptions) notices(s *setup) (problem.List, error) {
	var notices problem.List
	for _, from := range o.origins {
		if p, ok := from.together(len(o.origins)); ok {
			notices = append(notices, p)
		}
	}
	for _, src := range s.sources {
		if !src.reader.Encrypted() {
			continue
		}
		p, err := unencrypted(src.input.given, o.output(src.input.given))
		if err != nil {
			return nil, err
		}
		notices = append(notices, p)
	}
	return notices, nil
}

// layout looks at the rows of a sheet for signs that its headers stand in
// another row than the mapping says.
type layout struct {
	sheet  cell.Sheet
	rule   mapping.SheetRule
	first  []cell.Record // the first rows that hold anything
	filled []int         // by column: the row of the first cell, 0 for none
}

// newLayout is for one of the run's sheets.
func newLayout(s *setup, i int) *layout {
	return &layout{sheet: s.sources[i].sheet(i), rule: s.mapping.Sheet}
}

// see looks at a row. Its cells are copied where they are kept.
func (l *layout) see(record cell.Record) {
	any := false
	for i, c := range record.Cells {
		if c.IsEmpty() {
			continue
		}
		any = true
		for len(l.filled) <= i {
			l.filled = append(l.filled, 0)
		}
		if l.filled[i] == 0 {
			l.filled[i] = record.Row
		}
	}
	if any && len(l.first) < mapping.SoughtRows {
		record.Cells = append([]cell.Cell(nil), record.Cells...)
		l.first = append(l.first, record)
	}
}

// mostColumns is how many columns are named.
const mostColumns = 5

// verdict says what the rows have shown. One header over three filled columns
// or more is a title, and no mapping means that: it is an error until the
// mapping says the row itself. Other data without a header is warned of, for it
// may be notes that nobody wants to send.
func (l *layout) verdict() (wrong, warnings problem.List) {
	headers, data := 0, 0
	var bare []string
	from := 0 // the first row with data that has no header
	for i := range max(len(l.filled), len(l.sheet.Header)) {
		named := i < len(l.sheet.Header) && strings.TrimSpace(l.sheet.Header[i]) != ""
		if named {
			headers++
		}
		if i >= len(l.filled) || l.filled[i] == 0 {
			continue
		}
		if data++; named {
			continue
		}
		if bare = append(bare, cell.ColumnName(i)); from == 0 || l.filled[i] < from {
			from = l.filled[i]
		}
	}
	hint := "give these columns headers, or write the row of the headers in the mapping: sheet: {header_row: N}"
	if row := mapping.LikelyHeader(l.sheet, l.first); row != l.sheet.HeaderRow {
		hint = fmt.Sprintf("row %d looks like the row of the headers: write sheet: {header_row: %d} in the mapping, or give these columns headers", row, row)
	}
	at := l.sheet.AtRow(l.sheet.HeaderRow)
	switch {
	case len(bare) == 0:
	case headers == 1 && data >= 3 && !l.rule.HeaderRowGiven:
		wrong = append(wrong, problem.At(at, "title-row", "the row was taken for the headers, and it has one text over %d columns that hold data: it looks like a title", data).
			Hinted("%s; where row %d is meant, write sheet: {header_row: %d}", hint, l.sheet.HeaderRow, l.sheet.HeaderRow))
	default:
		warnings = append(warnings, problem.At(at, "no-header-over-data", "%s below this row, from row %d on, and %s no header here: no mapping can use it",
			holdData(bare), from, hasOrHave(len(bare))).Hinted("%s", hint))
	}
	return wrong, warnings
}

// holdData says which columns hold data.
func holdData(columns []string) string {
	if len(columns) == 1 {
		return "column " + columns[0] + " holds data"
	}
	names := strings.Join(columns[:min(len(columns), mostColumns)], ", ")
	if more := len(columns) - mostColumns; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return "columns " + names + " hold data"
}

func hasOrHave(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// hiddenRows notes the rows that nobody sees in the sheet.
type hiddenRows struct {
	count int
	spans [][2]int // the first stretches of them, first row and last
}

// mostSpans is how many stretches of rows are named.
const mostSpans = 5

func (h *hiddenRows) note(row int) {
	h.count++
	last := len(h.spans) - 1
	if last >= 0 && h.spans[last][1] == row-1 {
		h.spans[last][1] = row
	} else if len(h.spans) <= mostSpans { // one more than is named, to know that there are more
		h.spans = append(h.spans, [2]int{row, row})
	}
}

// taken says that hidden rows are imported: they may have been hidden because
// they are not wanted.
func (h *hiddenRows) taken(s cell.Sheet) problem.List {
	if h.count == 0 {
		return nil
	}
	var names []string
	for _, span := range h.spans[:min(len(h.spans), mostSpans)] {
		name := fmt.Sprint(span[0])
		if span[1] > span[0] {
			name += fmt.Sprintf("–%d", span[1])
		}
		names = append(names, name)
	}
	where, more := strings.Join(names, ", "), ""
	if len(h.spans) > mostSpans {
		more = " and more"
	}
	rows := "1 row is hidden in the sheet and taken all the same: "
	if h.count > 1 {
		rows = fmt.Sprintf("%d rows are hidden in the sheet and taken all the same: ", h.count)
	}
	return problem.List{problem.At(problem.Where{File: s.Book, Table: s.Table, Sheet: s.Name}, "hidden-rows", "%s", rows+where+more).
		Hinted("show them, or leave them out by the mapping: sheet: {hidden_rows: skip}")}
}
