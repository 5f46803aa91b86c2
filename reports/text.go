package reports

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"
)

// maxCell is how many characters (UTF-16 code units) a cell may hold. Beyond
// it excelize cuts without a word.
const maxCell = excelize.TotalCellChars

// cut is s as it fits a cell, ending in an ellipsis when something was cut off.
func cut(s string) string {
	if len(s) <= maxCell || units(s) <= maxCell {
		return s
	}
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > maxCell-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// joinIDs lists ids, whole ones only: what does not fit is counted and is
// found in the sheet Steps.
func joinIDs(ids []string) string {
	all := strings.Join(ids, ", ")
	if units(all) <= maxCell {
		return all
	}
	const room = len(" … and 1000000 more, see the sheet Steps")
	var b strings.Builder
	for i, id := range ids {
		if b.Len()+len(id)+2+room > maxCell {
			fmt.Fprintf(&b, " … and %d more, see the sheet Steps", len(ids)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(id)
	}
	return b.String()
}

// units counts as spreadsheet programs do.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r)) // invalid bytes become U+FFFD
	}
	return n
}
