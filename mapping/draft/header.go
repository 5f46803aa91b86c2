package draft

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"slices"
	"strings"
	"unicode"
)

// SoughtRows is the number of rows below the header that LikelyHeader looks
// at.
const SoughtRows = 20

// LikelyHeader returns the number of the row that most likely holds the
// headers. That is the sheet's header row, unless it names fewer than half of
// the columns that the first rows fill, and one of these rows names them all, or
// unless it has gaps, as merged headers over the real ones do, and the next row
// fills them. rows are the first SoughtRows rows below the header.
func LikelyHeader(sheet cell.Sheet, rows []cell.Record) int {
	width := 0
	for _, r := range rows {
		width = max(width, filled(r))
	}
	headers := NamedColumns(sheet.Header)
	if len(rows) > 1 && headers < len(sheet.Header) && filled(rows[0]) == width && width >= 3 && looksNamed(rows[0]) && !looksNamed(rows[1]) {
		return rows[0].Row
	}
	if width < 3 || 2*headers >= width {
		return sheet.HeaderRow
	}
	for _, r := range rows {
		if 2*filled(r) >= width && !slices.ContainsFunc(r.Cells, func(c cell.Cell) bool { return !c.IsEmpty() && !isWords(c) }) {
			return r.Row
		}
	}
	return sheet.HeaderRow
}

// NamedColumns returns how many columns have a header.
func NamedColumns(header []string) int {
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

// looksNamed reports whether a row can hold headers: words without digits other than
// small numbers, and without an @.
func looksNamed(r cell.Record) bool {
	return !slices.ContainsFunc(r.Cells, func(c cell.Cell) bool {
		digits := strings.Count(strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '9'
			}
			return r
		}, c.Raw), "9")
		return !c.IsEmpty() && (!isWords(c) || digits > 2 || strings.Contains(c.Raw, "@"))
	})
}

// isWords reports whether a cell holds a text with letters.
func isWords(c cell.Cell) bool {
	return c.Kind == cell.Text && strings.ContainsFunc(c.Raw, unicode.IsLetter)
}
