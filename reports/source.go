package reports

import (
	"claimsheet/mapping"
)

// sourceCell is a cell of the source as the workbook holds it, in a colour when
// it is marked; nil for nothing.
//
// Values, types and number formats are kept. Two things cannot be: a formula
// (its stored result stands in its place) and control characters, which
// excelize replaces by U+FFFD. A formula whose result was never stored becomes
// #N/A, "no value is available": an empty cell would pass for an answer when the
// workbook is run again.
func (w *workbook) sourceCell(c mapping.Cell, mark colour) (any, error) {
	value := w.sourceValue(c)
	if value == nil && mark == (colour{}) {
		return nil, nil
	}
	if value == nil {
		value = "" // a nil value would lose the mark
	}
	return w.styles.cell(value, look{format: c.Format, colour: mark})
}

func (w *workbook) sourceValue(c mapping.Cell) any {
	switch c.Kind {
	case mapping.TextCell:
		if c.Raw == "" {
			return nil
		}
		return cut(c.Raw)
	case mapping.Number, mapping.DateCell:
		return w.literals.number(c.Raw)
	case mapping.Bool:
		return c.Raw == "1"
	case mapping.ErrorCell:
		return w.literals.errorValue(c.Raw)
	case mapping.Uncomputed:
		return w.literals.errorValue("#N/A")
	}
	return nil
}
