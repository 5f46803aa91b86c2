package sheet

import "bytes"

// attribute takes the next attribute of the start tag just scanned: its name
// with its prefix, and its value as it stands in the file (see unescape). What
// is no attribute makes the next call of next fail.
func (s *scanner) attribute() (name, value []byte, ok bool) {
	rest := s.attrs
	for len(rest) > 0 && isSpace(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		s.attrs = nil
		return nil, nil, false
	}
	i := 0
	for i < len(rest) && rest[i] != '=' && !isSpace(rest[i]) {
		i++
	}
	name = rest[:i]
	for i < len(rest) && isSpace(rest[i]) {
		i++
	}
	if i == len(rest) || rest[i] != '=' || len(name) == 0 {
		return nil, nil, s.noAttribute()
	}
	i++
	for i < len(rest) && isSpace(rest[i]) {
		i++
	}
	if i == len(rest) || rest[i] != '"' && rest[i] != '\'' {
		return nil, nil, s.noAttribute()
	}
	quote := rest[i]
	rest = rest[i+1:]
	j := bytes.IndexByte(rest, quote)
	if j < 0 {
		return nil, nil, s.noAttribute()
	}
	value, s.attrs = rest[:j], rest[j+1:]
	return name, value, true
}

func (s *scanner) noAttribute() bool {
	s.attrs = nil
	s.fault = s.damaged("a tag is malformed")
	return false
}

// attributes are all of the start tag just scanned, by name without prefix.
// It is for the small parts; the rows of a sheet are read without a map.
func (s *scanner) attributes() (map[string]string, error) {
	all := map[string]string{}
	for {
		name, raw, ok := s.attribute()
		if !ok {
			return all, s.fault
		}
		if bytes.HasPrefix(name, []byte("xmlns")) {
			continue
		}
		value, err := s.unescape(nil, raw)
		if err != nil {
			return nil, err
		}
		local := string(localName(name))
		if _, taken := all[local]; taken && local != string(name) {
			continue // the plain name is the element's own
		}
		all[local] = string(value)
	}
}

func localName(full []byte) []byte {
	for i, c := range full { // a name is short
		if c == ':' {
			return full[i+1:]
		}
	}
	return full
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// trimSpace trims what XML calls white space, and nothing else.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}
