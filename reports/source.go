package reports

import (
	"claimsheet/mapping/cell"
)

// column is a source column on its way into the workbook. Most of its cells are
// of one kind and format, so the style of the last one is kept at hand.
type column struct {
	source int // 0 = A
	styles *styles
	last   look
	style  int
}

// write writes a cell of the source, in red when it is marked.
//
// Values, types and number formats are kept. One thing cannot be: a formula
// (its stored result stands in its place). One whose result was never stored
// becomes #N/A, "no value is available": an empty cell would pass for an answer
// when the workbook is run again. A text that is too long for a cell is cut and
// says so: IsCut knows it when the workbook is run again, and it is an error
// then, which keeps its text.
func (c *column) write(to *rows, in cell.Cell, marked bool) error {
	wanted := look{format: in.Format}
	if marked {
		wanted.colour = red
	}
	if in.Kind == cell.Empty {
		wanted.format = ""
	}
	if in.Kind == cell.Text {
		wanted.quoted = needsQuote(in.Raw)
	}
	if wanted != c.last {
		id, err := c.styles.id(wanted)
		if err != nil {
			return err
		}
		c.last, c.style = wanted, id
	}
	switch {
	case in.Kind == cell.Text, in.Kind == cell.Error && IsCut(in.Raw):
		to.text(c.style, cutSource(in.Raw))
	case in.Kind == cell.Number || in.Kind == cell.Date:
		c.number(to, in.Raw)
	case in.Kind == cell.Bool:
		to.boolean(c.style, in.Raw == "1")
	case in.Kind == cell.Error:
		to.failure(c.style, errorName(in.Raw))
	case in.Kind == cell.Uncomputed:
		to.failure(c.style, "#N/A")
	default:
		to.blank(c.style)
	}
	return nil
}

// number writes a number as the source spells it. What is no number to a
// spreadsheet program stays the text that it is.
func (c *column) number(to *rows, raw string) {
	if isNumber(raw) {
		to.literal(c.style, raw)
		return
	}
	to.text(c.style, cutSource(raw))
}
