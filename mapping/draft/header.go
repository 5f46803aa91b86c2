package draft

import (
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// SoughtRows is the number of rows below the header that LikelyHeader looks at.
const SoughtRows = 20

// LikelyHeader returns the number of the row that most likely holds the headers. That is the sheet's header row, unless it names
// fewer than half of the columns that the first rows fill, and one of these rows has texts for half of them. rows are the first
// SoughtRows rows below the header.
func LikelyHeader(sheet cell.Sheet, rows []cell.Record) int {
	width := 0
	for _, r := range rows {
		width = max(width, filled(r))
	}
	if width < 3 || 2*NamedColumns(sheet.Header) >= width {
		return sheet.HeaderRow
	}
	isData := func(c cell.Cell) bool {
		return !c.IsEmpty() && (c.Kind != cell.Text || !strings.ContainsFunc(c.Raw, unicode.IsLetter))
	}
	for _, r := range rows {
		if 2*filled(r) >= width && !slices.ContainsFunc(r.Cells, isData) {
			return r.Row
		}
	}
	return sheet.HeaderRow
}

// NamedColumns returns how many columns have a header.
func NamedColumns(header []string) int {
	return count(header, func(h string) bool { return convert.FoldHeader(h) != "" })
}

func filled(r cell.Record) int { return count(r.Cells, func(c cell.Cell) bool { return !c.IsEmpty() }) }
