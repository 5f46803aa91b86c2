package reports

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"io"
	"regexp"
)

// literals carries cells through excelize that its stream writer cannot write:
// a number in exactly the source's spelling (a program's 17 digits would become
// the shortest ones of the same number, and round differently to 15), and
// error values such as #N/A (they would become texts, which a later run would
// take for data).
//
// Such a cell is streamed as a text that begins with a word nobody else knows,
// and becomes what it is when the sheet is packed into the file.
type literals struct {
	word string
	cell *regexp.Regexp
}

// kinds of a literal, the character after the word.
const (
	numberLiteral = "n"
	errorLiteral  = "e"
)

func newLiterals() literals {
	word := rand.Text()
	return literals{word, regexp.MustCompile(` t="inlineStr"><is><t>` + word + `([ne])([^<]*)</t></is>`)}
}

var (
	plainNumber = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
	plainError  = regexp.MustCompile(`^#[A-Z0-9_/]+[!?]?$`)
)

// number is a cell's value that is stored as the literal raw. What is no
// number to a spreadsheet stays the text that it is.
func (l literals) number(raw string) string {
	if !plainNumber.MatchString(raw) {
		return raw
	}
	return l.word + numberLiteral + raw
}

// errorValue is a cell's value that is stored as an error. A name that no
// spreadsheet program would accept becomes #VALUE!.
func (l literals) errorValue(name string) string {
	if !plainError.MatchString(name) {
		name = "#VALUE!"
	}
	return l.word + errorLiteral + name
}

// unveil turns the marked texts of whole cells into what they stand for.
func (l literals) unveil(xml []byte) []byte {
	return l.cell.ReplaceAllFunc(xml, func(cell []byte) []byte {
		m := l.cell.FindSubmatch(cell)
		if string(m[1]) == errorLiteral {
			return []byte(` t="e"><v>` + string(m[2]) + `</v>`)
		}
		return []byte(`><v>` + string(m[2]) + `</v>`)
	})
}

// literalZip is the archive that excelize writes its parts to.
type literalZip struct {
	*zip.Writer
	literals literals
	part     *literalPart
}

// Create begins the next part.
func (z *literalZip) Create(name string) (io.Writer, error) {
	if err := z.finish(); err != nil {
		return nil, err
	}
	w, err := z.Writer.Create(name)
	if err != nil {
		return nil, err
	}
	z.part = &literalPart{to: w, literals: z.literals}
	return z.part, nil
}

// Close ends the archive.
func (z *literalZip) Close() error {
	if err := z.finish(); err != nil {
		return err
	}
	return z.Writer.Close()
}

func (z *literalZip) finish() error {
	if z.part == nil {
		return nil
	}
	_, err := z.part.to.Write(z.literals.unveil(z.part.rest))
	z.part = nil
	return err
}

// literalPart passes a part on, whole rows at a time, so that no cell is seen
// in two halves.
type literalPart struct {
	to       io.Writer
	literals literals
	rest     []byte
}

var rowEnd = []byte("</row>")

func (p *literalPart) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	end := bytes.LastIndex(p.rest, rowEnd)
	if end < 0 {
		return len(b), nil
	}
	end += len(rowEnd)
	if _, err := p.to.Write(p.literals.unveil(p.rest[:end])); err != nil {
		return 0, err
	}
	p.rest = append(p.rest[:0], p.rest[end:]...)
	return len(b), nil
}
