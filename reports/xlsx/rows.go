package xlsx

import (
	"io"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
)

// rows writes the rows of a sheet as XML.
type rows struct {
	book    *Workbook
	to      io.Writer
	buf     []byte
	row     int // the current one, from 1
	column  int // the next cell's, 0 = A
	count   int // rows begun
	number  []byte
	letters []string // the columns' names
	hidden  bool     // the next row is
	err     error
}

// rowsBuffer is how much is written before it is passed on.
const rowsBuffer = partBuffer - 16<<10

// Begin begins a row, below the previous one.
func (r *rows) Begin(row int) { r.beginHigh(row, 1) }

// HideNext hides the row that is begun next.
func (r *rows) HideNext() { r.hidden = true }

// lineHeight is the height of a line of text, in points.
const lineHeight = 15

// beginHigh begins a row that is high enough for this many lines of text.
func (r *rows) beginHigh(row, lines int) {
	r.row, r.column = row, 0
	r.count++
	r.number = strconv.AppendInt(r.number[:0], int64(row), 10)
	r.buf = append(r.buf, `<row r="`...)
	r.buf = append(r.buf, r.number...)
	if lines > 1 {
		r.buf = append(r.buf, `" ht="`...)
		r.buf = strconv.AppendInt(r.buf, int64(min(lines, 20)*lineHeight), 10)
		r.buf = append(r.buf, `" customHeight="1`...)
	}
	if r.hidden {
		r.buf = append(r.buf, `" hidden="1`...)
		r.hidden = false
	}
	r.buf = append(r.buf, `">`...)
}

// End ends the row. It returns the first error of the sheet or of a style.
func (r *rows) End() error {
	r.raw(`</row>`)
	r.spill()
	if r.err == nil {
		r.err = r.book.err
	}
	return r.err
}

// spill passes the buffer on when it is full.
func (r *rows) spill() {
	if len(r.buf) >= rowsBuffer {
		_ = r.flush() // the error stays
	}
}

// flush passes the buffer on.
func (r *rows) flush() error {
	if r.err == nil {
		_, r.err = r.to.Write(r.buf)
	}
	r.buf = r.buf[:0]
	return r.err
}

// raw writes XML.
func (r *rows) raw(xml string) { r.buf = append(r.buf, xml...) }

// Row returns the number of the current row.
func (r *rows) Row() int { return r.row }

// Cell returns the reference of the next cell.
func (r *rows) Cell() string { return r.Ref(r.column) }

// Ref returns the reference of a cell of the current row, 0 = A.
func (r *rows) Ref(column int) string { return cell.ColumnName(column) + strconv.Itoa(r.row) }

// Skip leaves a cell out.
func (r *rows) Skip() { r.column++ }

// Blank writes a cell that has nothing but a style; without one it is left out.
func (r *rows) Blank(style *Style) {
	if style != nil && style.id != 0 {
		r.open(style.id)
		r.raw(`/>`)
	}
	r.column++
}

// Text writes a text; an empty one is blank. A text that is too long for a cell is
// cut and ends in an ellipsis. One that a program would turn into a formula or a
// number when the cell is edited gets a quote prefix.
func (r *rows) Text(style *Style, s string) {
	if s == "" {
		r.Blank(style)
		return
	}
	s = Cut(s, "…")
	r.open(r.book.styleID(style, needsQuote(s)))
	r.raw(` t="inlineStr"><is><t`)
	if s[0] <= ' ' || s[len(s)-1] <= ' ' { // XML readers may drop white space at the ends
		r.raw(` xml:space="preserve"`)
	}
	r.buf = append(r.buf, '>')
	r.buf = appendText(r.buf, s)
	r.raw(`</t></is></c>`)
	r.column++
}

// Number writes a number in exactly this spelling. One that is not a number to a
// spreadsheet program becomes a text.
func (r *rows) Number(style *Style, literal string) {
	if !isNumber(literal) {
		r.Text(style, literal)
		return
	}
	r.open(r.book.styleID(style, false))
	r.raw(`><v>`)
	r.raw(literal)
	r.raw(`</v></c>`)
	r.column++
}

// Integer writes a whole number.
func (r *rows) Integer(style *Style, n int) {
	r.open(r.book.styleID(style, false))
	r.raw(`><v>`)
	r.buf = strconv.AppendInt(r.buf, int64(n), 10)
	r.raw(`</v></c>`)
	r.column++
}

// Float writes a number.
func (r *rows) Float(style *Style, f float64) {
	r.open(r.book.styleID(style, false))
	r.raw(`><v>`)
	r.buf = strconv.AppendFloat(r.buf, f, 'f', -1, 64)
	r.raw(`</v></c>`)
	r.column++
}

// Bool writes TRUE or FALSE.
func (r *rows) Bool(style *Style, b bool) {
	r.open(r.book.styleID(style, false))
	if b {
		r.raw(` t="b"><v>1</v></c>`)
	} else {
		r.raw(` t="b"><v>0</v></c>`)
	}
	r.column++
}

// Error writes an error value such as #N/A; one that programs do not know becomes
// #VALUE!, because Excel calls a file with it damaged.
func (r *rows) Error(style *Style, name string) {
	if !slices.Contains(errorNames, name) {
		name = "#VALUE!"
	}
	r.open(r.book.styleID(style, false))
	r.raw(` t="e"><v>`)
	r.raw(name)
	r.raw(`</v></c>`)
	r.column++
}

// errorNames are the errors that every spreadsheet program has.
var errorNames = []string{"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA"}

// open begins a cell, up to the end of its attributes.
func (r *rows) open(style int) {
	for len(r.letters) <= r.column {
		r.letters = append(r.letters, cell.ColumnName(len(r.letters)))
	}
	r.buf = append(r.buf, `<c r="`...)
	r.buf = append(r.buf, r.letters[r.column]...)
	r.buf = append(r.buf, r.number...)
	r.buf = append(r.buf, '"')
	if style != 0 {
		r.buf = append(r.buf, ` s="`...)
		r.buf = strconv.AppendInt(r.buf, int64(style), 10)
		r.buf = append(r.buf, '"')
	}
}

// appendText appends a text as XML that every reader turns into the same text.
// Characters that XML cannot hold, and CR, which its readers turn into LF, are
// escaped as spreadsheet programs do (_x000D_). A text that only looks like such an
// escape has its first character escaped. Invalid UTF-8 becomes U+FFFD.
func appendText(dst []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf && !special[c] {
			i++
			continue
		}
		n := 1
		var instead string
		switch {
		case c == '&':
			instead = "&amp;"
		case c == '<':
			instead = "&lt;"
		case c == '>':
			instead = "&gt;"
		case c == '_':
			if !looksEscaped(s[i:]) {
				i++
				continue
			}
			instead = "_x005F_"
		case c < ' ':
			instead = "_x00" + string(hexDigits[c>>4]) + string(hexDigits[c&15]) + "_"
		default:
			var char rune
			if char, n = utf8.DecodeRuneInString(s[i:]); char == utf8.RuneError && n == 1 {
				instead = "\uFFFD"
			} else if char == 0xFFFE || char == 0xFFFF {
				instead = "_xFFF" + string(hexDigits[char&15]) + "_"
			} else {
				i += n
				continue
			}
		}
		dst = append(append(dst, s[from:i]...), instead...)
		i += n
		from = i
	}
	return append(dst, s[from:]...)
}

const hexDigits = "0123456789ABCDEF"

// special are the ASCII characters that may need an escape.
var special = func() (set [utf8.RuneSelf]bool) {
	for c := range ' ' {
		set[c] = c != '\t' && c != '\n'
	}
	set['&'], set['<'], set['>'], set['_'] = true, true, true, true
	return set
}()

// looksEscaped reports whether s begins with what a reader would decode.
func looksEscaped(s string) bool {
	if len(s) < 7 || s[1] != 'x' || s[6] != '_' {
		return false
	}
	_, err := strconv.ParseUint(s[2:6], 16, 16)
	return err == nil
}

// isNumber reports whether a spreadsheet program reads s as a number: digits with an
// optional sign, point and exponent.
func isNumber(s string) bool {
	s = unsigned(s)
	whole := digits(s)
	rest := s[whole:]
	fraction := 0
	if rest != "" && rest[0] == '.' {
		fraction = digits(rest[1:])
		rest = rest[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	exponent := unsigned(rest[1:])
	return exponent != "" && digits(exponent) == len(exponent)
}

func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

// digits returns how many digits s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// MaxCell is how many characters (UTF-16 code units) a cell may hold. excelize
// silently cuts longer texts.
const MaxCell = excelize.TotalCellChars

// Cut returns s if it fits a cell, else its beginning followed by ending.
func Cut(s, ending string) string {
	if len(s) <= MaxCell || Units(s) <= MaxCell {
		return s
	}
	room := MaxCell - Units(ending)
	for i, r := range s {
		if room -= max(1, utf16.RuneLen(r)); room < 0 {
			return s[:i] + ending
		}
	}
	return s
}

// Units returns the length of a text as spreadsheet programs count it, in UTF-16
// code units.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r)) // invalid bytes become U+FFFD
	}
	return n
}
