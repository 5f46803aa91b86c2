package cli

import (
	"fmt"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// hiddenRows notes the rows that nobody sees in the sheet.
type hiddenRows struct {
	count int
	spans [][2]int // the first stretches of them, first row and last
}

// mostSpans is how many stretches of rows are named.
const mostSpans = 5

func (h *hiddenRows) note(row int) {
	h.count++
	last := len(h.spans) - 1
	if last >= 0 && h.spans[last][1] == row-1 {
		h.spans[last][1] = row
	} else if len(h.spans) <= mostSpans { // one more than is named, to know that there are more
		h.spans = append(h.spans, [2]int{row, row})
	}
}

// taken says that hidden rows are imported: they may have been hidden because
// they are not wanted.
func (h *hiddenRows) taken(s mapping.Sheet) problem.List {
	if h.count == 0 {
		return nil
	}
	var names []string
	for _, span := range h.spans[:min(len(h.spans), mostSpans)] {
		name := fmt.Sprint(span[0])
		if span[1] > span[0] {
			name += fmt.Sprintf("–%d", span[1])
		}
		names = append(names, name)
	}
	where, more := strings.Join(names, ", "), ""
	if len(h.spans) > mostSpans {
		more = " and more"
	}
	rows := "1 row is hidden in the sheet and taken all the same: "
	if h.count > 1 {
		rows = fmt.Sprintf("%d rows are hidden in the sheet and taken all the same: ", h.count)
	}
	return problem.List{problem.At(problem.Where{File: s.Book, Table: s.Table, Sheet: s.Name}, "hidden-rows", "%s", rows+where+more).
		Hinted("show them, or leave them out by the mapping: sheet: {hidden_rows: skip}")}
}
