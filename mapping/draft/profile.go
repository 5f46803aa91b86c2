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

// The most that a Profile keeps. It counts the rows behind that, and looks for totals
// among them.
const (
	mostRows  = 10_000
	mostCells = 1_000_000
)

// Profile is what the cells of sheets say about the columns.
type Profile struct {
	columns  []*column
	places   []place // of the rows that were looked at
	rows     int     // all rows that are leads
	totals   []notLead
	headers  []notLead         // rows that repeat the headers
	bare     []string          // columns with data and no header
	repeated []string          // headers that several columns have, with the columns' letters
	merged   []string          // merged cells that leave others empty
	emptied  map[string]int    // texts that count as empty, and how many cells have them
	unsure   map[string]string // those of them that may be answers, and a column that has them
	isNarrow bool              // a limit was reached, or rows were left out
}

// place is where a row is: the position of its sheet, 0 = the first, and its number.
type place struct{ table, row int }

// notLead is a row that is no lead, the header of the column that shows it, "" without
// one, and the cell's text.
type notLead struct {
	place
	column, text string
}

// column is a column that a mapping can name, or several columns of a wide sheet that
// hold the same of different claims.
type column struct {
	name    string
	cells   []cell.Cell // one for each row that was looked at; those of several columns one behind the other
	group   *group      // the column's place in a wide sheet; nil for an ordinary column
	is1904  bool        // its dates are days since 1904
	meaning []string    // meaningOf(name)

	dates   *dateReading // kept by (*column).readDates
	numbers *numberReading
}

// NewProfile returns an empty profile of the columns that a mapping can name: with a
// header that is not repeated, and not that of a column of a results workbook. Of
// several sheets, headers are those that all of them have.
func NewProfile(headers []string) *Profile {
	p := &Profile{}
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

// Read looks at the rows of a sheet. merged are its merged cells.
func (p *Profile) Read(sheet cell.Sheet, records iter.Seq2[cell.Record, error], merged iter.Seq[cell.Area]) error {
	at := p.positions(sheet)
	p.noteRepeated(sheet.Header)
	for area := range merged {
		p.merged = append(p.merged, area.String())
	}
	var bare []int
	for record, err := range records {
		if err != nil {
			return err
		}
		if n, ok := notALead(sheet, record); ok {
			n.place = place{sheet.Table, record.Row}
			if n.text == "" {
				p.headers = append(p.headers, n)
			} else {
				p.totals = append(p.totals, n)
			}
			continue
		}
		for i, c := range record.Cells {
			if !c.IsEmpty() && (i >= len(sheet.Header) || convert.FoldHeader(sheet.Header[i]) == "") && !slices.Contains(bare, i) {
				bare = append(bare, i)
			}
		}
		p.rows++
		if len(p.places) >= mostRows || (len(p.places)+1)*len(p.columns) > mostCells {
			p.isNarrow = true
			continue
		}
		p.places = append(p.places, place{sheet.Table, record.Row})
		for i, c := range p.columns {
			c.is1904 = c.is1904 || sheet.Date1904
			c.cells = append(c.cells, record.Cell(at[i]))
		}
	}
	slices.Sort(bare)
	for _, i := range bare {
		p.bare = append(p.bare, cell.ColumnName(i))
	}
	return nil
}

// noteRepeated notes the headers that several columns have.
func (p *Profile) noteRepeated(header []string) {
	letters, order := map[string][]string{}, []string{}
	for i, h := range header {
		h = convert.FoldHeader(h)
		if letters[h] = append(letters[h], cell.ColumnName(i)); h != "" && len(letters[h]) == 2 {
			order = append(order, h)
		}
	}
	for _, h := range order {
		i := slices.IndexFunc(header, func(o string) bool { return convert.FoldHeader(o) == h })
		if note := fmt.Sprintf("%s (%s)", oneLine(header[i]), strings.Join(letters[h], ", ")); !slices.Contains(p.repeated, note) {
			p.repeated = append(p.repeated, note)
		}
	}
}

// positions returns where the sheet has each column; -1 for nowhere.
func (p *Profile) positions(sheet cell.Sheet) []int {
	at := make([]int, len(p.columns))
	for i, c := range p.columns {
		at[i] = slices.IndexFunc(sheet.Header, func(h string) bool { return convert.FoldHeader(h) == convert.FoldHeader(c.name) })
	}
	return at
}

// notALead recognises a row of totals, whose text it returns, and a row that repeats
// the headers.
func notALead(sheet cell.Sheet, record cell.Record) (n notLead, ok bool) {
	if i, ok := mapping.TotalsLabel(record); ok {
		if i < len(sheet.Header) {
			n.column = sheet.Header[i]
		}
		n.text = textOf(record.Cell(i))
		return n, true
	}
	same := 0
	for i, c := range record.Cells {
		if c.IsEmpty() {
			continue
		}
		if i >= len(sheet.Header) || c.Kind != cell.Text || convert.FoldHeader(c.Raw) != convert.FoldHeader(sheet.Header[i]) {
			return n, false
		}
		if same++; same == 1 {
			n.column = sheet.Header[i]
		}
	}
	return n, same > 1
}

// emptyWords are texts that people write into cells that are empty, in lower case.
// Those in doubtfulWords may be an answer.
var (
	emptyWords = []string{"n/a", "n.a.", "n.a", "na", "#n/a", "-", "--", "---", "–", "—", "tbc", "tba", "tbd", "null", "nil", "k.a.", "k. a.", "k.a", "?", "??", "not known", "not available",
		"nicht bekannt", "keine angabe", "keine angaben", "unbekannt", "unknown", "none", "(blank)", "(leer)"}
	doubtfulWords = []string{"none", "unknown", "unbekannt", "nil", "null", "not known", "nicht bekannt", "na"}
)

// mostEmptyWords limits how many spellings are proposed for sheet.empty.
const mostEmptyWords = 12

// emptyOut takes the texts that people write into empty cells out of the columns, and
// notes them. answers are texts that the service takes for an answer, folded.
func (p *Profile) emptyOut(answers map[string]bool) {
	p.emptied, p.unsure = map[string]int{}, map[string]string{}
	names := map[string]string{} // texts that are in a column of names: some people are called Null
	for _, c := range p.columns {
		for i, v := range c.cells {
			if v.Kind != cell.Text || len(v.Raw) > 20 {
				continue
			}
			text := convert.Trim(v.Raw)
			folded := strings.ToLower(text)
			if !slices.Contains(emptyWords, folded) || answers[folded] || p.emptied[text] == 0 && len(p.emptied) == mostEmptyWords {
				continue
			}
			if slices.Contains(c.meaning, "name") && slices.Contains(doubtfulWords, folded) {
				names[text] = c.name
				continue
			}
			p.emptied[text]++
			if _, noted := p.unsure[text]; !noted && slices.Contains(doubtfulWords, folded) {
				p.unsure[text] = c.name
			}
			c.cells[i] = cell.Cell{}
		}
	}
	for text, column := range names {
		if p.emptied[text] > 0 {
			p.unsure[text] = column
		}
	}
}

// textOf returns what a person reads in a cell, trimmed.
func textOf(c cell.Cell) string {
	if c.Kind == cell.Text {
		return convert.Trim(c.Raw)
	}
	return convert.Trim(c.Shown)
}

// filled yields the cells that are not empty, with the index of their row.
func (c *column) filled() iter.Seq2[int, cell.Cell] {
	return func(yield func(int, cell.Cell) bool) {
		for i, v := range c.cells {
			if !v.IsEmpty() && !yield(i, v) {
				return
			}
		}
	}
}

// count returns how many cells are filled, and how many of those are ok.
func (c *column) count(ok func(cell.Cell) bool) (good, filled int) {
	for _, v := range c.filled() {
		if filled++; ok(v) {
			good++
		}
	}
	return good, filled
}

// text is a text that cells of a column have.
type text struct {
	text  string
	count int
	kind  cell.Kind
}

// texts returns the distinct texts of the filled cells, the most frequent first.
func (c *column) texts() []text {
	at := map[string]int{}
	var all []text
	for _, v := range c.filled() {
		s := textOf(v)
		if i, known := at[s]; known {
			all[i].count++
			continue
		}
		at[s] = len(all)
		all = append(all, text{s, 1, v.Kind})
	}
	slices.SortStableFunc(all, func(a, b text) int { return b.count - a.count })
	return all
}

// enough is the share of a column's cells that must be of a kind for the column to be
// of it: sheets have mistakes.
const enough = 0.8

// mostly reports whether enough of the filled cells are ok; false when all are empty.
func (c *column) mostly(ok func(cell.Cell) bool) bool {
	good, filled := c.count(ok)
	return filled > 0 && float64(good) >= enough*float64(filled)
}

func (c *column) isBlank() bool {
	for range c.filled() {
		return false
	}
	return true
}
