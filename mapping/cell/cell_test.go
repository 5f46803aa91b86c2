package cell_test

import (
	"testing"

	"claimsheet/mapping/cell"
)

func TestColumnNames(t *testing.T) {
	for column, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA", 16383: "XFD"} {
		if got := cell.ColumnName(column); got != want {
			t.Errorf("column %d is %s, want %s", column, got, want)
		}
	}
}

func TestRows(t *testing.T) {
	const last = 1_048_576
	for _, c := range []struct{ table, number int }{{0, 1}, {0, last}, {1, 1}, {99, last}} {
		row := cell.RowOf(c.table, c.number)
		if row.Table() != c.table || row.Number() != c.number {
			t.Errorf("row %d of sheet %d becomes row %d of sheet %d", c.number, c.table, row.Number(), row.Table())
		}
	}
	if cell.RowOf(0, last) >= cell.RowOf(1, 1) || cell.RowOf(0, 7) != 7 {
		t.Error("rows are not in the order of the sheets")
	}
	record := cell.Record{Cells: []cell.Cell{{Kind: cell.Text, Raw: "x"}}}
	if record.Cell(0).Raw != "x" || record.Cell(1) != (cell.Cell{}) || record.Cell(-1) != (cell.Cell{}) {
		t.Error("a record's cells are not where they belong")
	}
}

func TestValuesAsJSON(t *testing.T) {
	for v, want := range map[cell.Value]string{
		{Field: cell.StringValue, Literal: `a"b & <c>`}: `"a\"b & <c>"`, {Field: cell.BoolValue, Literal: "true"}: "true",
		{Field: cell.DoubleValue, Literal: "0.5"}: "0.5", {Field: cell.DateTimeValue, Literal: "1980-05-01T00:00:00Z"}: `"1980-05-01T00:00:00Z"`,
	} {
		if got := string(v.JSON()); got != want {
			t.Errorf("%+v is %s", v, got)
		}
	}
}
