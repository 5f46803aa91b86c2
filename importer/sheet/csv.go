package sheet

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// csvFile is a CSV file, plain or packed by gzip. Its cells are texts, just as
// they stand there: 00123, 1/2/2026 and =1+1 too. Only what spreadsheet programs
// write for an error, such as #N/A, is an error as it was to them.
//
// Its rows are numbered as a spreadsheet program does that opens it: a quoted
// field with line breaks in it is within one row, a blank line is a row.
type csvFile struct {
	file     *os.File
	size     int64
	packed   bool
	sheet    mapping.Sheet
	encoding string // declared
	comma    rune
	fields   int // of the header, those without a name included
}

// openCSV reads all of a CSV file once, so that what is wrong with it shows
// before any row is used.
func openCSV(file *os.File, packed bool, o Options) (*Reader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f := &csvFile{file: file, size: info.Size(), packed: packed, encoding: o.Encoding,
		sheet: mapping.Sheet{File: o.As, Name: filepath.Base(o.As), HeaderRow: o.HeaderRow}}
	header, err := f.delimit(o.Delimiter)
	if err != nil {
		return nil, err
	}
	f.fields = len(header)
	for i, name := range header {
		if strings.TrimSpace(name) == "" {
			header[i] = ""
		}
	}
	for len(header) > 0 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	f.sheet.Header = header
	if err := f.check(); err != nil {
		return nil, err
	}
	return &Reader{sheet: f.sheet, records: f.records}, nil
}

// check makes a pass. Rows that are wrong are told together, the first of them.
func (f *csvFile) check() error {
	const most = 10
	var found problem.List
	more := 0
	for row, err := range f.rows() {
		if err != nil {
			return err
		}
		switch p := f.wrong(row); {
		case p == nil:
		case p.Code == "file-too-large":
			return *p
		case len(found) < most:
			found = append(found, *p)
		default:
			more++
		}
	}
	if more > 0 {
		found = append(found, problem.At(problem.Where{File: f.sheet.File}, "wrong-row", "%d more rows are wrong like these", more))
	}
	return found.Err()
}

// records is a pass over the rows below the header.
func (f *csvFile) records() iter.Seq2[mapping.Record, error] {
	return func(yield func(mapping.Record, error) bool) {
		var cells []mapping.Cell
		for row, err := range f.rows() {
			if err == nil {
				if p := f.wrong(row); p != nil {
					err = *p
				}
			}
			if err != nil {
				yield(mapping.Record{}, asProblem(f.sheet.File, err))
				return
			}
			if row.number <= f.sheet.HeaderRow {
				continue
			}
			cells = cells[:0]
			for _, field := range row.fields[:row.filled()] {
				cells = append(cells, csvCell(field))
			}
			if len(cells) > 0 && !yield(mapping.Record{Row: row.number, Cells: cells}, nil) {
				return
			}
		}
	}
}

func csvCell(field string) mapping.Cell {
	kind := mapping.TextCell
	switch field {
	case "":
		return mapping.Cell{}
	case "#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!":
		kind = mapping.ErrorCell
	}
	return mapping.Cell{Kind: kind, Raw: field, Shown: field}
}

// csvRow is one row of the file, blank lines left out. Its fields are used
// again for the next one.
type csvRow struct {
	number int // from 1
	fields []string
}

// filled is the number of fields up to the last that is not empty.
func (r csvRow) filled() int {
	n := len(r.fields)
	for n > 0 && r.fields[n-1] == "" {
		n--
	}
	return n
}

// rows is a pass over all rows, the header and what stands above it included.
func (f *csvFile) rows() iter.Seq2[csvRow, error] {
	return func(yield func(csvRow, error) bool) {
		t, err := f.text()
		if err != nil {
			yield(csvRow{}, err)
			return
		}
		r := csv.NewReader(t)
		r.Comma, r.FieldsPerRecord, r.ReuseRecord = f.comma, -1, true
		row, last := csvRow{}, 0 // the line on which the row before ended
		for {
			t.given = 0
			row.fields, err = r.Read()
			if err == io.EOF && t.err == io.EOF {
				return
			}
			if err != nil {
				yield(csvRow{}, f.broken(t, err, last))
				return
			}
			first, _ := r.FieldPos(0)
			row.number += first - last
			last = first
			for _, field := range row.fields {
				last += strings.Count(field, "\n")
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// text opens the file's text from its beginning.
func (f *csvFile) text() (*text, error) {
	var r io.Reader = io.NewSectionReader(f.file, 0, f.size)
	if f.packed {
		z, err := unpack(r)
		if err != nil {
			return nil, err
		}
		r = z
	}
	return newText(r, f.sheet.File, f.encoding), nil
}

// broken says what ends a pass before the end of the file. last is the line on
// which the last good row ended.
func (f *csvFile) broken(t *text, err error, last int) error {
	at := problem.Where{File: f.sheet.File, Line: last + 1, Column: 1}
	var parse *csv.ParseError
	switch {
	case t.err == errLongRecord:
		return problem.At(at, "open-quote", "the row that begins here is longer than 16 MiB: a quote in it is probably never closed").
			Hinted("close the quote; a quote inside a quoted field is written twice")
	case t.err != nil && t.err != io.EOF:
		return t.err
	case errors.As(err, &parse):
		return f.badQuote(at, parse)
	}
	return err
}

// badQuote tells where a quote is, or where the row begins in which one is
// open to the end of the file.
func (f *csvFile) badQuote(at problem.Where, parse *csv.ParseError) error {
	at.Line = parse.StartLine
	if parse.Err == csv.ErrBareQuote {
		at.Line, at.Column = parse.Line, parse.Column
		return problem.At(at, "stray-quote", "a quote stands inside a field that does not begin with one").
			Hinted("put the whole field in quotes, and write a quote inside it twice; or export the sheet again")
	}
	return problem.At(at, "open-quote", "in the row that begins here a quote is opened and not closed before line %d ends, or a quote inside a quoted field is not written twice", parse.Line).
		Hinted("close the quote, or export the sheet again")
}
