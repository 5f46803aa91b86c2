package xlsx

import (
	"claimsheet/importer/sheet/numfmt"
	"claimsheet/mapping/cell"
)

// xmlCell is a cell with a value, until its row is complete: the texts of a row become
// one string, and its cells hold pieces of it.
type xmlCell struct {
	column int
	cell   cell.Cell
	raw    span
	shown  span
}

// span is a piece of a row's text; the zero span is no text.
type span struct{ from, to int }

// finish returns the cell with its texts.
func (c *xmlCell) finish(text string) cell.Cell {
	if c.raw.to > 0 {
		c.cell.Raw = text[c.raw.from:c.raw.to]
	}
	if c.shown.to > 0 {
		c.cell.Shown = text[c.shown.from:c.shown.to]
	}
	return c.cell
}

// cellType is the t attribute of a cell.
type cellType uint8

const (
	numberType cellType = iota
	sharedType
	inlineType
	resultType // a formula's string
	boolType
	errorType
	dateType
)

// readCell reads a cell whose start tag was just scanned.
func (p *pass) readCell() error {
	kind, style, err := p.cellAttributes()
	if err != nil {
		return err
	}
	if p.empty { // most often a cell with a border and nothing in it
		_, err := p.next()
		return err
	}
	p.value = p.value[:0]
	formula, stored := false, false
	for {
		t, err := p.next()
		switch {
		case err != nil:
			return err
		case t == endTag:
			return p.addCell(kind, style, formula, stored)
		case t != startTag:
			if p.isText() {
				return p.cellDamaged("holds what is neither a value nor a formula")
			}
			continue
		}
		before := len(p.value)
		switch string(p.name) {
		case "v":
			stored = true
			p.value, err = p.content(p.value)
		case "f":
			formula = true
			err = p.skip()
		case "is":
			if kind != inlineType {
				return p.cellDamaged("holds a text but is of another type")
			}
			p.value, err = p.richText(p.value)
		case "extLst":
			err = p.skip()
		default:
			err = p.cellDamaged("holds what is neither a value nor a formula")
		}
		if err == nil && before > 0 && len(p.value) > before {
			err = p.cellDamaged("holds two values")
		}
		if err != nil {
			return err
		}
	}
}

// cellAttributes reads the cell's place, type and style.
func (p *pass) cellAttributes() (kind cellType, style *numfmt.Format, err error) {
	column := p.column + 1
	for {
		name, value, ok := p.attribute()
		if !ok {
			break
		}
		if len(name) != 1 {
			continue
		}
		switch name[0] {
		case 'r':
			at, row, ok := reference(value)
			if !ok || row != p.row {
				return 0, nil, p.damaged("row %d holds a cell of another row", p.row)
			}
			column = at
		case 's':
			if style, ok = p.style(value); !ok {
				return 0, nil, p.damaged("row %d holds a cell with a style that is not a number", p.row)
			}
		case 't':
			if kind, ok = typeOf(value); !ok {
				return 0, nil, p.damaged("row %d holds a cell of an unknown type", p.row)
			}
		}
	}
	// A cell that has no value yet may come again with one.
	again := column == p.column && (len(p.found) == 0 || p.found[len(p.found)-1].column < column)
	if column <= p.column && !again || column >= cell.MaxColumns {
		return 0, nil, p.damaged("the cells of row %d are out of order", p.row)
	}
	p.column = column
	return kind, style, nil
}

func typeOf(b []byte) (cellType, bool) {
	switch string(b) {
	case "n":
		return numberType, true
	case "s":
		return sharedType, true
	case "inlineStr":
		return inlineType, true
	case "str":
		return resultType, true
	case "b":
		return boolType, true
	case "e":
		return errorType, true
	case "d":
		return dateType, true
	}
	return 0, false
}

// index reads the number of a style or a shared string, from 0.
func index(b []byte) (n int, ok bool) {
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

// addCell adds the cell just read to the row if it has a value.
func (p *pass) addCell(kind cellType, style *numfmt.Format, formula, stored bool) error {
	c := xmlCell{column: p.column}
	c.cell.Format = style.Code()
	switch {
	case kind == inlineType || kind == resultType && stored:
		return p.addText(c, kind)
	case len(trimSpace(p.value)) > 0:
		return p.addValue(c, kind, style)
	case formula && !(kind == resultType && stored):
		c.cell.Kind = cell.Uncomputed
		p.found = append(p.found, c)
	}
	return nil
}

// addText adds a text that is stored in the cell itself.
func (p *pass) addText(c xmlCell, kind cellType) error {
	if kind == resultType {
		p.value = decodeEscapes(p.value, 0)
	}
	if !cell.Fits(p.value) {
		return p.cellDamaged("holds a text of more than 32,767 characters")
	}
	if len(p.value) == 0 {
		return nil
	}
	c.cell.Kind = cell.Text
	c.raw = p.keep(p.value)
	c.shown = c.raw
	p.found = append(p.found, c)
	return nil
}

// addValue adds a cell of any other type; its value is not empty.
func (p *pass) addValue(c xmlCell, kind cellType, style *numfmt.Format) error {
	p.value = trimSpace(p.value)
	switch kind {
	case numberType:
		return p.addNumber(c, style)
	case sharedType:
		n, ok := index(p.value)
		if !ok || n >= p.strings.len() {
			return p.cellDamaged("points to a shared string that does not exist")
		}
		text := p.strings.at(n)
		if text == "" {
			return nil
		}
		c.cell.Kind, c.cell.Raw, c.cell.Shown = cell.Text, text, text
	case boolType:
		c.cell.Kind = cell.Bool
		switch string(p.value) {
		case "1", "true":
			c.cell.Raw, c.cell.Shown = "1", "TRUE"
		case "0", "false":
			c.cell.Raw, c.cell.Shown = "0", "FALSE"
		default:
			return p.cellDamaged("is neither true nor false")
		}
	case errorType:
		c.cell.Kind = cell.Error
		c.raw = p.keep(p.value)
		c.shown = c.raw
	case dateType:
		return p.addDate(c, style)
	}
	p.found = append(p.found, c)
	return nil
}

// addNumber adds a number as its style shows it.
func (p *pass) addNumber(c xmlCell, style *numfmt.Format) error {
	if style == lostFormat {
		return p.cellDamaged("holds a number with a style, and the part that holds the styles is missing")
	}
	c.cell.Kind = cell.Number
	c.raw = p.keep(p.value)
	return p.addShown(c, p.value, style)
}

// addDate adds a cell of type d as the number that other workbooks hold in such a
// cell. A value that is not a day count stays a text.
func (p *pass) addDate(c xmlCell, style *numfmt.Format) error {
	number, format, ok := numfmt.ParseISO(string(p.value), style, p.date1904)
	if !ok {
		c.cell.Kind = cell.Text
		c.raw = p.keep(p.value)
		c.shown = c.raw
		p.found = append(p.found, c)
		return nil
	}
	c.cell.Kind, c.cell.Format = cell.Number, format.Code()
	c.raw = p.keep(number)
	return p.addShown(c, number, format)
}

// addShown adds a number with the text that its format shows.
func (p *pass) addShown(c xmlCell, number []byte, format *numfmt.Format) error {
	if format.ShowsAsWritten(number) {
		c.shown = c.raw
		p.found = append(p.found, c)
		return nil
	}
	from := len(p.buf)
	shown, isDate, ok := format.Append(p.buf, number, p.date1904)
	if !ok {
		return p.cellDamaged("holds an invalid number")
	}
	if isDate {
		c.cell.Kind = cell.Date
	}
	p.buf = shown
	c.shown = span{from, len(p.buf)}
	p.found = append(p.found, c)
	return nil
}

// keep adds a value to the row's text.
func (p *pass) keep(value []byte) span {
	from := len(p.buf)
	p.buf = append(p.buf, value...)
	return span{from, len(p.buf)}
}

func (p *pass) cellDamaged(what string) error {
	return p.damaged("cell %s%d %s", cell.ColumnName(p.column), p.row, what)
}
