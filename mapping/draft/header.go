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
// the columns that the first rows fill, and one of these rows names them all.
// rows are the first SoughtRows rows below the header.
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

// namedColumns returns the number of columns with a header.
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

// isWords reports whether a cell holds a text with letters.
func isWords(c cell.Cell) bool {
	return c.Kind == cell.Text && strings.ContainsFunc(c.Raw, unicode.IsLetter)
}
