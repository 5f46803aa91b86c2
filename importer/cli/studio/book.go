package studio

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/sheet"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
)

// book is the sheet as it is read with some options: its headers, and its rows in a spool. It does not change.
type book struct {
	options reading
	err     error // why it cannot be read; nil when it can
	sheet   sheetJSON
	isOpen  bool       // it could be opened
	table   cell.Sheet // zero until then
	columns []*column

	rows    *spool.Rows
	places  []int64    // of each record in the spool
	records []cell.Row // of each record, ascending
	watch   *draft.SheetWatch

	suggestions []draft.Suggestion // by the rows
	proposed    []byte             // a first mapping; nil when the rows give none
}

// reading is how the sheet is read.
type reading struct {
	sheet.Options
	fillDown string // the columns of sheet.fill_down, each with a line feed before it
}

const (
	maxDistinct = 2000
	maxSamples  = 5
	shortSample = 120 // characters of a sample
	firstRows   = 20
)

func openBook(ctx context.Context, path string, o reading, r draft.Request) *book {
	b := &book{options: o, sheet: lookAt(path, o.Options)}
	b.sheet.HeaderRow = max(o.HeaderRow, 1)
	if b.err = b.open(ctx, path, r); b.err != nil {
		var found problem.List
		if other := found.Collect(b.err); other != nil {
			found = problem.List{problem.New("", "%s", other.Error())}
		}
		b.sheet.Problems = (&analysis{}).show(found)
	}
	return b
}

func (b *book) open(ctx context.Context, path string, r draft.Request) error {
	if err := workbook.RefuseAsSheet(path, path); err != nil {
		return err
	}
	reader, err := sheet.Open(path, b.options.Options)
	if err != nil {
		return err
	}
	defer reader.Close()
	b.isOpen, b.table = true, reader.Sheet()
	b.sheet.Name = b.table.Name
	b.watch = draft.NewSheetWatch(b.table)
	for i, header := range b.table.Header {
		isSame := func(other string) bool { return convert.FoldHeader(other) == convert.FoldHeader(header) }
		isShared := header != "" && (slices.ContainsFunc(b.table.Header[:i], isSame) || slices.ContainsFunc(b.table.Header[i+1:], isSame))
		b.columns = append(b.columns, &column{Letter: cell.ColumnName(i), Header: header, Shared: isShared, Samples: []string{},
			tallyJSON: tallyJSON{Problems: []errorJSON{}}, texts: map[string]bool{}})
	}
	if b.rows, err = spool.NewRows("", func(yield func(cell.Record, error) bool) { b.readRows(ctx, reader, yield) }); err != nil {
		return err
	}
	if b.places, err = b.rows.Places(); err != nil {
		return err
	}
	for _, c := range b.columns {
		c.Empty = len(b.records) - c.Filled
	}
	return b.propose(r)
}

// lookAt reads the first rows of a sheet, whichever of them has the headers.
func lookAt(path string, o sheet.Options) sheetJSON {
	l := sheetJSON{Path: path, Names: []string{}, Name: o.Name, First: [][]string{}, Problems: []problemJSON{}}
	var r *sheet.Reader
	for o.HeaderRow = 1; r == nil && o.HeaderRow <= firstRows; o.HeaderRow++ {
		r, _ = sheet.Open(path, o)
	}
	if r == nil && o.Name != "" {
		o.Name = "" // the workbook has no such sheet: its first one, to choose from
		return lookAt(path, o)
	}
	if r == nil {
		return l
	}
	defer r.Close()
	s := r.Sheet()
	l.Names, l.Name = append(l.Names, r.SheetNames...), s.Name
	put := func(row int, texts []string) {
		for len(l.First) < row {
			l.First = append(l.First, []string{})
		}
		l.First[row-1] = texts
	}
	put(s.HeaderRow, s.Header)
	for record, err := range r.Records() {
		if err != nil || record.Row > firstRows {
			break
		}
		texts := []string{}
		for _, c := range record.Cells {
			texts = append(texts, sample(c.Shown))
		}
		put(record.Row, texts)
	}
	return l
}

func sample(s string) string {
	if r := []rune(s); len(r) > shortSample {
		return string(r[:shortSample-1]) + "…"
	}
	return s
}

// readRows yields the rows, and notes what the columns hold.
func (b *book) readRows(ctx context.Context, r *sheet.Reader, yield func(cell.Record, error) bool) {
	fill := mapping.FillDown(strings.Split(b.options.fillDown, "\n")[1:], b.table)
	for record, err := range r.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(record, err)
			return
		}
		b.watch.See(record)
		b.records = append(b.records, cell.RowOf(0, record.Row))
		for i, c := range b.columns {
			c.see(record.Cell(i))
		}
		if !yield(fill(record), nil) {
			return
		}
	}
}

// propose makes suggestions and a first mapping as init does, unless no column has a header that a mapping could name.
func (b *book) propose(r draft.Request) error {
	seen := draft.NewProfile(b.table.Header)
	if seen.IsEmpty() {
		return nil
	}
	r.Sources = []string{filepath.Base(b.table.File)}
	if err := seen.Read(b.table, b.rows.Records()); err != nil {
		return err
	}
	made := draft.Propose(r, seen)
	b.suggestions = made.Suggestions()
	if len(made.Problems(b.table)) == 0 {
		b.proposed = made.Plain()
	}
	return nil
}

func (c *column) see(v cell.Cell) {
	if v.IsEmpty() {
		return
	}
	c.Filled++
	switch {
	case c.texts[v.Shown]:
	case len(c.texts) == maxDistinct:
		c.DistinctMore = true
	default:
		c.texts[strings.Clone(v.Shown)] = true
		if c.Distinct++; c.Distinct <= maxSamples {
			c.Samples = append(c.Samples, strings.Clone(sample(v.Shown)))
		}
	}
}

func (b *book) close() {
	if b.rows != nil {
		_ = b.rows.Close()
	}
}

// find returns the column that a name of the mapping means; -1 for none or several.
func (b *book) find(name string) int { return mapping.FindColumn(b.table, name) }

// columnOf returns the column of a cell; -1 for the row as a whole.
func columnOf(at problem.Where) int { return cell.ColumnAt(strings.TrimRight(at.Cell, "0123456789")) }

// record returns the place of a row among the records; -1 for none.
func (b *book) record(row cell.Row) int {
	if i, ok := slices.BinarySearch(b.records, row); ok {
		return i
	}
	return -1
}
