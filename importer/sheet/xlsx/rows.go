package xlsx

import (
	"iter"
	"slices"

	"claimsheet/mapping/cell"
)

// Records reads the rows below the header that have a value, from the first one
// each time. A record's cells are valid until the next record. An error is the last
// thing that it delivers; without one every row was delivered.
func (s *Sheet) Records() iter.Seq2[cell.Record, error] { return s.rowsBelow(s.headerRow) }

// rowsBelow reads the rows below one that have a value.
func (s *Sheet) rowsBelow(row int) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		part, err := s.archive.open(s.part, maxSheetBytes)
		if err != nil {
			yield(cell.Record{}, err)
			return
		}
		defer part.Close()
		p := &pass{Sheet: s, scanner: newScanner(part), yield: yield, above: row, below: s.merges}
		if err := p.run(); err != nil && !p.stopped {
			yield(cell.Record{}, err)
		}
	}
}

// pass is the state of one pass.
type pass struct {
	*Sheet
	*scanner
	above   int // the last row that is not delivered
	yield   func(cell.Record, error) bool
	stopped bool        // the consumer wants no more
	below   []cell.Area // merged cells that begin below the row, by first row
	merged  []cell.Area // that reach the row

	row    int         // the row being read, 0 before the first
	hidden bool        // it is hidden
	column int         // the cell being read, -1 before the row's first
	found  []xmlCell   // cells of the row that have a value
	buf    []byte      // their texts, but for shared strings
	value  []byte      // the stored value of the cell being read
	cells  []cell.Cell // of the record last delivered
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
			return nil
		case t == startTag && string(p.name) == "row":
			err = p.readRow()
		case t == startTag || p.isText():
			err = p.damaged("after row %d is an element that is not a row", p.row)
		}
		if err != nil || p.stopped {
			return err
		}
	}
}

// readRow reads a row whose start tag was just scanned, and delivers it.
func (p *pass) readRow() error {
	if err := p.rowAttributes(); err != nil {
		return err
	}
	p.column, p.found, p.buf = -1, p.found[:0], p.buf[:0]
	for {
		t, err := p.next()
		switch {
		case err != nil:
			return err
		case t == endTag:
			return p.deliver()
		case t == startTag && string(p.name) == "c":
			if err = p.readCell(); err == nil && len(p.buf) > cell.MaxRowBytes {
				err = p.damaged("row %d holds more than 16 MiB of text", p.row)
			}
		case t == startTag && string(p.name) == "extLst":
			err = p.skip()
		case t == startTag || p.isText():
			err = p.damaged("row %d holds an element that is not a cell", p.row)
		}
		if err != nil {
			return err
		}
	}
}

// rowAttributes reads a row's number, which must be greater than the previous one, and whether it is hidden.
func (p *pass) rowAttributes() error {
	row := p.row + 1
	p.hidden = false
	for {
		name, value, ok := p.attribute()
		if !ok {
			break
		}
		switch string(name) {
		case "r":
			if row, ok = rowNumber(value); !ok {
				return p.damaged("after row %d is a row with an invalid number", p.row)
			}
		case "hidden":
			if p.hidden, ok = boolean(string(value)); !ok {
				return p.damaged("it is unclear whether row %d is hidden; expected 1, 0, true or false", row)
			}
		}
	}
	if row <= p.row || row > cell.MaxRows {
		return p.damaged("row %d comes after row %d", row, p.row)
	}
	p.row = row
	return nil
}

// deliver delivers the row unless it has no value. The record's cells are reused.
func (p *pass) deliver() error {
	if len(p.found) == 0 {
		return nil
	}
	if err := p.mergedInRow(); err != nil {
		return err
	}
	text := string(p.buf)
	width := p.found[len(p.found)-1].column + 1
	p.cells = slices.Grow(p.cells[:0], width)[:width]
	clear(p.cells)
	for i := range p.found {
		if c := &p.found[i]; !p.isCovered(c.column) {
			p.cells[c.column] = c.finish(text)
		}
	}
	for len(p.cells) > 0 && p.cells[len(p.cells)-1].Kind == cell.Empty {
		p.cells = p.cells[:len(p.cells)-1]
	}
	if len(p.cells) > 0 && p.row > p.above {
		p.stopped = !p.yield(cell.Record{Row: p.row, Cells: p.cells, Hidden: p.hidden}, nil)
	}
	return nil
}

// reference reads a cell reference such as C7: column from 0, row from 1. ok is
// false for text that is not a cell of a sheet.
func reference(b []byte) (column, row int, ok bool) {
	i := 0
	for i < len(b) && i < 4 {
		c := b[i] &^ 0x20 // upper case
		if c < 'A' || c > 'Z' {
			break
		}
		column = column*26 + int(c-'A') + 1
		i++
	}
	if i == 0 || column > cell.MaxColumns {
		return 0, 0, false
	}
	row, ok = rowNumber(b[i:])
	return column - 1, row, ok
}

// rowNumber reads a row's number, from 1.
func rowNumber(b []byte) (row int, ok bool) {
	row, ok = digits(b)
	return row, ok && b[0] != '0' && row <= cell.MaxRows
}

// digits reads a number of digits alone, of at most nine.
func digits(b []byte) (n int, ok bool) {
	if len(b) == 0 || len(b) > 9 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
