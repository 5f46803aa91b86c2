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
	return head(s, maxCell-1) + "…"
}

// cutMark ends a source text that was cut.
const cutMark = "… [cut here: a cell of a workbook cannot hold more]"

// cutSource is a source text as it fits a cell, and says so when something was
// cut off.
func cutSource(s string) string {
	if len(s) <= maxCell || units(s) <= maxCell {
		return s
	}
	return head(s, maxCell-units(cutMark)) + cutMark
}

// IsCut tells whether a text of a results workbook is the beginning of a source
// text that was too long for a cell. It is no longer what was imported.
func IsCut(s string) bool {
	return strings.HasSuffix(s, cutMark) && units(s) >= maxCell-1
}

// head is as much of s as fits n characters.
func head(s string, n int) string {
	for i, r := range s {
		if n -= max(1, utf16.RuneLen(r)); n < 0 {
			return s[:i]
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
