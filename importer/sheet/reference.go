package sheet

// maxRows is the number of rows of a sheet.
const maxRows = 1_048_576

// reference reads a cell reference such as C7: column from 0, row from 1. ok
// is false for what is no cell of a sheet.
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
	if i == 0 || column > maxColumns {
		return 0, 0, false
	}
	row, ok = rowNumber(b[i:])
	return column - 1, row, ok
}

// rowNumber reads a row's number, from 1.
func rowNumber(b []byte) (row int, ok bool) {
	if len(b) == 0 || len(b) > 7 || b[0] == '0' {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		row = row*10 + int(c-'0')
	}
	return row, row <= maxRows
}
