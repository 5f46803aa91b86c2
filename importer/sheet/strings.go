package sheet

import "strings"

// maxStringText bounds the shared strings in memory.
const maxStringText = 512 << 20

// sharedStrings are the texts that cells point to by number. They stand one
// after the other in one string, which costs the garbage collector nothing.
type sharedStrings struct {
	text string
	ends []uint32 // where each text ends
}

func (t *sharedStrings) len() int { return len(t.ends) }

func (t *sharedStrings) at(i int) string {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.text[from:t.ends[i]]
}

// readStrings reads the part of the shared strings.
func readStrings(a *archive, name string) (*sharedStrings, error) {
	p, err := a.open(name, maxStringBytes)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := newScanner(p)
	t := &sharedStrings{}
	var text strings.Builder
	var one []byte
	for {
		token, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case token == endOfPart:
			t.text = text.String()
			return t, nil
		case token != startTag:
			continue
		case s.depth() == 1:
			if string(s.name) != "sst" {
				return nil, s.damaged("it does not hold shared strings")
			}
			continue
		case string(s.name) != "si":
			err = s.skip()
		default:
			one, err = s.richText(one[:0])
			text.Write(one)
			t.ends = append(t.ends, uint32(text.Len()))
		}
		if err != nil {
			return nil, err
		}
		if text.Len()+4*len(t.ends) > maxStringText {
			return nil, tooLarge("its shared strings take more than 512 MiB")
		}
	}
}

// richText appends the text of an si or is element, whose start tag was just
// scanned: a t, or the runs r with a t in each. Phonetic runs are a reading
// aid and no part of the text.
func (s *scanner) richText(dst []byte) ([]byte, error) {
	from := len(dst)
	for depth := s.depth() - 1; ; {
		token, err := s.next()
		switch {
		case err != nil:
			return dst, err
		case token == endTag && s.depth() == depth:
			if tooLong(dst[from:]) {
				return dst, s.damaged("it holds a text of more than 32,767 characters")
			}
			return dst, nil
		case token != startTag:
			continue
		}
		switch string(s.name) {
		case "r":
		case "t":
			dst, err = s.plainText(dst)
		default:
			err = s.skip()
		}
		if err != nil {
			return dst, err
		}
	}
}

// plainText appends the text of a t element. White space at its ends counts
// only where xml:space says so.
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
