package mapping_test

import (
	_ "time/tzdata"

	"claimsheet/mapping/cell"
)

func text(s string) cell.Cell { return cell.Cell{Kind: cell.Text, Raw: s, Shown: s} }

// number is a cell in General format.
func number(raw string) cell.Cell {
	return cell.Cell{Kind: cell.Number, Raw: raw, Shown: raw}
}

func formatted(raw, shown, format string) cell.Cell {
	return cell.Cell{Kind: cell.Number, Raw: raw, Shown: shown, Format: format}
}

func date(serial, shown string) cell.Cell {
	return cell.Cell{Kind: cell.Date, Raw: serial, Shown: shown, Format: "dd/mm/yyyy"}
}
