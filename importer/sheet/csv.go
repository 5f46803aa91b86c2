package sheet

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"golang.org/x/text/encoding"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// csvFile is a CSV file that was checked.
//
// Its cells are texts, exactly as written: 00123, 1/2/2026 and =1+1 too. Only the words
// that spreadsheet programs write for an error, such as #N/A, become errors. Rows
// are numbered as a spreadsheet program numbers them when it opens the file: a
// quoted field with line breaks belongs to one row, and a blank line is a row.
type csvFile struct {
	file     io.ReaderAt
	size     int64
	sheet    cell.Sheet
	encoding encoding.Encoding // nil for UTF-8
	mark     int64             // size of the byte order mark
	comma    rune
	fields   int // of the header, including those without a name
}

// openCSV reads all of a CSV file once, so that the first problem is known before any
// row is used. sheet names the file in problems, and has the row of the header. A problem about
// the whole file has no place.
func openCSV(file io.ReaderAt, size int64, sheet cell.Sheet, o Options) (*csvFile, error) {
	f := &csvFile{file: file, size: size, sheet: sheet}
	if err := f.detectEncoding(o.Encoding); err != nil {
		return nil, err
	}
	header, err := f.delimit(o.Delimiter)
	if err != nil {
		return nil, err
	}
	f.fields, f.sheet.Header = len(header), cell.TrimHeader(header)
	for row, err := range f.rows() {
		if err == nil {
			err = f.wrong(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// records reads the rows below the header that have a value, from the beginning of
// the file each time. A record's cells are valid until the next record.
func (f *csvFile) records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		var cells []cell.Cell
		for row, err := range f.rows() {
			if err != nil {
				yield(cell.Record{}, err)
				return
			}
			if row.number <= f.sheet.HeaderRow {
				continue
			}
			cells = cells[:0]
			for _, field := range row.fields[:row.filled()] {
				cells = append(cells, csvCell(field))
			}
			if len(cells) > 0 && !yield(cell.Record{Row: row.number, Cells: cells}, nil) {
				return
			}
		}
	}
}

func csvCell(field string) cell.Cell {
	kind := cell.Text
	switch field {
	case "":
		return cell.Cell{}
	case "#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!":
		kind = cell.Error
	}
	return cell.Cell{Kind: kind, Raw: field, Shown: field}
}

// fileRow is one row of the file; blank lines give none. Its fields are reused for
// the next row.
type fileRow struct {
	number int // from 1
	fields []string
}

// filled returns the number of fields up to the last one that is not empty.
func (r fileRow) filled() int {
	n := len(r.fields)
	for n > 0 && r.fields[n-1] == "" {
		n--
	}
	return n
}

// rows reads all rows, including the header and the rows above it.
func (f *csvFile) rows() iter.Seq2[fileRow, error] {
	return func(yield func(fileRow, error) bool) {
		t := f.text()
		r := csv.NewReader(t)
		r.Comma, r.FieldsPerRecord, r.ReuseRecord = f.comma, -1, true
		row, last := fileRow{}, 0 // the line on which the previous row ended
		for {
			t.given = 0
			var err error
			row.fields, err = r.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(fileRow{}, f.broken(err, last))
				return
			}
			first, _ := r.FieldPos(0)
			row.number += first - last
			last = first
			for i, field := range row.fields {
				last += strings.Count(field, "\n")
				if wrong, hint := f.notText(field); wrong != "" {
					yield(fileRow{}, problem.At(f.sheet.At(i, row.number), "not-text", "%s", wrong).Hinted("%s", hint))
					return
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// broken describes an error that ends the reading before the end of the file. last
// is the line on which the last good row ended.
func (f *csvFile) broken(err error, last int) error {
	at := problem.Where{File: f.sheet.File, Line: last + 1, Column: 1}
	parse, isSyntax := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, errLongRecord):
		return problem.At(at, "open-quote", "the row that begins here is longer than 16 MiB: a quote in it is probably never closed").
			Hinted("close the quote; a quote inside a quoted field is written twice")
	case !isSyntax:
		return err
	case parse.Err == csv.ErrBareQuote:
		at.Line, at.Column = parse.Line, parse.Column
		return problem.At(at, "stray-quote", "a field that does not begin with a quote contains one").
			Hinted("put the whole field in quotes, and write a quote inside it twice; or export the sheet again")
	}
	at.Line = parse.StartLine
	return problem.At(at, "open-quote",
		"the row that begins here has a quote that is not closed before line %d ends, or a quote inside a quoted field that is not written twice", parse.Line).
		Hinted("close the quote, or export the sheet again")
}

// wrong refuses a row that no sheet could hold, or that has more fields than the header.
// The header and the rows above it may have any number of fields.
func (f *csvFile) wrong(row fileRow) error {
	filled := row.filled()
	long := slices.IndexFunc(row.fields, func(field string) bool { return !cell.Fits(field) })
	switch {
	case row.number > cell.MaxRows:
		return problem.At(problem.Where{File: f.sheet.File}, "file-too-large", "it has more than 1,048,576 rows, the most that a sheet can hold").
			Hinted("split it into several files")
	case filled > cell.MaxColumns:
		return problem.At(f.sheet.AtRow(row.number), "file-too-large", "it has more than 16,384 fields, the most that a sheet can hold").
			Hinted("check whether a line break is missing")
	case row.number > f.sheet.HeaderRow && filled > f.fields:
		extra := f.fields
		for row.fields[extra] == "" {
			extra++
		}
		return problem.At(f.sheet.At(extra, row.number), "extra-field", "the row has %d fields, and the header %d; expected no more than in the header",
			filled, f.fields).
			Hinted("put a field that holds %s in quotes, or give the column a header", delimiterName(f.comma))
	case long >= 0:
		return problem.At(f.sheet.At(long, row.number), "long-field", "holds more than 32,767 characters, the most that a cell can hold").
			Hinted("shorten it; if it holds other rows, a quote is not closed")
	}
	return nil
}

func delimiterName(comma rune) string {
	if comma == '\t' {
		return "a tab"
	}
	return "“" + string(comma) + "”"
}

// delimit chooses the delimiter and returns the header's fields. The delimiter is
// the declared one, else the only one that splits the header.
func (f *csvFile) delimit(declared string) (fields []string, err error) {
	if declared != "" {
		f.comma = []rune(declared)[0]
		return f.header()
	}
	var names []string // of the delimiters that split the header
	only := ','
	for _, comma := range ",;\t" {
		f.comma = comma
		if fields, err := f.header(); err == nil && len(fields) > 1 {
			names, only = append(names, delimiterName(comma)), comma
		}
	}
	if len(names) > 1 {
		return nil, problem.At(f.sheet.AtRow(f.sheet.HeaderRow), "unknown-delimiter",
			"the header can be split at %s; expected only one of them", strings.Join(names, " or at ")).
			Hinted("name the delimiter in the mapping: sheet: {delimiter: \",\"}, {delimiter: \";\"} or {delimiter: tab}")
	}
	f.comma = only
	fields, err = f.header()
	if len(fields) == 1 && strings.Contains(fields[0], "|") {
		return nil, problem.At(f.sheet.AtRow(f.sheet.HeaderRow), "other-delimiter",
			"the header seems to be split at “|”; expected a comma, a semicolon or a tab").
			Hinted("export the sheet again with one of these; if it has one column, name any of them in the mapping: sheet: {delimiter: \",\"}")
	}
	return fields, err
}

// header returns the fields of the header row.
func (f *csvFile) header() ([]string, error) {
	any := false
	for row, err := range f.rows() {
		if err != nil {
			return nil, err
		}
		any = any || row.filled() > 0
		if row.number == f.sheet.HeaderRow && strings.TrimSpace(strings.Join(row.fields, "")) != "" {
			return slices.Clone(row.fields), nil
		}
		if row.number >= f.sheet.HeaderRow && any {
			break
		}
	}
	if !any {
		return nil, problem.New("empty-sheet", "the file has no rows; expected a header in row %d", f.sheet.HeaderRow).
			Hinted("export the sheet again")
	}
	return nil, problem.New("no-header", "the file has no header in row %d", f.sheet.HeaderRow).
		Hinted("set header_row in the mapping to the row that holds the column names")
}
