package xlsx

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"claimsheet/mapping/cell"
)

// blockTexts is how many texts are stored one after the other in one string: a string for
// each would cost the garbage collector time.
const blockTexts = 1 << 12

// sharedStrings are the texts that cells point to by number.
type sharedStrings struct {
	blocks []string // of blockTexts texts each
	ends   []uint32 // where each text ends in its block
}

func (t *sharedStrings) at(i int) string {
	from := uint32(0)
	if i%blockTexts > 0 {
		from = t.ends[i-1]
	}
	return t.blocks[i/blockTexts][from:t.ends[i]]
}

// readStrings reads the part of the shared strings.
func readStrings(a *archive, name string) (*sharedStrings, error) {
	p, err := a.open(name, maxStringBytes)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := newScanner(p)
	t := &sharedStrings{ends: make([]uint32, 0, p.size/32)} // as many as there are of the usual length
	var block []byte
	for {
		token, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case token == endOfPart:
			t.blocks = append(t.blocks, string(block))
			return t, nil
		case token != startTag:
			continue
		case s.depth() == 1:
			if string(s.name) != "sst" {
				return nil, s.damaged("it does not hold shared strings")
			}
			continue
		case string(s.name) == "extLst":
			err = s.skip()
		case string(s.name) != "si":
			err = s.damaged("after %d shared strings is an element that is not one", len(t.ends))
		default:
			block, err = s.richText(block)
			if t.ends = append(t.ends, uint32(len(block))); len(t.ends)%blockTexts == 0 {
				t.blocks, block = append(t.blocks, string(block)), block[:0]
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// richText appends the text of the si or is element whose start tag was just
// scanned: a t element, or runs r with a t element in each. Fonts and phonetic runs,
// a reading aid, are not part of the text.
func (s *scanner) richText(dst []byte) ([]byte, error) {
	from := len(dst)
	for depth := s.depth() - 1; ; {
		token, err := s.next()
		switch {
		case err != nil:
			return dst, err
		case token == endTag && s.depth() == depth:
			if !cell.Fits(dst[from:]) {
				return dst, s.damaged("it holds a text of more than 32,767 characters")
			}
			return dst, nil
		case token == textRun && s.isText():
			return dst, s.damaged("a text is outside its element")
		case token != startTag:
			continue
		}
		switch string(s.name) {
		case "r":
		case "t":
			dst, err = s.plainText(dst)
		case "rPr", "rPh", "phoneticPr", "extLst":
			err = s.skip()
		default:
			err = s.damaged("a text contains an unknown element")
		}
		if err != nil {
			return dst, err
		}
	}
}

// plainText appends the text of a t element. White space at its ends is kept only
// where xml:space says so.
func (s *scanner) plainText(dst []byte) ([]byte, error) {
	preserve := false
	for {
		name, value, ok := s.attribute()
		if !ok {
			break
		}
		preserve = preserve || string(name) == "xml:space" && string(value) == "preserve"
	}
	from := len(dst)
	dst, err := s.content(dst)
	if err != nil {
		return dst, err
	}
	if !preserve {
		kept := trimSpace(dst[from:])
		dst = append(dst[:from], kept...)
	}
	return decodeEscapes(dst, from), nil
}

// decodeEscapes decodes the escapes in dst[from:] that spreadsheet programs write
// for characters that XML cannot hold: _x000D_ is a carriage return, and
// _x005F_x000D_ is the text _x000D_.
func decodeEscapes(dst []byte, from int) []byte {
	if !bytes.Contains(dst[from:], []byte("_x")) {
		return dst
	}
	in := bytes.Clone(dst[from:])
	dst = dst[:from]
	for i := 0; i < len(in); {
		r, ok := escaped(in[i:])
		if !ok {
			dst = append(dst, in[i])
			i++
			continue
		}
		dst = utf8.AppendRune(dst, r)
		i += 7
	}
	return dst
}

// escaped returns the character of the escape that b begins with. Half a character is not
// one: no program writes the others so.
func escaped(b []byte) (rune, bool) {
	if len(b) < 7 || b[0] != '_' || b[1] != 'x' || b[6] != '_' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil && utf8.ValidRune(rune(n))
}
