package sheet

import (
	"unicode/utf8"

	"claimsheet/mapping/problem"
)

// wrong says what is wrong with a row; nil for nothing. The header and what
// stands above it may have any number of fields.
func (f *csvFile) wrong(row csvRow) *problem.Problem {
	var p problem.Problem
	filled := row.filled()
	long := tooLongField(row.fields)
	switch {
	case row.number > maxRows:
		p = problem.At(problem.Where{File: f.sheet.File}, "file-too-large", "it has more than 1,048,576 rows, which is all that a sheet can hold").
			Hinted("split it into several files")
	case filled > maxColumns:
		p = problem.At(f.sheet.AtRow(row.number), "file-too-large", "it has more than 16,384 fields, which is all that a sheet can hold").
			Hinted("look whether a line break is missing")
	case row.number > f.sheet.HeaderRow && filled > f.fields:
		extra := f.fields
		for row.fields[extra] == "" {
			extra++
		}
		p = problem.At(f.sheet.At(extra, row.number), "extra-field", "the row has %d fields, and the header %d; expected no more than in the header",
			filled, f.fields).
			Hinted("put a field that holds %s in quotes, or give the column a header", delimiterName(f.comma))
	case long >= 0:
		p = problem.At(f.sheet.At(long, row.number), "long-field", "holds more than 32,767 characters, which is all that a cell can hold").
			Hinted("shorten it; if it holds other rows, a quote is not closed")
	default:
		return nil
	}
	return &p
}

// tooLongField is the first field that does not fit a cell; -1 for none.
func tooLongField(fields []string) int {
	for i, field := range fields {
		if len(field) > maxCell && utf8.RuneCountInString(field) > maxCell {
			return i
		}
	}
	return -1
}
