package reports

import (
	"io"
	"strconv"
	"unicode/utf8"

	"claimsheet/mapping/cell"
)

// rows writes the rows of a sheet as XML, a cell after the other. The first
// error stays, and is what flush and end return; after it calls do nothing.
//
// excelize's own stream writer is not used: it takes several times as long,
// keeps the sheet in a temporary file, writes numbers in the shortest spelling
// rather than the source's, and knows no error values and no control
// characters.
type rows struct {
	to      io.Writer
	buf     []byte
	row     int // the current one, 1-based
	column  int // the next cell's, 0 = A
	count   int // rows begun
	number  []byte
	letters []string // the columns' names
	hidden  bool     // the next row is
	err     error
}

// rowsBuffer is when rows are passed on.
const rowsBuffer = partBuffer - 16<<10

// newRows starts with the space of the rows of another sheet, which must be
// finished.
func newRows(to io.Writer, space []byte) *rows { return &rows{to: to, buf: space[:0]} }

// begin starts a row, which must stand below the one before.
func (r *rows) begin(row int) { r.beginHigh(row, 1) }

// lineHeight is the height of a line of text, in points.
const lineHeight = 15

// beginHigh starts a row that is so many lines of text high.
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

// end ends the row.
func (r *rows) end() error {
	r.buf = append(r.buf, `</row>`...)
	r.spill()
	return r.err
}

// spill passes on what was written once it is much.
func (r *rows) spill() {
	if len(r.buf) >= rowsBuffer {
		_ = r.flush() // the error stays
	}
}

// flush passes on what was written.
func (r *rows) flush() error {
	if r.err == nil {
		_, r.err = r.to.Write(r.buf)
	}
	r.buf = r.buf[:0]
	return r.err
}

// raw writes what is XML already.
func (r *rows) raw(xml []byte) { r.buf = append(r.buf, xml...) }

// skip leaves a cell out.
func (r *rows) skip() { r.column++ }

// blank writes a cell that has nothing but a style; no style is no cell.
func (r *rows) blank(style int) {
	if style != 0 {
		r.open(style)
		r.buf = append(r.buf, `/>`...)
	}
	r.column++
}

// text writes a text; an empty one is blank.
func (r *rows) text(style int, s string) {
	if s == "" {
		r.blank(style)
		return
	}
	r.open(style)
	r.buf = append(r.buf, ` t="inlineStr"><is><t`...)
	if marginal(s) {
		r.buf = append(r.buf, ` xml:space="preserve"`...)
	}
	r.buf = append(r.buf, '>')
	r.buf = appendText(r.buf, s)
	r.buf = append(r.buf, `</t></is></c>`...)
	r.column++
}

// literal writes a number in exactly this spelling.
func (r *rows) literal(style int, number string) {
	r.open(style)
	r.buf = append(r.buf, `><v>`...)
	r.buf = append(r.buf, number...)
	r.buf = append(r.buf, `</v></c>`...)
	r.column++
}

// integer writes a whole number.
func (r *rows) integer(style, n int) {
	r.open(style)
	r.buf = append(r.buf, `><v>`...)
	r.buf = strconv.AppendInt(r.buf, int64(n), 10)
	r.buf = append(r.buf, `</v></c>`...)
	r.column++
}

// float writes a number.
func (r *rows) float(style int, f float64) {
	r.open(style)
	r.buf = append(r.buf, `><v>`...)
	r.buf = strconv.AppendFloat(r.buf, f, 'f', -1, 64)
	r.buf = append(r.buf, `</v></c>`...)
	r.column++
}

// boolean writes TRUE or FALSE.
func (r *rows) boolean(style int, b bool) {
	r.open(style)
	if b {
		r.buf = append(r.buf, ` t="b"><v>1</v></c>`...)
	} else {
		r.buf = append(r.buf, ` t="b"><v>0</v></c>`...)
	}
	r.column++
}

// failure writes an error value such as #N/A.
func (r *rows) failure(style int, name string) {
	r.open(style)
	r.buf = append(r.buf, ` t="e"><v>`...)
	r.buf = appendText(r.buf, name)
	r.buf = append(r.buf, `</v></c>`...)
	r.column++
}

// open begins a cell, up to its attributes' end.
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

// marginal tells whether a text begins or ends in white space, which XML's
// readers may drop.
func marginal(s string) bool { return s[0] <= ' ' || s[len(s)-1] <= ' ' }

// appendText appends a text as XML that every reader turns into the same text:
// characters that XML cannot hold, and CR, which its readers make LF, as
// spreadsheet programs write them (_x000D_), and what only looks so with its
// first character written that way. Bytes that are no UTF-8 become U+FFFD.
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

// special are the ASCII characters that may not stand as they are.
var special = func() (set [utf8.RuneSelf]bool) {
	for c := range ' ' {
		set[c] = c != '\t' && c != '\n'
	}
	set['&'], set['<'], set['>'], set['_'] = true, true, true, true
	return set
}()

// looksEscaped tells whether s begins with what a reader takes for an escaped
// character.
func looksEscaped(s string) bool {
	if len(s) < 7 || s[1] != 'x' || s[6] != '_' {
		return false
	}
	_, err := strconv.ParseUint(s[2:6], 16, 16)
	return err == nil
}
