package studio

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// book is the sheets as they are read with some options: their headers, and their rows in
// a spool. It does not change. Its columns are those of the first sheet; others have
// theirs by their headers.
type book struct {
	options  reading
	err      error // why it cannot be read; nil when it can
	sheets   []sheetJSON
	versions []string     // of the files, before they were opened
	tables   []cell.Sheet // of the sheets that could be opened
	columns  []*column
	at       [][]int // by sheet: the columns' places in it; -1 for none

	rows    *spool.Rows
	places  []int64    // of each record in the spool
	records []cell.Row // of each record, ascending
	headers []*draft.HeaderWatch
	dates   []*draft.DateColumns

	suggestions []draft.Suggestion // by the rows
	proposed    []byte             // a first mapping; nil when the rows give none
}

// reading is how sheets are read.
type reading struct {
	sheet.Options
	fillDown string // the columns of sheet.fill_down, each with a line feed before it
}

// column is what the rows of the sheets have in one column.
type column struct {
	columnJSON
	index int
	texts map[string]bool // the distinct texts, at most mostDistinct
}

const (
	mostDistinct = 2000
	mostSamples  = 5
	shortSample  = 120 // characters of a sample
	firstRows    = 20
)

func openBook(ctx context.Context, paths []string, o reading, r draft.Request) *book {
	b := &book{options: o}
	defer b.complain()
	var readers []*sheet.Reader
	books := cell.BookNames(paths)
	for i, path := range paths {
		b.versions, b.sheets = append(b.versions, versionOf(path)), append(b.sheets, lookAt(path, o.Options))
		b.sheets[i].HeaderRow = max(o.HeaderRow, 1)
		err := workbook.RefuseAsSheet(path, path)
		var reader *sheet.Reader
		if err == nil {
			reader, err = sheet.Open(path, o.Options)
		}
		if err != nil {
			b.err = errors.Join(b.err, err)
			continue
		}
		defer reader.Close()
		s := reader.Sheet()
		s.Table, s.Book = i, books[i]
		b.sheets[i].Name = s.Name
		readers, b.tables = append(readers, reader), append(b.tables, s)
		b.headers, b.dates = append(b.headers, draft.NewHeaderWatch(s)), append(b.dates, draft.NewDateColumns(s))
	}
	if b.err != nil {
		return b
	}
	b.findColumns()
	if b.rows, b.err = spool.NewRows("", func(yield func(cell.Record, error) bool) { b.readRows(ctx, readers, yield) }); b.err == nil {
		b.places, b.err = b.rows.Places()
	}
	for _, c := range b.columns {
		c.Empty = len(b.records) - c.Filled
		c.Problems, c.Warnings = []errorJSON{}, []errorJSON{}
	}
	if b.err == nil {
		b.err = b.propose(ctx, r, readers)
	}
	return b
}

// complain says at the first sheet why the book cannot be read.
func (b *book) complain() {
	var found problem.List
	if other := found.Collect(b.err); other != nil {
		found = problem.List{problem.New("", "%s", other.Error())}
	}
	b.sheets[0].Problems = (&analysis{}).show(found)
}

// findColumns finds the columns of the first sheet in the others.
func (b *book) findColumns() {
	place := func(header string) func(string) bool {
		return func(other string) bool { return convert.FoldHeader(other) == convert.FoldHeader(header) }
	}
	first := b.tables[0].Header
	for i, header := range first {
		isShared := header != "" && (slices.ContainsFunc(first[:i], place(header)) || slices.ContainsFunc(first[i+1:], place(header)))
		b.columns = append(b.columns, &column{index: i, texts: map[string]bool{},
			columnJSON: columnJSON{Letter: cell.ColumnName(i), Header: header, Shared: isShared, Samples: []string{}}})
	}
	for t, table := range b.tables {
		at := make([]int, len(first))
		for i, header := range first {
			if at[i] = i; t > 0 {
				at[i] = slices.IndexFunc(table.Header, place(header))
			}
		}
		b.at = append(b.at, at)
	}
}

// versionOf tells a file from one that takes its place, or from what is written into it
// later; "" for a missing file.
func versionOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
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

// readRows yields the rows of all sheets, and notes what the columns hold.
func (b *book) readRows(ctx context.Context, readers []*sheet.Reader, yield func(cell.Record, error) bool) {
	for t, r := range readers {
		fill := mapping.FillDown(strings.Split(b.options.fillDown, "\n")[1:], b.tables[t])
		for record, err := range r.Records() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(record, err)
				return
			}
			record.Table = t
			b.headers[t].See(record)
			b.dates[t].See(record)
			b.records = append(b.records, cell.RowOf(t, record.Row))
			for i, c := range b.columns {
				if at := b.at[t][i]; at >= 0 {
					c.see(record.Cell(at))
				}
			}
			if !yield(fill(record), nil) {
				return
			}
		}
	}
}

// propose makes suggestions and a first mapping as init does, unless no column has a
// header that a mapping could name.
func (b *book) propose(ctx context.Context, r draft.Request, readers []*sheet.Reader) error {
	headers := b.tables[0].Header
	for _, table := range b.tables[1:] {
		headers = slices.DeleteFunc(slices.Clone(headers), func(h string) bool { return !slices.Contains(table.Header, h) })
	}
	seen := draft.NewProfile(headers)
	if seen.IsEmpty() {
		return nil
	}
	r.Sources = nil
	for t, table := range b.tables {
		r.Sources = append(r.Sources, filepath.Base(table.File))
		rows := func(yield func(cell.Record, error) bool) {
			for record, err := range b.rows.Records() {
				if err == nil {
					err = ctx.Err()
				}
				if err != nil || record.Table == t {
					if !yield(record, err) || err != nil {
						return
					}
				}
			}
		}
		if err := seen.Read(table, rows); err != nil {
			return err
		}
	}
	made := draft.Propose(r, seen)
	b.suggestions = made.Suggestions()
	if !slices.ContainsFunc(b.tables, func(table cell.Sheet) bool { return len(made.Problems(table)) > 0 }) {
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
	case len(c.texts) == mostDistinct:
		c.DistinctMore = true
	default:
		c.texts[strings.Clone(v.Shown)] = true
		if c.Distinct++; c.Distinct <= mostSamples {
			c.Samples = append(c.Samples, strings.Clone(sample(v.Shown)))
		}
	}
}

func (b *book) close() {
	if b.rows != nil {
		_ = b.rows.Close()
	}
}

// column returns the column with a letter; nil for none.
func (b *book) column(letter string) *column {
	i := cell.ColumnAt(letter)
	if i < 0 || i >= len(b.columns) {
		return nil
	}
	return b.columns[i]
}

// find returns the first sheet's column that a name of the mapping means; -1 for none or
// several.
func (b *book) find(name string) int {
	if len(b.tables) == 0 {
		return -1
	}
	return mapping.FindColumn(b.tables[0], name)
}

// columnOf returns the first sheet's column of a cell; -1 for the row as a whole.
func (b *book) columnOf(at problem.Where) int {
	i := slices.IndexFunc([]rune(at.Cell), func(r rune) bool { return r < 'A' })
	if i <= 0 {
		return -1
	}
	index := cell.ColumnAt(at.Cell[:i])
	if at.Table == 0 {
		return index
	}
	return slices.Index(b.at[at.Table], index)
}

// record returns the place of a row among the records; -1 for none.
func (b *book) record(row cell.Row) int {
	i, ok := slices.BinarySearch(b.records, row)
	if !ok {
		return -1
	}
	return i
}
