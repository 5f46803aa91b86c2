package sheet

import (
	"io"
	"iter"
	"slices"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// openWorkbook reads all of a workbook but the rows below the header.
func openWorkbook(file io.ReaderAt, size int64, o Options) (*Reader, error) {
	a, err := openArchive(file, size)
	if err != nil {
		return nil, err
	}
	b, err := readWorkbook(a)
	if err != nil {
		return nil, err
	}
	entry, part, err := b.choose(o.Name)
	if err != nil {
		return nil, err
	}
	t, err := readTab(a, b, part)
	if err != nil {
		return nil, err
	}
	properties, err := readProperties(a)
	if err != nil {
		return nil, err
	}
	hidden, err := hiddenColumns(a, part)
	if err != nil {
		return nil, err
	}
	header, err := readHeader(t, entry.name, o.HeaderRow)
	if err != nil {
		return nil, err
	}
	return &Reader{
		sheet: mapping.Sheet{
			File: o.As, Name: entry.name, HeaderRow: o.HeaderRow, Header: header, Date1904: b.date1904,
			HiddenColumns: hidden,
		},
		merges:     t.merges,
		properties: properties,
		records:    func() iter.Seq2[mapping.Record, error] { return below(t, o.As, o.HeaderRow) },
	}, nil
}

// readTab reads what a pass over the sheet needs.
func readTab(a *archive, b *workbook, part string) (*tab, error) {
	t := &tab{archive: a, part: part, strings: &sharedStrings{}, date1904: b.date1904}
	var err error
	// Programs name parts that they do not write when nothing would be in them.
	// A cell that needs one is damage: see readCell.
	if i := find(b.related, "styles"); i >= 0 && a.has(b.related[i].target) {
		if t.styles, err = readStyles(a, b.related[i].target); err != nil {
			return nil, err
		}
	}
	if i := find(b.related, "sharedStrings"); i >= 0 && a.has(b.related[i].target) {
		if t.strings, err = readStrings(a, b.related[i].target); err != nil {
			return nil, err
		}
	}
	t.merges, err = survey(a, part)
	return t, err
}

// readHeader reads the header row. The pass ends there, or at the first row
// below it, which tells a missing header from an empty sheet.
func readHeader(t *tab, name string, row int) ([]string, error) {
	any := false
	for r, err := range t.rows() {
		if err != nil {
			return nil, err
		}
		any = true
		if r.Row == row {
			if header := texts(r); len(header) > 0 {
				return header, nil
			}
		}
		if r.Row >= row {
			break
		}
	}
	if !any {
		return nil, problem.New("empty-sheet", "the sheet %q is empty; expected a header in row %d", name, row).
			Hinted("name another sheet in the mapping, or export the sheet again")
	}
	return nil, problem.New("no-header", "the sheet %q has no header in row %d", name, row).
		Hinted("set header_row in the mapping to the row that holds the column names")
}

// texts are the cells of a header as shown, without trailing empty ones.
func texts(r mapping.Record) []string {
	header := make([]string, len(r.Cells))
	for i, c := range r.Cells {
		if !c.IsEmpty() {
			header[i] = c.Shown
		}
	}
	for len(header) > 0 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	return slices.Clip(header)
}

// below is a pass over the rows below the header.
func below(t *tab, path string, headerRow int) iter.Seq2[mapping.Record, error] {
	return func(yield func(mapping.Record, error) bool) {
		for r, err := range t.rows() {
			if err != nil {
				yield(mapping.Record{}, asProblem(path, err))
				return
			}
			if r.Row > headerRow && !yield(r, nil) {
				return
			}
		}
	}
}
