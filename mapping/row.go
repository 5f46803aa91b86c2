package mapping

// Row is a row of a run: its number as a spreadsheet program shows it, and in
// which of the run's sheets it stands. Rows compare in the order in which the
// run reads them. In a run of one sheet a Row is just its number.
type Row int64

// tableBits leaves room for every row number that a spreadsheet can have.
const tableBits = 32

// RowOf is row number (1-based) of a run's sheet (0 = the first).
func RowOf(table, number int) Row { return Row(table)<<tableBits | Row(number) }

// Table is which of the run's sheets the row is in; 0 = the first.
func (r Row) Table() int { return int(r >> tableBits) }

// Number is the row's number in its sheet, 1-based.
func (r Row) Number() int { return int(r & (1<<tableBits - 1)) }
