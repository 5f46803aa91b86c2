package studio

import (
	"context"
	"errors"
	"hash/maphash"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
// a spool. Its columns are those of the first sheet; others have theirs by their headers.
//
// Once ready is closed nothing of it changes. Before, only tables and columns' headers
// may be read. Who reads its rows holds use, so that close waits.
type book struct {
	options  reading
	opening  bool  // the sheets are being opened, and another book will take the place of this one
	err      error // why it cannot be read; nil when it can
	tables   []cell.Sheet
	readers  []*sheet.Reader
	columns  []*column
	at       [][]int       // by sheet: the columns' places in it; -1 for none
	names    []string      // of the sheets of the first file
	looks    []look        // of each sheet, as far as they could be opened
	versions []fileVersion // of the files, before they were opened

	ctx     context.Context // of reading it
	stop    context.CancelFunc
	use     sync.RWMutex
	ready   chan struct{}
	seen    atomic.Int64 // rows that have been read
	failed  error        // why the rows could not be read
	rows    *spool.Rows
	places  []int64    // of each record in the spool
	records []cell.Row // of each record, ascending
	headers []*draft.HeaderWatch
	dates   []*draft.DateColumns

	suggestions []draft.Suggestion // by the rows
}

// reading is how sheets are read.
type reading struct {
	sheet.Options
	fillDown string // the columns of sheet.fill_down, each with a line feed before it
}

// look is the beginning of a sheet, for choosing the header row.
type look struct {
	path   string
	names  []string // of the file's sheets
	name   string
	likely int        // the row that most likely has the headers
	first  [][]string // the first rows, as shown
}

// column is what the rows of the sheets have in one column.
type column struct {
	index   int
	header  string
	shared  bool // another column has the same header
	filled  int
	kinds   [cell.Uncomputed + 1]int
	samples []string

	distinct int                 // texts, at most mostDistinct
	more     bool                // there are more
	texts    map[uint64]struct{} // the distinct texts, as fingerprints, while rows are read
}

const (
	mostDistinct = 2000
	mostSamples  = 5
	shortSample  = 120 // characters of a sample
	firstRows    = 20
)

// openBook opens the sheets, without reading their rows.
func openBook(ctx context.Context, paths []string, o reading) *book {
	b := &book{options: o, ready: make(chan struct{})}
	b.ctx, b.stop = context.WithCancel(ctx)
	books := cell.BookNames(paths)
	for i, path := range paths {
		b.versions = append(b.versions, versionOf(path))
		l, r := lookAt(path, o.Options)
		if b.looks = append(b.looks, l); i == 0 {
			b.names = l.names
		}
		err := workbook.RefuseAsSheet(path, path)
		if r != nil && (err != nil || r.Sheet().HeaderRow != max(o.HeaderRow, 1)) {
			_ = r.Close()
			r = nil
		}
		if err == nil && r == nil {
			r, err = sheet.Open(path, o.Options)
		}
		if err != nil {
			b.err = errors.Join(b.err, err)
			continue
		}
		s := r.Sheet()
		s.Table, s.Book = i, books[i]
		b.readers, b.tables = append(b.readers, r), append(b.tables, s)
		b.headers, b.dates = append(b.headers, draft.NewHeaderWatch(s)), append(b.dates, draft.NewDateColumns(s))
	}
	if b.err != nil {
		return b
	}
	place := func(header string) func(string) bool {
		return func(other string) bool { return convert.FoldHeader(other) == convert.FoldHeader(header) }
	}
	first := b.tables[0].Header
	for i, header := range first {
		isShared := header != "" && (slices.ContainsFunc(first[:i], place(header)) || slices.ContainsFunc(first[i+1:], place(header)))
		b.columns = append(b.columns, &column{index: i, header: header, shared: isShared, texts: map[uint64]struct{}{}})
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
	return b
}

// fileVersion tells a file from one that takes its place, or from what is written into it
// later.
type fileVersion struct {
	size    int64
	written time.Time
}

// versionOf returns the version of a file; the zero one for a missing file.
func versionOf(path string) fileVersion {
	info, err := os.Stat(path)
	if err != nil {
		return fileVersion{}
	}
	return fileVersion{info.Size(), info.ModTime()}
}

// lookAt reads the first rows of a sheet, whichever of them has the headers. It returns
// the reader that could do so; nil for none.
func lookAt(path string, o sheet.Options) (look, *sheet.Reader) {
	l := look{path: path, names: []string{}, name: o.Name, first: [][]string{}}
	var r *sheet.Reader
	for o.HeaderRow = 1; r == nil && o.HeaderRow <= firstRows; o.HeaderRow++ {
		r, _ = sheet.Open(path, o)
	}
	if r == nil && o.Name != "" {
		o.Name = "" // the workbook has no such sheet: its first one, to choose from
		first, r := lookAt(path, o)
		if r != nil {
			_ = r.Close()
		}
		return first, nil
	}
	if r == nil {
		return l, nil
	}
	s := r.Sheet()
	l.names, l.name = append(l.names, r.SheetNames()...), s.Name
	put := func(row int, texts []string) {
		for len(l.first) < row {
			l.first = append(l.first, []string{})
		}
		l.first[row-1] = texts
	}
	put(s.HeaderRow, s.Header)
	var rows []cell.Record
	for record, err := range r.Records() {
		if err != nil || record.Row > firstRows+s.HeaderRow {
			break
		}
		record.Cells = slices.Clone(record.Cells)
		rows = append(rows, record)
		texts := []string{}
		for _, c := range record.Cells {
			texts = append(texts, sample(c.Shown))
		}
		put(record.Row, texts)
	}
	l.first = l.first[:min(len(l.first), firstRows)]
	l.likely = draft.LikelyHeader(s, rows[:min(len(rows), draft.SoughtRows)])
	return l, r
}

// sample shortens a text for being shown as one of several.
func sample(s string) string {
	if r := []rune(s); len(r) > shortSample {
		return string(r[:shortSample-1]) + "…"
	}
	return s
}

// read reads the rows, and calls more from time to time. It closes ready at its end.
func (b *book) read(more func()) {
	defer close(b.ready)
	if b.failed = b.ctx.Err(); b.failed != nil { // it was closed
		return
	}
	if b.rows, b.failed = spool.NewRows("", b.source(more)); b.failed != nil {
		return
	}
	b.places, b.failed = b.rows.Places()
	for _, c := range b.columns {
		c.texts = nil
	}
}

// source yields the rows of all sheets, and notes what the columns hold.
func (b *book) source(more func()) iter.Seq2[cell.Record, error] {
	seed := maphash.MakeSeed()
	return func(yield func(cell.Record, error) bool) {
		for t, r := range b.readers {
			fill := mapping.FillDown(strings.Split(b.options.fillDown, "\n")[1:], b.tables[t])
			for record, err := range r.Records() {
				if err == nil {
					err = b.ctx.Err()
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
						c.see(record.Cell(at), seed)
					}
				}
				if b.seen.Add(1)%5000 == 0 {
					more()
				}
				if !yield(fill(record), nil) {
					return
				}
			}
		}
	}
}

// propose proposes a mapping as init does, by the rows that have been read; nil when no
// column has a header that a mapping could name.
func (b *book) propose(r draft.Request) (*draft.Proposal, error) {
	headers := b.tables[0].Header
	for _, table := range b.tables[1:] {
		headers = slices.DeleteFunc(slices.Clone(headers), func(h string) bool { return !slices.Contains(table.Header, h) })
	}
	seen := draft.NewProfile(headers)
	if seen.IsEmpty() {
		return nil, nil
	}
	for t, table := range b.tables {
		r.Sources = append(r.Sources, filepath.Base(b.readers[t].Sheet().File))
		rows := func(yield func(cell.Record, error) bool) {
			for record, err := range b.rows.Records() {
				if err == nil {
					err = b.ctx.Err()
				}
				if err != nil || record.Table == t {
					if !yield(record, err) || err != nil {
						return
					}
				}
			}
		}
		if err := seen.Read(table, rows); err != nil {
			return nil, err
		}
	}
	return draft.Propose(r, seen), nil
}

func (c *column) see(v cell.Cell, seed maphash.Seed) {
	if v.IsEmpty() {
		return
	}
	c.filled++
	c.kinds[v.Kind]++
	if c.more {
		return
	}
	text := maphash.String(seed, v.Shown)
	if _, known := c.texts[text]; known {
		return
	}
	if c.distinct == mostDistinct {
		c.more = true
		return
	}
	c.texts[text] = struct{}{}
	if c.distinct++; c.distinct <= mostSamples {
		c.samples = append(c.samples, sample(v.Shown))
	}
}

// close stops the reading, and removes the spool after the last use.
func (b *book) close() {
	if b.stop != nil {
		b.stop()
	}
	b.use.Lock()
	defer b.use.Unlock()
	for _, r := range b.readers {
		_ = r.Close()
	}
	if b.rows != nil {
		_ = b.rows.Close()
	}
}

// reading reports whether the rows are still being read.
func (b *book) reading() bool {
	select {
	case <-b.ready:
		return false
	default:
		return b.err == nil
	}
}

// isReady reports whether all rows have been read.
func (b *book) isReady() bool { return !b.reading() && b.err == nil && b.failed == nil }

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

// ours returns the first sheet's column of a column of another sheet; -1 for none.
func (b *book) ours(table, index int) int {
	if table == 0 {
		return index
	}
	return slices.Index(b.at[table], index)
}

// record returns the place of a row among the records; -1 for none.
func (b *book) record(row cell.Row) int {
	i, ok := slices.BinarySearch(b.records, row)
	if !ok {
		return -1
	}
	return i
}

// kind says what a column holds mostly.
func (c *column) kind() string {
	for kind, name := range map[cell.Kind]string{cell.Text: "text", cell.Number: "number", cell.Date: "date", cell.Bool: "bool"} {
		if n := c.kinds[kind]; n > 0 && 20*n >= 19*c.filled {
			return name
		}
	}
	if c.filled == 0 {
		return "empty"
	}
	return "mixed"
}

// columnOf returns the first sheet's column of a cell; -1 for the row as a whole.
func (b *book) columnOf(at problem.Where) int {
	i := slices.IndexFunc([]rune(at.Cell), func(r rune) bool { return r < 'A' })
	if i <= 0 {
		return -1
	}
	return b.ours(at.Table, cell.ColumnAt(at.Cell[:i]))
}
