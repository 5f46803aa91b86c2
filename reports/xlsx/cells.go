package xlsx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"claimsheet/mapping/cell"
)

// lineHeight is the height of a line of text, in points.
const lineHeight = 15

// Next begins the next row, in the next sheet when a table's is full. The row is high enough for this many lines of text, because programs
// do not adjust the height themselves; Lines says how many a text needs.
func (s *Sheet) Next(lines int, hidden bool) {
	if s.row == s.w.maxRows {
		_ = s.Close() // the error stays
		s.start()
	}
	s.row, s.column = s.row+1, 0
	s.number = strconv.Itoa(s.row)
	s.raw("\n", `<row r="`, s.number, `"`)
	if lines > 1 {
		s.raw(` ht="`, strconv.Itoa(min(lines, 20)*lineHeight), `" customHeight="1"`)
	}
	if hidden {
		s.raw(` hidden="1"`)
	}
	s.raw(`>`)
}

// Lines returns roughly how many lines a text takes in a column (0 = A) where it wraps.
func (s *Sheet) Lines(column int, text string) (lines int) {
	width := int(s.layout.Widths[column])
	for line := range strings.SplitSeq(text, "\n") {
		lines += max(1, (utf8.RuneCountInString(line)+width-1)/width)
	}
	return lines
}

// End ends the row.
func (s *Sheet) End() {
	s.raw(`</row>`)
	if len(s.buffer) > 64<<10 {
		s.flush()
	}
}

// flush has the buffer compressed while the next one is filled, which takes as long.
func (s *Sheet) flush() {
	s.w.waitForPacker()
	to, full := s.to, s.buffer
	s.buffer, s.w.packed = s.w.packed[:0], full
	s.w.packing.Go(func() { _, s.w.packError = to.Write(full) })
}

// Row writes a whole row of one style. A value is a text, an int or a bool; nil leaves the cell out.
func (s *Sheet) Row(style Style, values ...any) {
	s.Next(1, false)
	for _, v := range values {
		s.Value(style, v)
	}
	s.End()
}

// Gap leaves a row out.
func (s *Sheet) Gap() { s.row++ }

// raw writes XML.
func (s *Sheet) raw(xml ...string) {
	for _, x := range xml {
		s.buffer = append(s.buffer, x...)
	}
}

// Value writes a value as Row does.
func (s *Sheet) Value(style Style, value any) {
	switch v := value.(type) {
	case string:
		s.Text(style, v)
	case int:
		s.typed(style, "", strconv.Itoa(v))
	case bool:
		digit := "0"
		if v {
			digit = "1"
		}
		s.typed(style, "b", digit)
	default:
		s.column++
	}
}

// Text writes a text; an empty one is a cell with a style alone. A text that is too long for a cell is cut and ends in an ellipsis. One
// that a program would turn into a formula or a number when the cell is edited gets a quote prefix.
func (s *Sheet) Text(style Style, text string) {
	if text == "" {
		if style == (Style{}) {
			s.column++
			return
		}
		s.begin(style, ``)
		s.raw(`/>`)
		return
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // U+FFFD for each wrong byte, as in every program
	}
	text = cut(text)
	style.quoted = needsQuote(text)
	s.begin(style, "inlineStr")
	if text[0] <= ' ' || text[len(text)-1] <= ' ' { // XML readers may drop white space at the ends
		s.raw(`><is><t xml:space="preserve">`)
	} else {
		s.raw(`><is><t>`)
	}
	if strings.ContainsFunc(text, isSpecial) {
		text = escapes.Replace(text)
	}
	s.raw(text, `</t></is></c>`)
}

// Number writes a number in exactly this spelling, which must be one of a workbook.
func (s *Sheet) Number(style Style, literal string) { s.typed(style, "", literal) }

// Error writes an error value such as #N/A; one that programs do not know becomes #VALUE!, because Excel calls a file with it damaged.
func (s *Sheet) Error(style Style, name string) {
	if !slices.Contains(errorNames, name) {
		name = "#VALUE!"
	}
	s.typed(style, "e", name)
}

// errorNames are the errors that every spreadsheet program has.
var errorNames = []string{"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA"}

// typed writes a value that needs no escape.
func (s *Sheet) typed(style Style, typ, value string) {
	s.begin(style, typ)
	s.raw(`><v>`, value, `</v></c>`)
}

// begin begins a cell, up to the end of its attributes.
func (s *Sheet) begin(style Style, typ string) {
	for len(s.letters) <= s.column {
		s.letters = append(s.letters, cell.ColumnName(len(s.letters)))
	}
	s.raw(`<c r="`, s.letters[s.column], s.number, `"`)
	if id := s.w.style(style); id != 0 {
		s.raw(` s="`, strconv.Itoa(id), `"`)
	}
	if typ != "" {
		s.raw(` t="`, typ, `"`)
	}
	s.column++
}

// isSpecial reports whether escapes could change a text with this character.
func isSpecial(r rune) bool {
	return r < ' ' || r == '&' || r == '<' || r == '>' || r == '_' || r >= '\uFFFE'
}

// escapes turns a text into XML that every reader turns into the same text. Characters that XML cannot hold, and CR, which its readers turn
// into LF, are escaped as spreadsheet programs do (_x000D_), and so is what could be read as such an escape.
var escapes = func() *strings.Replacer {
	pairs := []string{"&", "&amp;", "<", "&lt;", ">", "&gt;", "_x", "_x005F_x"}
	for _, c := range "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17" +
		"\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\uFFFE\uFFFF" {
		pairs = append(pairs, string(c), fmt.Sprintf("_x%04X_", c))
	}
	return strings.NewReplacer(pairs...)
}()

// cut returns s if it fits a cell, else its beginning and an ellipsis. excelize silently
// cuts longer texts, and Excel calls a file with one damaged.
func cut(s string) string {
	if cell.Fits(s) {
		return s
	}
	return string([]rune(s)[:cell.MaxText/2]) + "…" // a character may count as two
}
