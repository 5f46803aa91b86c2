package sheet

import (
	"iter"
	"unicode/utf8"

	"claimsheet/mapping"
)

// tab is a worksheet, ready to be passed over.
type tab struct {
	archive  *archive
	part     string
	strings  *sharedStrings
	styles   []*format
	merges   []Area
	date1904 bool
}

// rows is a pass over all rows of the sheet that have a value.
func (t *tab) rows() iter.Seq2[mapping.Record, error] {
	return func(yield func(mapping.Record, error) bool) {
		part, err := t.archive.open(t.part, maxSheetBytes)
		if err != nil {
			yield(mapping.Record{}, err)
			return
		}
		r := unpackAhead(part)
		defer r.Close()
		p := &pass{tab: t, scanner: newScanner(part), yield: yield}
		p.r = r
		p.cover.ahead = t.merges
		if err := p.run(); err != nil && !p.stopped {
			yield(mapping.Record{}, err)
		}
	}
}

// pass is the state of one pass.
type pass struct {
	*tab
	*scanner
	yield   func(mapping.Record, error) bool
	stopped bool // the consumer has had enough
	cover   cover

	row    int            // the row being read, 0 before the first
	hidden bool           // it is hidden
	column int            // the cell being read, -1 before the row's first
	found  []cell         // cells of the row that have a value
	buf    []byte         // their texts, but for shared strings
	value  []byte         // the stored value of the cell being read
	cells  []mapping.Cell // of the record last delivered; all empty beyond its length
	filled []int          // which of them are not empty
}

// run reads the sheet to the part's end.
func (p *pass) run() error {
	data := false
	for {
		t, err := p.next()
		if err != nil {
			return err
		}
		switch {
		case t == endOfPart:
			if !data {
				return p.damaged("it has no rows element")
			}
			return nil
		case t != startTag:
		case p.depth() == 1:
			if string(p.name) != "worksheet" {
				return p.damaged("it is not a worksheet")
			}
		case string(p.name) != "sheetData":
			err = p.skip()
		case data:
			return p.damaged("it holds its rows twice")
		default:
			data = true
			err = p.sheetData()
		}
		if err != nil || p.stopped {
			return err
		}
	}
}

func (p *pass) sheetData() error {
	for {
		t, err := p.next()
		switch {
		case err != nil:
			return err
		case t == endTag:
			return p.deliver()
		case t == startTag && string(p.name) == "row":
			err = p.readRow()
		case t == startTag || p.isText():
			err = p.damaged("after row %d stands what is no row", p.row)
		}
		if err != nil || p.stopped {
			return err
		}
	}
}

// readRow reads a row, whose start tag was just scanned. Programs write a row in
// pieces, so it is delivered when another begins.
func (p *pass) readRow() error {
	row, hidden, err := p.rowAttributes()
	if err != nil {
		return err
	}
	if row > p.row {
		if err := p.deliver(); err != nil || p.stopped {
			return err
		}
		p.row, p.column, p.hidden = row, -1, false
		p.found, p.buf = p.found[:0], p.buf[:0]
	}
	p.hidden = p.hidden || hidden
	for {
		t, err := p.next()
		switch {
		case err != nil:
			return err
		case t == endTag:
			return nil
		case t == startTag && string(p.name) == "c":
			if err = p.readCell(); err == nil && len(p.buf) > maxRecord {
				err = p.damaged("row %d holds more than 16 MiB of text", p.row)
			}
		case t == startTag && string(p.name) == "extLst":
			err = p.skip()
		case t == startTag || p.isText():
			err = p.damaged("row %d holds what is no cell", p.row)
		}
		if err != nil {
			return err
		}
	}
}

// rowAttributes reads a row's number, which is that of the row before or
// greater.
func (p *pass) rowAttributes() (row int, hidden bool, err error) {
	row = p.row + 1
	for {
		name, value, ok := p.attribute()
		if !ok {
			break
		}
		switch string(name) {
		case "r":
			if row, ok = rowNumber(value); !ok {
				return 0, false, p.damaged("after row %d stands a row whose number is none of a sheet's", p.row)
			}
		case "hidden":
			if hidden, ok = boolean(string(value)); !ok {
				return 0, false, p.damaged("whether row %d is hidden cannot be told; expected 1, 0, true or false", row)
			}
		}
	}
	if row < p.row || row > maxRows {
		return 0, false, p.damaged("row %d stands after row %d", row, p.row)
	}
	return row, hidden, nil
}

// deliver hands the row over unless it has no value. The record's cells are
// used again, so those of the row before are emptied first.
func (p *pass) deliver() error {
	if len(p.found) == 0 {
		return nil
	}
	if !p.cover.move(p.row) {
		return p.damaged("its merged cells overlap, or are too many")
	}
	text := string(p.buf)
	for _, column := range p.filled {
		p.cells[column] = mapping.Cell{}
	}
	p.filled = p.filled[:0]
	cells := p.cells[:0]
	for i := range p.found {
		c := &p.found[i]
		if p.cover.covers(p.row, c.column) {
			continue
		}
		cells = extend(cells, c.column+1)
		cells[c.column] = c.finish(text)
		p.filled = append(p.filled, c.column)
	}
	p.cells = cells
	if len(cells) > 0 {
		p.stopped = !p.yield(mapping.Record{Row: p.row, Cells: cells, Hidden: p.hidden}, nil)
	}
	return nil
}

// extend makes room for n cells. What lies between len and cap is empty.
func extend(cells []mapping.Cell, n int) []mapping.Cell {
	if n <= cap(cells) {
		return cells[:n]
	}
	bigger := make([]mapping.Cell, n, max(n, 2*cap(cells)))
	copy(bigger, cells)
	return bigger
}

// maxCell is how many characters a cell can hold.
const maxCell = 32_767

// tooLong tells whether a text is longer than a cell can hold.
func tooLong(b []byte) bool {
	return len(b) > maxCell && utf8.RuneCount(b) > maxCell
}
