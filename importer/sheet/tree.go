package sheet

import "slices"

// walk scans a small part to its end and calls visit for every element, with
// the names of the elements around it and its own, from the root: an element
// is known by where it stands. visit may take the element's inside, with
// content or skip.
func (a *archive) walk(name string, limit uint64, visit func(s *scanner, path []string) error) error {
	p, err := a.open(name, limit)
	if err != nil {
		return err
	}
	defer p.Close()
	s := newScanner(p)
	var path []string
	for {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch t {
		case startTag:
			path = append(path, string(s.name))
			if err := visit(s, path); err != nil {
				return err
			}
			path = path[:min(len(path), s.depth())]
		case endTag:
			path = path[:s.depth()]
		case endOfPart:
			return nil
		}
	}
}

func at(path []string, names ...string) bool { return slices.Equal(path, names) }

// content appends the text of the element whose start tag was just scanned to
// dst and passes over its end tag. It must hold nothing but text.
func (s *scanner) content(dst []byte) ([]byte, error) {
	for {
		t, err := s.next()
		switch {
		case err != nil:
			return dst, err
		case t == endTag:
			return dst, nil
		case t == startTag:
			err = s.damaged("an element stands in a text")
		case s.cdata:
			from := len(dst)
			dst, err = s.checked(append(dst, s.text...), from)
		default:
			dst, err = s.unescape(dst, s.text)
		}
		if err != nil {
			return dst, err
		}
	}
}
