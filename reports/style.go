package reports

import (
	"github.com/xuri/excelize/v2"
)

// styles makes each style of a workbook once.
type styles struct {
	file         *excelize.File
	made         map[look]int
	conditionals map[colour]int
}

// look is all that tells one style from another.
type look struct {
	format string // number format code, "" for General
	colour colour
	bold   bool
	wrap   bool
	right  bool
	left   bool
	indent bool
	link   bool
	// quoted marks a text that a program must not take for a formula or a
	// number when somebody edits its cell.
	quoted bool
}

// localFormats are the built-in formats whose code is a stand-in: a program
// shows them in the reader's own order of day and month, which a custom format
// of the same code would not.
var localFormats = map[string]int{"mm-dd-yy": 14, "m/d/yy h:mm": 22, "m/d/yy hh:mm": 22}

func newStyles(f *excelize.File) styles {
	return styles{file: f, made: map[look]int{{}: 0}, conditionals: map[colour]int{}}
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
	if l.bold || l.link || l.colour.text != "" {
		style.Font = &excelize.Font{Bold: l.bold, Color: l.colour.text, Family: "Calibri", Size: 11}
	}
	if l.link {
		style.Font.Color, style.Font.Underline = "0563C1", "single"
	}
	if l.colour.ground != "" {
		style.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{l.colour.ground}}
	}
	style.Alignment = l.alignment()
	if l.quoted {
		style.Protection = &excelize.Protection{Locked: true} // as all cells are; quote knows the style by it
	}
	id, err := s.file.NewStyle(style)
	if err != nil {
		return 0, err
	}
	s.made[l] = id
	return id, nil
}

func (l look) alignment() *excelize.Alignment {
	switch {
	case l.wrap:
		return &excelize.Alignment{WrapText: true, Vertical: "top"}
	case l.right:
		return &excelize.Alignment{Horizontal: "right"}
	case l.left:
		return &excelize.Alignment{Horizontal: "left"}
	case l.indent:
		return &excelize.Alignment{Horizontal: "left", Indent: 1}
	}
	return nil
}
