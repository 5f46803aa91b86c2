package xlsx

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// Colour is a text colour on a background, both as RRGGBB; "" is the program's own.
type Colour struct{ Text, Ground string }

// Colours, the same as spreadsheet programs' "good", "bad" and "neutral".
var (
	Red    = Colour{"9C0006", "FFC7CE"}
	Amber  = Colour{"9C5700", "FFEB9C"}
	Green  = Colour{"006100", "C6EFCE"}
	Grey   = Colour{"595959", "E7E6E6"}
	Blue   = Colour{"1F4E78", "DDEBF7"}
	Strong = Colour{"FFFFFF", "1F4E78"} // headers that should stand out
	Plain  = Colour{"000000", "D9D9D9"} // other headers
)

// Look is how a cell looks. The zero Look is the program's default.
type Look struct {
	Format string // number format code, "" for General
	Colour Colour
	Bold   bool
	Wrap   bool // and at the top
	Top    bool
	Right  bool
	Left   bool
	Indent bool
	Link   bool
	// quoted keeps a program from reading a text as a formula or a number when
	// somebody edits the cell.
	quoted bool
}

// Style is a Look in one workbook. A nil *Style is the default look.
type Style struct {
	look   Look
	id     int
	quoted int // the style with look.quoted; 0 until it is needed
}

// Style returns the workbook's style for a look and makes it once. An error is
// returned by the next End of a row or Close of the workbook.
func (w *Workbook) Style(l Look) *Style {
	s := w.styles[l]
	if s == nil {
		s = &Style{look: l}
		if l != (Look{}) {
			s.id = w.newStyle(l)
		}
		w.styles[l] = s
	}
	return s
}

// styleID returns the number of a style, for a text that needs a quote prefix or not.
func (w *Workbook) styleID(s *Style, quoted bool) int {
	if !quoted {
		if s == nil {
			return 0
		}
		return s.id
	}
	if s == nil {
		s = w.Style(Look{})
	}
	if s.quoted == 0 {
		look := s.look
		look.quoted = true
		s.quoted = w.Style(look).id
	}
	return s.quoted
}

// localFormats are the built-in formats that a program shows in the reader's own
// order of day and month. A custom format of the same code would not do that.
var localFormats = map[string]int{"mm-dd-yy": 14, "m/d/yy h:mm": 22, "m/d/yy hh:mm": 22}

func (w *Workbook) newStyle(l Look) int {
	style := &excelize.Style{Alignment: l.alignment()}
	if builtIn, ok := localFormats[l.Format]; ok {
		style.NumFmt = builtIn
	} else if l.Format != "" {
		style.CustomNumFmt = &l.Format
	}
	if l.Bold || l.Link || l.Colour.Text != "" {
		style.Font = &excelize.Font{Bold: l.Bold, Color: l.Colour.Text, Family: "Calibri", Size: 11}
	}
	if l.Link {
		style.Font.Color, style.Font.Underline = "0563C1", "single"
	}
	if l.Colour.Ground != "" {
		style.Fill = fill(l.Colour.Ground)
	}
	if l.quoted {
		style.Protection = &excelize.Protection{Locked: true} // the default; markQuoted finds the style by it
	}
	id, err := w.file.NewStyle(style)
	if err != nil {
		_ = w.fail(err)
	}
	return id
}

func (l Look) alignment() *excelize.Alignment {
	switch {
	case l.Wrap:
		return &excelize.Alignment{WrapText: true, Vertical: "top"}
	case l.Top:
		return &excelize.Alignment{Vertical: "top"}
	case l.Right:
		return &excelize.Alignment{Horizontal: "right"}
	case l.Left:
		return &excelize.Alignment{Horizontal: "left"}
	case l.Indent:
		return &excelize.Alignment{Horizontal: "left", Indent: 1}
	}
	return nil
}

func fill(ground string) excelize.Fill {
	return excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{ground}}
}

// conditional returns the workbook's number for a colour of conditional formats.
func (w *Workbook) conditional(c Colour) (int, error) {
	if id, ok := w.dxfs[c]; ok {
		return id, nil
	}
	id, err := w.file.NewConditionalStyle(&excelize.Style{Font: &excelize.Font{Color: c.Text}, Fill: fill(c.Ground)})
	if err == nil {
		w.dxfs[c] = id
	}
	return id, err
}

// markQuoted adds the quote prefix to the styles that need it: excelize has no
// setting for it.
func markQuoted(stylesheet []byte) []byte {
	const known = ` applyProtection="true"`
	return bytes.ReplaceAll(stylesheet, []byte(known), []byte(known+` quotePrefix="1"`))
}

// needsQuote reports whether a program would turn a text into something else when its
// cell is edited: a formula, a number or a date.
func needsQuote(s string) bool {
	if s == "" {
		return false
	}
	switch c := s[0]; {
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
	case '0' <= c && c <= '9', c == '.', c == '#':
		return true
	}
	first, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}
