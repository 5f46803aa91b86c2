package mapping

import (
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// SoughtRows is how many rows below the header LikelyHeader wants to see.
const SoughtRows = 20

// LikelyHeader is the number of the row that most likely holds the headers: the
// sheet's header row, unless that names fewer than half of the columns that the
// first rows fill and one of these rows names them all. rows are the first ones
// below the header, as many as SoughtRows.
func LikelyHeader(sheet cell.Sheet, rows []cell.Record) int {
	width := 0
	for _, r := range rows {
		width = max(width, filled(r))
	}
	if headers := namedColumns(sheet.Header); width < 3 || 2*headers >= width {
		return sheet.HeaderRow
	}
	for _, r := range rows {
		if 2*filled(r) >= width && !slices.ContainsFunc(r.Cells, func(c cell.Cell) bool { return !c.IsEmpty() && !isWords(c) }) {
			return r.Row
		}
	}
	return sheet.HeaderRow
}

// namedColumns is how many columns have a header.
func namedColumns(header []string) int {
	n := 0
	for _, h := range header {
		if convert.FoldHeader(h) != "" {
			n++
		}
	}
	return n
}

func filled(r cell.Record) int {
	n := 0
	for _, c := range r.Cells {
		if !c.IsEmpty() {
			n++
		}
	}
	return n
}

// isWords tells a cell that holds a text with letters.
func isWords(c cell.Cell) bool {
	return c.Kind == cell.Text && strings.ContainsFunc(c.Raw, unicode.IsLetter)
}

// totals are words for a sum of the rows above, in the languages in which
// exports are made here.
var totals = []string{"total", "totals", "grand total", "subtotal", "sub total", "sub-total", "sum", "summe", "gesamt", "gesamtsumme", "zwischensumme",
	"insgesamt", "somme", "totale", "totaal"}

// The codes of rows that are no leads.
const (
	totalsCode = "totals-row"
	headerCode = "header-row"
)

// IsNoLead tells a problem of a row that is no lead: totals, or the header
// again.
func IsNoLead(p problem.Problem) bool { return p.Code == totalsCode || p.Code == headerCode }

// notLead refuses a row that is no lead: a row of totals, whose only text says
// so, or the header again. Sent, it would make a client of that name.
func (r *reader) notLead() {
	if c, ok := totalsCell(r.record); ok {
		hint := "delete the row"
		header, word := r.b.sheet.ColumnLabel(c), strings.ToLower(asRead(r.record.Cell(c)))
		if c < len(r.b.sheet.Header) && convert.FoldHeader(r.b.sheet.Header[c]) != "" && !strings.ContainsAny(header, `'"\`) {
			hint += `, or let the mapping leave it out: sheet: {when: 'lower(col("` + header + `")) != "` + word + `"'}`
		}
		r.refuse(c, convert.CellError{Code: totalsCode, Message: "labels a row of totals, which is no lead", Hint: hint})
	}
	if c, ok := r.headerAgain(); ok {
		r.refuse(c, convert.CellError{Code: headerCode, Message: "stands here again with the other headers: the row is no lead", Hint: "delete the row; if the sheet's headers are in this row, write header_row under sheet in the mapping"})
	}
}

// asRead is a cell's text as col gives it to expressions; "" where it cannot be
// read.
func asRead(c cell.Cell) string {
	value, _ := (&convert.Converter{Type: convert.Text}).Convert(c)
	return value.Literal
}

// totalsCell is the column of the word that makes a row one of totals: nothing
// else in the row but numbers.
func totalsCell(record cell.Record) (column int, ok bool) {
	column = -1
	for i, c := range record.Cells {
		switch {
		case c.IsEmpty(), c.Kind == cell.Number, c.Kind == cell.Text && isAmount(c.Raw), c.Kind == cell.Error, c.Kind == cell.Uncomputed:
		case c.Kind == cell.Text && column < 0 && totalsWord(c) != "":
			column = i
		default:
			return -1, false
		}
	}
	return column, column >= 0
}

// totalsWord is the word for totals that a cell holds, "" for none.
func totalsWord(c cell.Cell) string {
	if len(c.Raw) > 40 {
		return ""
	}
	word := strings.ToLower(strings.Trim(convert.FoldKey(c.Raw), " :.="))
	if slices.Contains(totals, word) {
		return word
	}
	return ""
}

// isAmount tells a text that is written like a number, and not like one of a
// telephone.
func isAmount(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("()-%", r)
	})
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		return false
	}
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789.,' \u00a0\u202f") == ""
}

// headerAgain tells a row that repeats every header, of which there are two at
// least.
func (r *reader) headerAgain() (column int, ok bool) {
	column, same := -1, 0
	for i, header := range r.b.headers {
		c := r.record.Cell(i)
		if header == "" && c.IsEmpty() {
			continue
		}
		if c.Kind != cell.Text || convert.FoldHeader(c.Raw) != header {
			return -1, false
		}
		if same++; column < 0 {
			column = i
		}
	}
	return column, same > 1
}
