package sheet

import "bytes"

// plainCell reads the rest of a cell that is written as nearly all are, <v> or
// <is><t> with a text and nothing else, in one step instead of a token at a
// time; ok is false, and nothing is taken, when it is written otherwise or not
// all of it has been read.
func (p *pass) plainCell(kind cellType) (ok bool, err error) {
	if p.fault != nil || string(p.open[p.marks[len(p.marks)-1]:]) != "c" {
		return false, nil
	}
	if kind != inlineType {
		text, ok := p.between("<v>", "</v></c>")
		if !ok {
			return false, nil
		}
		p.value, err = p.unescape(p.value[:0], text)
		return true, err
	}
	preserved := false
	text, ok := p.between("<is><t>", "</t></is></c>")
	if !ok {
		text, ok = p.between(`<is><t xml:space="preserve">`, "</t></is></c>")
		preserved = ok
	}
	if !ok {
		return false, nil
	}
	if p.value, err = p.unescape(p.value[:0], text); err != nil {
		return true, err
	}
	if !preserved {
		p.value = trimSpace(p.value)
	}
	p.value = decodeEscapes(p.value, 0)
	return true, nil
}

// between takes a text and the tags before and after it, the last of which
// closes the innermost element.
func (s *scanner) between(before, after string) (text []byte, ok bool) {
	window := s.buf[s.pos:s.end]
	if len(window) < len(before) || string(window[:len(before)]) != before {
		return nil, false
	}
	rest := window[len(before):]
	n := bytes.IndexByte(rest, '<')
	if n < 0 || len(rest)-n < len(after) || string(rest[n:n+len(after)]) != after {
		return nil, false
	}
	s.pos += len(before) + n + len(after)
	s.pop()
	return rest[:n], true
}
