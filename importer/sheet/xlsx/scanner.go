package xlsx

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxToken bounds one tag, one comment or one stretch of text. A cell holds
// 32,767 characters at most, which no way of writing them makes longer.
const maxToken = 4 << 20

// scanBuffer is what is read ahead.
const scanBuffer = 64 << 10

// maxDepth bounds how deep elements nest; workbooks need about ten.
const maxDepth = 100

type token uint8

// The tokens. An empty element (<v/>) gives a start and an end.
const (
	startTag token = iota
	endTag
	textRun // text between two tags; one text may come in several runs, around a comment
	endOfPart
	nothing // a comment, an instruction, or white space around the root
)

// scanner splits the XML of a part into tokens in one pass. It checks that the
// document is complete: tags match, the root element ends, and only white space
// follows it. It refuses document types, because entities are the classic way to
// exhaust a reader, and what is not UTF-8, whatever the XML declaration says. Namespaces are
// not resolved: names are compared by their local part.
//
// The byte slices that it returns are valid until the next call of next.
type scanner struct {
	part string // its name, for errors
	r    io.Reader
	buf  []byte
	pos  int // buf[pos:end] is not scanned yet
	end  int

	name  []byte // of the element whose tag was scanned, without its prefix
	attrs []byte // the inside of the start tag after its name
	text  []byte // of a textRun

	open    []byte // names of the open elements, with their prefixes, one after the other
	marks   []int  // where each begins
	empty   bool   // the last start tag was an empty element's
	started bool   // a token was scanned
	rooted  bool   // the root element was scanned
	fault   error  // found between two calls of next
}

func newScanner(p *part) *scanner {
	return &scanner{part: p.name, r: p, buf: make([]byte, min(scanBuffer, p.size+64))}
}

// depth is the number of open elements.
func (s *scanner) depth() int { return len(s.marks) }

// next scans the next token. endOfPart means that the part was read to its end, so
// that its checksum was compared.
func (s *scanner) next() (token, error) {
	if s.empty {
		s.empty = false
		s.pop()
		return endTag, nil
	}
	for s.fault == nil {
		t, size, err := s.scan(s.buf[s.pos:s.end])
		if s.pos += size; t != nothing || err != nil {
			return t, err
		} else if size > 0 {
			continue
		}
		switch err := s.more(); {
		case err == io.EOF && (!s.rooted || len(s.marks) > 0):
			return 0, s.damaged("it ends too early")
		case err == io.EOF && len(trimSpace(s.buf[s.pos:s.end])) > 0:
			return 0, s.damaged("something follows its end")
		case err == io.EOF:
			return endOfPart, nil
		case err != nil:
			return 0, err
		case !s.started && bytes.HasPrefix(s.buf[:s.end], []byte("\xEF\xBB\xBF")):
			s.pos = 3
		}
		s.started = true
	}
	return 0, s.fault
}

// scan scans what b begins with and returns its size; 0 where b has not all of it.
func (s *scanner) scan(b []byte) (t token, size int, err error) {
	switch {
	case len(b) == 0:
		return nothing, 0, nil
	case b[0] != '<':
		return s.scanText(b)
	case len(b) == 1:
		return nothing, 0, nil
	}
	const comment = "<!--"
	switch {
	case b[1] == '/':
		return s.scanEnd(b)
	case b[1] == '?':
		return skipTo(b, len("<?"), "?>")
	case b[1] != '!':
		return s.scanStart(b)
	case bytes.HasPrefix(b, []byte(comment)):
		return skipTo(b, len(comment), "-->")
	case bytes.HasPrefix([]byte(comment), b):
		return nothing, 0, nil
	}
	return 0, 0, s.damaged("it holds a document type or CDATA, which workbooks do not")
}

// scanStart scans <name attributes> or <name attributes/>.
func (s *scanner) scanStart(b []byte) (token, int, error) {
	size := tagSize(b)
	if size < 0 {
		return 0, 0, s.damaged("a tag is not closed")
	} else if size == 0 {
		return nothing, 0, nil
	}
	inside := b[1 : size-1]
	if l := len(inside); l > 0 && inside[l-1] == '/' {
		s.empty, inside = true, inside[:l-1]
	}
	end, local := 0, 0
	for end < len(inside) && !isSpace(inside[end]) {
		if inside[end] == ':' && local == 0 {
			local = end + 1
		}
		end++
	}
	full := inside[:end]
	s.name, s.attrs = full[local:], inside[end:]
	switch {
	case len(s.name) == 0:
		return 0, 0, s.damaged("a tag has no name")
	case len(s.marks) == 0 && s.rooted:
		return 0, 0, s.damaged("something follows its end")
	case len(s.marks) == maxDepth:
		return 0, 0, s.damaged("its elements nest too deep")
	}
	s.rooted = true
	s.marks = append(s.marks, len(s.open))
	s.open = append(s.open, full...)
	return startTag, size, nil
}

// tagSize is the size of the tag that b begins with, 0 where b has not all of it, and -1 for a tag with another in it. A >
// inside quotes is not its end.
func tagSize(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch c := b[i]; c {
		case '>':
			return i + 1
		case '<':
			return -1
		case '"', '\'':
			length := bytes.IndexByte(b[i+1:], c)
			if length < 0 {
				return 0
			}
			i += length + 1
		}
	}
	return 0
}

// scanEnd scans </name>.
func (s *scanner) scanEnd(b []byte) (token, int, error) {
	size := bytes.IndexByte(b, '>') + 1
	if size == 0 {
		return nothing, 0, nil
	}
	full := trimSpace(b[2 : size-1])
	if len(s.marks) == 0 || !bytes.Equal(full, s.open[s.marks[len(s.marks)-1]:]) {
		return 0, 0, s.damaged("a closing tag does not match its opening tag")
	}
	s.name = localName(full)
	s.pop()
	return endTag, size, nil
}

func (s *scanner) pop() {
	last := len(s.marks) - 1
	s.open = s.open[:s.marks[last]]
	s.marks = s.marks[:last]
}

// scanText scans up to the next tag.
func (s *scanner) scanText(b []byte) (token, int, error) {
	size := bytes.IndexByte(b, '<')
	if size < 0 {
		return nothing, 0, nil
	}
	s.text = b[:size]
	switch {
	case len(s.marks) > 0:
		return textRun, size, nil
	case s.isText():
		return 0, 0, s.damaged("text is outside its elements")
	}
	return nothing, size, nil
}

// isText reports whether the last textRun is more than white space.
func (s *scanner) isText() bool { return len(trimSpace(s.text)) > 0 }

// skipTo skips b up to stop, which begins after the first from bytes or later.
func skipTo(b []byte, from int, stop string) (token, int, error) {
	if length := bytes.Index(b[from:], []byte(stop)); length >= 0 {
		return nothing, from + length + len(stop), nil
	}
	return nothing, 0, nil
}

// element scans to the next start tag; it returns false at the end of the part.
func (s *scanner) element() (bool, error) {
	for {
		t, err := s.next()
		if err != nil || t != endTag && t != textRun {
			return t == startTag && err == nil, err
		}
	}
}

// skip skips the rest of the element whose start tag was just scanned.
func (s *scanner) skip() error {
	for depth := s.depth() - 1; ; {
		t, err := s.next()
		if err != nil {
			return err
		}
		if t == endTag && s.depth() == depth {
			return nil
		}
	}
}

func (s *scanner) damaged(format string, args ...any) error {
	return damaged(s.part, format, args...)
}

// more fills the buffer behind what is not scanned, and doubles one that is full of that. It returns an error
// where nothing is left.
func (s *scanner) more() error {
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	if s.end == len(s.buf) {
		if len(s.buf) >= maxToken {
			return s.damaged("it holds a text or tag of more than 4 MiB")
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := io.ReadFull(s.r, s.buf[s.end:])
	if s.end += n; n > 0 {
		return nil // an error that came with bytes comes again
	}
	return err
}

// attribute returns the next attribute of the start tag just scanned: its name
// with its prefix, and its value as in the file (see unescape). After a malformed
// attribute the next call of next fails.
func (s *scanner) attribute() (name, value []byte, ok bool) {
	rest := trimSpace(s.attrs)
	s.attrs = nil
	if len(rest) == 0 {
		return nil, nil, false
	}
	if equals := bytes.IndexByte(rest, '='); equals > 0 {
		name, rest = trimSpace(rest[:equals]), trimSpace(rest[equals+1:])
		if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') && !slices.ContainsFunc(name, isSpace) {
			if end := bytes.IndexByte(rest[1:], rest[0]); end >= 0 {
				s.attrs = rest[end+2:]
				return name, rest[1 : end+1], true
			}
		}
	}
	s.fault = s.damaged("a tag is malformed")
	return nil, nil, false
}

// attributes returns all attributes of the start tag just scanned, by name without
// prefix. It is for the small parts; the rows of a sheet are read without a map.
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
		all[string(localName(name))] = string(value)
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

// trimSpace trims exactly what XML calls white space.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// content appends the text of the element whose start tag was just scanned to dst
// and reads its end tag. The element must hold only text.
func (s *scanner) content(dst []byte) ([]byte, error) {
	for {
		t, err := s.next()
		switch {
		case err != nil:
			return dst, err
		case t == endTag:
			return dst, nil
		case t == startTag:
			err = s.damaged("a text contains an element")
		default:
			dst, err = s.unescape(dst, s.text)
		}
		if err != nil {
			return dst, err
		}
	}
}

// unescape appends text of the file to dst, with its entities replaced and its line
// ends as XML requires (CR and CRLF become LF). Invalid UTF-8 and control characters
// are damage.
func (s *scanner) unescape(dst, raw []byte) ([]byte, error) {
	from := len(dst)
	for {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			dst = append(dst, raw...)
			break
		}
		dst = append(dst, raw[:i]...)
		end := bytes.IndexByte(raw[i:min(len(raw), i+12)], ';')
		if end < 0 {
			return dst, s.damaged("an entity is malformed")
		}
		r, ok := entity(raw[i+1 : i+end])
		if !ok {
			return dst, s.damaged("an entity is unknown")
		}
		dst = utf8.AppendRune(dst, r)
		raw = raw[i+end+1:]
	}
	return s.checked(dst, from)
}

// checked refuses characters that XML refuses in dst[from:], and makes its line ends
// LF.
func (s *scanner) checked(dst []byte, from int) ([]byte, error) {
	ascii, cr := true, false
	for _, c := range dst[from:] {
		switch {
		case c >= utf8.RuneSelf:
			ascii = false
		case c >= ' ' || c == '\t' || c == '\n':
		case c == '\r':
			cr = true
		default:
			return dst, s.damaged("it holds a control character")
		}
	}
	if !ascii && !utf8.Valid(dst[from:]) {
		return dst, s.damaged("it is not written in UTF-8")
	}
	if cr {
		lf := bytes.ReplaceAll(dst[from:], []byte("\r\n"), []byte("\n"))
		dst = append(dst[:from], bytes.ReplaceAll(lf, []byte("\r"), []byte("\n"))...)
	}
	return dst, nil
}

// entities are XML's own: others need a document type.
var entities = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}

// entity returns the character of an entity's name.
func entity(name []byte) (rune, bool) {
	if r, ok := entities[string(name)]; ok {
		return r, true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := string(name[1:]), 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	return rune(n), true
}

// walk scans a small part to its end and calls visit for every element, with the
// names of the elements from the root to the element itself. visit may read the
// element's inside with content or skip.
func (a *archive) walk(name string, limit uint64, visit func(s *scanner, path []string) error) error {
	p, err := a.open(name, limit)
	if err != nil {
		return err
	}
	defer p.Close()
	s := newScanner(p)
	var path []string
	for {
		if found, err := s.element(); err != nil || !found {
			return err
		}
		path = append(path[:s.depth()-1], string(s.name))
		if err := visit(s, path); err != nil {
			return err
		}
		path = path[:min(len(path), s.depth())]
	}
}

func at(path []string, names ...string) bool { return slices.Equal(path, names) }
