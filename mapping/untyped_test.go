package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// typedRows is a sheet whose cells are of every kind.
func typedRows() (cell.Sheet, []cell.Record) {
	sheet, _ := leads("No | Word | Day | Moment | Number | Money | Tick | Code")
	number := func(raw, format string) cell.Cell {
		return cell.Cell{Kind: cell.Number, Raw: raw, Shown: raw, Format: format}
	}
	row := cell.Record{Row: 2, Cells: []cell.Cell{
		text("L1"), text("blue"), {Kind: cell.Date, Raw: "29221", Shown: "1980-01-01", Format: "dd/mm/yyyy"},
		{Kind: cell.Date, Raw: "29221.5", Shown: "1980-01-01T12:00:00", Format: "dd/mm/yyyy hh:mm"},
		number("12", ""), number("1250.5", "£#,##0.00"), {Kind: cell.Bool, Raw: "1", Shown: "TRUE"},
		{Kind: cell.Number, Raw: "100", Shown: "00100", Format: "00000"},
	}}
	second := cell.Record{Row: 3, Cells: append([]cell.Cell{text("L2")}, row.Cells[1:]...)}
	return sheet, []cell.Record{row, second}
}

// refusedTypes are the hints at typed cells under an attribute that nobody
// typed, read from a source as the mapping writes it.
func refusedTypes(t *testing.T, source string) []string {
	t.Helper()
	sheet, records := typedRows()
	b := mustBind(t, `name: a
api: v2
client: {key: No, existing: create, fields: {no: No}}
workflow: {name: w}
claims: [{key: No, name: "{No}", columns: {alias: Number}}]
activities:
  - {template: T, on: claim, attributes: {A: `+source+`}}
`, sheet, service(template("T", "A")))
	var cells mapping.CellNotes
	for _, r := range records {
		cells.Add(b.Convert(r).Notes)
	}
	var hints []string
	wrong, warnings := b.CheckCells(cells)
	if len(wrong)+len(warnings) != len(b.Untyped()) {
		t.Errorf("%s: of %d attributes that nobody typed %d are refused and %d warned of", source, len(b.Untyped()), len(wrong), len(warnings))
	}
	for _, p := range wrong {
		hint, _, _ := strings.Cut(p.Hint, ";")
		hints = append(hints, p.Error(), hint)
	}
	return hints
}

// Where nobody says a type, a cell that is no text is refused whatever reads
// it, with the first cell, how many there are, and what to write.
func TestTypedCellsNeedAType(t *testing.T) {
	const begins = "mapping.yaml:7:43: neither the service nor the mapping says the type of “A” of “T”, and "
	said := func(c, kind string) string {
		return begins + "Leads!" + c + " holds " + kind + " (the first of 2), which would be sent as Text [untyped]"
	}
	for source, want := range map[string][]string{
		"Word":                                nil,
		"Day":                                 {said("C2", "a date"), "say what it is: A: {column: Day, type: Date}"},
		"Moment":                              {said("D2", "a date"), "say what it is: A: {column: Moment, type: DateTime}"},
		"{first_of: [Word, Number]}":          nil,
		`{text: "{Word} and {Word}"}`:         nil,
		"Number":                              {said("E2", "a number"), "say what it is: A: {column: Number, type: Number}"},
		"Money":                               {said("F2", "a number"), "say what it is: A: {column: Money, type: Currency}"},
		"Tick":                                {said("G2", "a boolean"), "say what it is: A: {column: Tick, type: Checkbox}"},
		"Code":                                {said("H2", "a number"), "say what it is: A: {column: Code, type: Text}"},
		"alias":                               {said("E2", "a number"), "say what it is: A: {column: alias, type: Number}"},
		`{column: Number, values: {"12": x}}`: {said("E2", "a number"), "say what it is: add type: Number to “A”"},
		"{first_of: [Number, Word]}":          {said("E2", "a number"), "say what it is: add type: Number to “A”"},
		`{text: "{Word} {Number}"}`:           {said("E2", "a number"), "say what it is: add type: Number to “A”"},
		`{expr: 'col("Word") + "!"'}`:         nil,
		`{expr: 'has("Tick")'}`:               {said("G2", "a boolean"), "say what it is: add type: Checkbox to “A”"},
		`{value: "12"}`:                       nil,
		"{column: Day, type: Date}":           nil,
	} {
		if d := cmp.Diff(want, refusedTypes(t, source)); d != "" {
			t.Errorf("%s (-want +got):\n%s", source, d)
		}
	}
}

// An option that only another type has needs a type. Without the service's templates the type is
// not known, and no option is said to go with another.
func TestOptionsNeedAType(t *testing.T) {
	sheet, _ := typedRows()
	for source, want := range map[string]struct {
		untyped bool // with the templates, which give no type
		unknown int  // problems without the templates
	}{
		"{column: Word, format: dd/mm/yyyy}":                       {true, 0},
		"{column: Word, percent: true}":                            {true, 0},
		"{column: Word, checked: [a], unchecked: [b]}":             {true, 0},
		"{value: true, type: Checkbox}":                            {false, 0},
		"{column: Word, values: {a: b}}":                           {false, 0},
		"{column: Word, format: nonsense}":                         {true, 1},
		"{column: Word, format: dd/mm/yyyy, values: {a: b}}":       {true, 1}, // no type has both
		"{column: Word, type: Text, format: dd/mm/yyyy}":           {false, 1},
		"{column: Word, type: Number, checked: [a], unchecked: b}": {false, 1},
	} {
		m := mustParse(t, "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\nactivities: [{template: T, attributes: {A: "+source+"}}]")
		_, problems := mapping.Bind(m, &sheet, service(template("T", "A")), runDate)
		if isUntyped := len(problems) > 0 && strings.HasSuffix(problems[0].Error(), "it has an option of another type than Text [untyped]"); isUntyped != want.untyped {
			t.Errorf("%s: problems:\n%s", source, report(problems))
		}
		if _, problems := mapping.Bind(m, &sheet, nil, runDate); len(problems) != want.unknown {
			t.Errorf("%s: expected %d problems without templates, got:\n%s", source, want.unknown, report(problems))
		}
	}
}
