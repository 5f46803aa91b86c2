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

// The t attributes of a cell.
const (
	numberType = "n"
	sharedType = "s"
	inlineType = "inlineStr"
	resultType = "str" // a formula's string
	boolType   = "b"
	errorType  = "e"
	dateType   = "d"
)

var cellTypes = []string{sharedType, numberType, inlineType, resultType, boolType, errorType, dateType}

// typeOf returns the type that a t attribute names; "" for an unknown one.
func typeOf(attribute []byte) string {
	for _, known := range cellTypes {
		if string(attribute) == known {
			return known
		}
	}
	return ""
}

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
func (p *pass) cellAttributes() (kind string, style *numfmt.Format, err error) {
	kind = numberType
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
				return "", nil, p.damaged("row %d holds a cell of another row", p.row)
			}
			column = at
		case 's':
			n, ok := digits(value)
			if !ok || n >= len(p.styles) {
				return "", nil, p.damaged("row %d holds a cell with a style that does not exist", p.row)
			}
			style = p.styles[n]
		case 't':
			if kind = typeOf(value); kind == "" {
				return "", nil, p.damaged("row %d holds a cell of an unknown type", p.row)
			}
		}
	}
	if column <= p.column || column >= cell.MaxColumns {
		return "", nil, p.damaged("the cells of row %d are out of order", p.row)
	}
	p.column = column
	return kind, style, nil
}

// addCell adds the cell just read to the row if it has a value.
func (p *pass) addCell(kind string, style *numfmt.Format, formula, stored bool) (err error) {
	c := xmlCell{column: p.column}
	c.cell.Format = style.Code()
	isText := kind == inlineType || kind == resultType
	switch {
	case kind == resultType:
		p.value = decodeEscapes(p.value, 0)
	case kind != inlineType:
		p.value = trimSpace(p.value)
	}
	switch {
	case len(p.value) == 0:
		if !formula || kind == inlineType || kind == resultType && stored {
			return nil
		}
		c.cell.Kind = cell.Uncomputed
	case isText && !cell.Fits(p.value):
		return p.cellDamaged("holds a text of more than 32,767 characters")
	case isText:
		p.addWord(&c, cell.Text)
	case kind == errorType:
		p.addWord(&c, cell.Error)
	case kind == sharedType:
		n, ok := digits(p.value)
		if !ok || n >= len(p.strings.ends) {
			return p.cellDamaged("points to a shared string that does not exist")
		}
		text := p.strings.at(n)
		if text == "" {
			return nil
		}
		c.cell.Kind, c.cell.Raw, c.cell.Shown = cell.Text, text, text
	case kind == boolType:
		yes, ok := boolean(string(p.value))
		if !ok {
			return p.cellDamaged("is neither true nor false")
		}
		if c.cell.Kind, c.cell.Raw, c.cell.Shown = cell.Bool, "0", "FALSE"; yes {
			c.cell.Raw, c.cell.Shown = "1", "TRUE"
		}
	case kind == dateType: // it becomes the number that other workbooks hold in such a cell
		if number, shownBy, ok := numfmt.ParseISO(string(p.value), style, p.Date1904); ok {
			c.cell.Format = shownBy.Code()
			err = p.addNumber(&c, number, shownBy)
		} else {
			p.addWord(&c, cell.Text)
		}
	default:
		err = p.addNumber(&c, p.value, style)
	}
	p.found = append(p.found, c)
	return err
}

// addWord gives a cell the value just read, which is shown as it is stored.
func (p *pass) addWord(c *xmlCell, kind cell.Kind) {
	c.cell.Kind, c.raw = kind, p.keep(p.value)
	c.shown = c.raw
}

// addNumber gives a cell a number and the text that its format shows.
func (p *pass) addNumber(c *xmlCell, number []byte, format *numfmt.Format) error {
	c.cell.Kind, c.raw = cell.Number, p.keep(number)
	if format.ShowsAsWritten(number) {
		c.shown = c.raw
		return nil
	}
	from := len(p.buf)
	shown, isDate, ok := format.Append(p.buf, number, p.Date1904)
	if !ok {
		return p.cellDamaged("holds an invalid number")
	}
	if isDate {
		c.cell.Kind = cell.Date
	}
	p.buf = shown
	c.shown = span{from, len(p.buf)}
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
