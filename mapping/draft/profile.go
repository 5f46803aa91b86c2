package draft

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// The most that a Profile keeps. It counts the rows behind that, and looks for totals among them.
const (
	maxRows  = 10_000
	maxCells = 1_000_000
)

// Profile is what the cells of sheets say about the columns.
type Profile struct {
	columns   []*column
	kept      int            // the rows whose cells are kept
	rows      int            // all rows that are leads
	totals    int            // rows of totals that conditions leave out
	leadsOnly []string       // these conditions
	repeated  []string       // columns whose headers others have too, as a mapping names them
	emptied   map[string]int // texts that count as empty, and how many cells have them
}

// column is a column that a mapping can name, or several columns of a wide sheet that hold the same of different claims.
type column struct {
	name    string
	meaning []string    // meaningOf(name)
	cells   []cell.Cell // one for each row that was looked at; those of several columns one behind the other
	each    []*column   // the columns that it stands for, in the order of their numbers; nil for one

	// What the cells show; look fills these in.
	filled, keys   int    // cells that are filled, and how many keys these are
	texts          []text // the distinct ones, the most frequent first
	emails, phones int
	dates          dateReading
	points, commas int // texts that read as numbers with a decimal point, and with a decimal comma
	numbers        int // cells that read in the notation that reads the most of them
	percent        int // cells that show a percentage
}

// text is a text that cells of a column have.
type text struct {
	text  string
	count int
	cell  cell.Cell // the first of them
}

// NewProfile returns an empty profile of the columns that a mapping can name: with a header that is not repeated, and not that
// of a column of a results workbook. Of several sheets, headers are those that all of them have.
func NewProfile(headers []string) *Profile {
	p := &Profile{emptied: map[string]int{}}
	for _, h := range usable(headers) {
		p.columns = append(p.columns, &column{name: h, meaning: meaningOf(h)})
	}
	return p
}

// usable returns the headers that a mapping can name.
func usable(headers []string) []string {
	count := map[string]int{}
	for _, h := range headers {
		count[convert.FoldHeader(h)]++
	}
	return slices.DeleteFunc(slices.Clone(headers), func(h string) bool {
		return convert.FoldHeader(h) == "" || count[convert.FoldHeader(h)] > 1 || mapping.ResultColumn(h, false) != ""
	})
}

// IsEmpty reports whether there is no column that a mapping could name.
func (p *Profile) IsEmpty() bool { return len(p.columns) == 0 }

// Read looks at the rows of a sheet.
func (p *Profile) Read(sheet cell.Sheet, records iter.Seq2[cell.Record, error]) error {
	for i, h := range sheet.Header {
		isSame := func(other string) bool { return convert.FoldHeader(other) == convert.FoldHeader(h) }
		if convert.FoldHeader(h) != "" && count(sheet.Header, isSame) > 1 {
			p.repeated = append(p.repeated, fmt.Sprintf("%s [%s]", oneLine(h), cell.ColumnName(i)))
		}
	}
	at := make([]int, len(p.columns))
	for i, c := range p.columns {
		at[i] = slices.IndexFunc(sheet.Header, func(h string) bool { return convert.FoldHeader(h) == convert.FoldHeader(c.name) })
	}
	for record, err := range records {
		if err != nil {
			return err
		}
		if i, ok := mapping.TotalsLabel(record); ok {
			p.noteTotal(slices.Index(at, i), strings.ToLower(textOf(record.Cell(i))))
			continue
		}
		p.rows++
		if p.kept >= maxRows || (p.kept+1)*len(p.columns) > maxCells {
			continue
		}
		p.kept++
		for i, c := range p.columns {
			c.cells = append(c.cells, p.emptyOut(c, record.Cell(at[i])))
		}
	}
	return nil
}

// noteTotal notes a row of totals, and the condition that leaves it out; a run refuses one that no condition can name.
func (p *Profile) noteTotal(column int, text string) {
	if column < 0 || !isQuotable(p.columns[column].name) || !isQuotable(text) {
		return
	}
	p.totals++
	if condition := fmt.Sprintf(`lower(col("%s")) != "%s"`, p.columns[column].name, text); !slices.Contains(p.leadsOnly, condition) {
		p.leadsOnly = append(p.leadsOnly, condition)
	}
}

// emptyOut returns an empty cell in the place of one with a text that people write into empty cells, and counts the text.
func (p *Profile) emptyOut(c *column, v cell.Cell) cell.Cell {
	text := convert.Trim(v.Raw)
	isPerson := strings.EqualFold(text, "null") && slices.Contains(c.meaning, "name") // some people are called Null
	if v.Kind != cell.Text || isPerson || !slices.Contains(emptyWords, strings.ToLower(text)) {
		return v
	}
	p.emptied[text]++
	return cell.Cell{}
}

// look finds what the cells of the column show.
func (c *column) look() {
	at, keys := map[string]int{}, map[string]bool{}
	for _, v := range c.cells {
		if v.IsEmpty() {
			continue
		}
		c.filled++
		keys[keyOf(v)] = true
		s := textOf(v)
		i, known := at[s]
		if !known {
			i = len(c.texts)
			at[s] = i
			c.texts = append(c.texts, text{text: s, cell: v})
		}
		c.texts[i].count++
	}
	c.keys = len(keys)
	slices.SortStableFunc(c.texts, func(a, b text) int { return b.count - a.count })
	c.emails, c.phones = c.count(isEmail), c.count(isPhone)
	c.dates = c.readDates()
	numbers := c.count(func(v cell.Cell) bool { return v.Kind == cell.Number })
	c.points = c.count(func(v cell.Cell) bool { return number(v, pointNotation) != "" })
	c.commas = c.count(func(v cell.Cell) bool { return number(v, commaNotation) != "" })
	c.numbers = numbers + max(c.points, c.commas)
	c.percent = c.count(func(v cell.Cell) bool {
		return v.Kind == cell.Text && strings.HasSuffix(textOf(v), "%") || v.Kind == cell.Number && strings.Contains(v.Format, "%")
	})
}

// count returns how many cells are ok.
func (c *column) count(ok func(cell.Cell) bool) (n int) {
	for _, t := range c.texts {
		if ok(t.cell) {
			n += t.count
		}
	}
	return n
}

// enough is the share of a column's cells that must be of a kind for the column to be of it: sheets have mistakes.
const enough = 0.8

// isMostly reports whether n is enough of the filled cells; false when all are empty.
func (c *column) isMostly(n int) bool { return c.filled > 0 && float64(n) >= enough*float64(c.filled) }

func (c *column) isOfKind(k cell.Kind) bool {
	return c.isMostly(c.count(func(v cell.Cell) bool { return v.Kind == k }))
}

// textOf returns what a person reads in a cell, trimmed.
func textOf(c cell.Cell) string {
	if c.Kind == cell.Text {
		return convert.Trim(c.Raw)
	}
	return convert.Trim(c.Shown)
}

func isEmail(v cell.Cell) bool {
	_, refusal := (&convert.Converter{Type: convert.Email}).Convert(v)
	return refusal == nil
}

// countOf returns how many cells have one of some texts.
func countOf(texts []text) (n int) {
	for _, t := range texts {
		n += t.count
	}
	return n
}

func cellsInWords(n int) string { return inWords(n, "cell") }
func rowsInWords(n int) string  { return inWords(n, "row") }

// inWords returns 1 cell, 2 cells.
func inWords(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
