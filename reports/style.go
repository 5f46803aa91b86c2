package reports

import (
	"github.com/xuri/excelize/v2"

	"claimsheet/importer"
)

// styles makes each style of a workbook once.
type styles struct {
	file *excelize.File
	made map[look]int
}

// look is all that tells one style from another.
type look struct {
	format string // number format code, "" for General
	colour colour
	bold   bool
	wrap   bool
	right  bool
}

// colour is a text colour on a ground; the zero colour is the program's own.
type colour struct{ text, ground string }

// Colours, as spreadsheet programs' own "good", "bad" and "neutral" have them.
var (
	red    = colour{"9C0006", "FFC7CE"}
	amber  = colour{"9C5700", "FFEB9C"}
	green  = colour{"006100", "C6EFCE"}
	grey   = colour{"595959", "E7E6E6"}
	blue   = colour{"1F4E78", "DDEBF7"}
	strong = colour{"FFFFFF", "1F4E78"} // headers of columns that Claimsheet adds
	plain  = colour{"000000", "D9D9D9"} // other headers
)

// statusColours tell at a glance what a person has to look at.
var statusColours = map[importer.Status]colour{
	importer.Invalid:    red,
	importer.FailedRow:  red,
	importer.Uncertain:  amber,
	importer.NotStarted: grey,
	importer.Changed:    amber,
	importer.DoneRow:    green,
	importer.Unchanged:  green,
	importer.Skipped:    grey,
	importer.Planned:    blue,
}

// localFormats are the built-in formats whose code is a stand-in: a program
// shows them in the reader's own order of day and month, which a custom format
// of the same code would not.
var localFormats = map[string]int{"mm-dd-yy": 14, "m/d/yy h:mm": 22, "m/d/yy hh:mm": 22}

func newStyles(f *excelize.File) styles {
	return styles{file: f, made: map[look]int{{}: 0}}
}

// id is the workbook's number for a look.
func (s styles) id(l look) (int, error) {
	if id, ok := s.made[l]; ok {
		return id, nil
	}
	style := &excelize.Style{}
	if builtIn, ok := localFormats[l.format]; ok {
		style.NumFmt = builtIn
	} else if l.format != "" {
		style.CustomNumFmt = &l.format
	}
	if l.bold || l.colour.text != "" {
		style.Font = &excelize.Font{Bold: l.bold, Color: l.colour.text, Family: "Calibri", Size: 11}
	}
	if l.colour.ground != "" {
		style.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{l.colour.ground}}
	}
	if l.wrap {
		style.Alignment = &excelize.Alignment{WrapText: true, Vertical: "top"}
	}
	if l.right {
		style.Alignment = &excelize.Alignment{Horizontal: "right"}
	}
	id, err := s.file.NewStyle(style)
	if err != nil {
		return 0, err
	}
	s.made[l] = id
	return id, nil
}

// cell is a value in a look.
func (s styles) cell(value any, l look) (excelize.Cell, error) {
	id, err := s.id(l)
	return excelize.Cell{Value: value, StyleID: id}, err
}
