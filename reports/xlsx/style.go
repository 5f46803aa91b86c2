package xlsx

import (
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// Colour is the colour of a cell's text and background. The zero Colour is the program's own.
type Colour uint8

// The colours.
const (
	_ Colour = iota
	Red
	Amber
	Green
	Grey
	Blue
	Plain     // headers of the source
	Strong    // headers that should stand out
	AmberText // without a background
)

// colours are text and background as RRGGBB. The first three are the same as spreadsheet programs' "bad", "neutral" and "good".
var colours = [...]struct{ text, ground string }{
	Red: {"9C0006", "FFC7CE"}, Amber: {"9C5700", "FFEB9C"}, Green: {"006100", "C6EFCE"}, Grey: {"595959", "E7E6E6"},
	Blue: {"1F4E78", "DDEBF7"}, Plain: {"000000", "D9D9D9"}, Strong: {"FFFFFF", "1F4E78"}, AmberText: {"9C5700", ""},
}

// Style is how a cell looks. The zero Style is the program's default.
type Style struct {
	Format string // number format code, "" for General
	Colour Colour
	Bold   bool
	Wrap   bool // and at the top
	Top    bool
	// quoted keeps a program from reading a text as a formula or a number when the cell is edited.
	quoted bool
}

// style returns the workbook's number for a style and makes it once.
func (w *Writer) style(s Style) int {
	if s == (Style{}) {
		return 0
	}
	id, ok := w.styles[s]
	switch {
	case ok:
		return id
	case s.quoted: // excelize has no setting for it
		plain, yes, xfs := s, true, w.file.Styles.CellXfs
		plain.quoted = false
		xf := xfs.Xf[w.style(plain)]
		xf.QuotePrefix = &yes
		id = len(xfs.Xf)
		xfs.Xf, xfs.Count = append(xfs.Xf, xf), id+1
	default:
		var err error
		id, err = w.file.NewStyle(s.excelize())
		w.fail(err)
	}
	w.styles[s] = id
	return id
}

// localFormats are the built-in formats that a program shows in the reader's own
// order of day and month. A custom format of the same code would not do that.
var localFormats = map[string]int{"mm-dd-yy": 14, "m/d/yy h:mm": 22, "m/d/yy hh:mm": 22}

func (s Style) excelize() *excelize.Style {
	style, colour := new(excelize.Style), colours[s.Colour]
	if builtIn, ok := localFormats[s.Format]; ok {
		style.NumFmt = builtIn
	} else if s.Format != "" {
		style.CustomNumFmt = &s.Format
	}
	if s.Bold || s.Colour != 0 {
		style.Font = &excelize.Font{Bold: s.Bold, Color: colour.text, Family: "Calibri", Size: 11}
	}
	if colour.ground != "" {
		style.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colour.ground}}
	}
	switch {
	case s.Wrap:
		style.Alignment = &excelize.Alignment{WrapText: true, Vertical: "top"}
	case s.Top:
		style.Alignment = &excelize.Alignment{Vertical: "top"}
	}
	return style
}

// needsQuote reports whether a program would turn a text into something else when its cell is edited: a formula, a number or a date.
func needsQuote(s string) bool {
	switch c := s[0]; {
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
	case '0' <= c && c <= '9', c == '.', c == '#':
		return true
	}
	first, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}
