package sheet

import (
	"bytes"
	"io"
	"strings"
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
	textRun // text or CDATA between two tags; one text may come in several runs
	endOfPart
)

// scanner cuts the XML of a part into tokens, in one pass. It checks what
// tells a whole document from a damaged one: tags match, the root element ends,
// nothing but white space follows it. Document types are refused, for entities
// are the classic way to blow up a reader, and so is any encoding but UTF-8 and
// UTF-16, which the part turns into UTF-8.
// Namespaces are not resolved: names are compared by their local part.
//
// Byte slices that it gives out are valid until the next call of next.
type scanner struct {
	part     string // its name, for errors
	encoding string // in which the part is written; what is read is UTF-8 always
	r        io.Reader
	buf      []byte
	pos      int // buf[pos:end] is not scanned yet
	end      int

	name  []byte // of the element whose tag was scanned, without its prefix
	attrs []byte // the inside of the start tag after its name
	text  []byte // of a textRun
	cdata bool   // text is CDATA: & is only a character

	open    []byte // names of the open elements, with their prefixes, one after the other
	marks   []int  // where each begins
	empty   bool   // the start tag just given out was an empty element's
	started bool   // a token was scanned
	rooted  bool   // the root element was met
	fault   error  // found between two calls of next
}

func newScanner(p *part) *scanner {
	return &scanner{part: p.name, encoding: p.encoding, r: p, buf: make([]byte, min(scanBuffer, p.size+64))}
}

// depth is the number of open elements.
func (s *scanner) depth() int { return len(s.marks) }

// next scans the next token. After endOfPart the part has been read to its
// end, so that its checksum was compared.
func (s *scanner) next() (token, error) {
	if s.empty {
		s.empty = false
		s.pop()
		return endTag, nil
	}
	for {
		if s.fault != nil {
			return 0, s.fault
		}
		if s.pos == s.end {
			if err := s.more(); err == io.EOF {
				return s.finish()
			} else if err != nil {
				return 0, err
			}
		}
		if !s.started {
			s.started = true
			if err := s.start(); err != nil {
				return 0, err
			}
			continue
		}
		t, given, err := s.scan()
		if given || err != nil {
			return t, err
		}
	}
}

// scan scans what begins at pos; given is false for what is passed over.
func (s *scanner) scan() (t token, given bool, err error) {
	if s.buf[s.pos] != '<' {
		given, err = s.scanText()
		return textRun, given, err
	}
	if err := s.want(2); err != nil {
		return 0, false, err
	}
	switch s.buf[s.pos+1] {
	case '/':
		return endTag, true, s.scanEnd()
	case '?':
		return 0, false, s.scanInstruction()
	case '!':
		given, err = s.scanDeclaration()
		return textRun, given, err
	}
	return startTag, true, s.scanStart()
}

// start looks for a byte order mark at the very beginning.
func (s *scanner) start() error {
	if err := s.want(3); err != nil {
		return err
	}
	head := s.buf[s.pos:s.end]
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		s.pos += 3
	case head[0] == 0xFE || head[0] == 0xFF || head[0] == 0 || head[1] == 0:
		return s.damaged("it is not written in UTF-8 or UTF-16")
	}
	return nil
}

// scanStart scans <name attributes> or <name attributes/>.
func (s *scanner) scanStart() error {
	n, err := s.tagEnd()
	if err != nil {
		return err
	}
	inside := s.buf[s.pos+1 : s.pos+n-1]
	s.pos += n
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
	if len(s.name) == 0 {
		return s.damaged("a tag has no name")
	}
	if len(s.marks) == 0 {
		if s.rooted {
			return s.damaged("something follows its end")
		}
		s.rooted = true
	}
	if len(s.marks) == maxDepth {
		return s.damaged("its elements nest too deep")
	}
	s.marks = append(s.marks, len(s.open))
	s.open = append(s.open, full...)
	return nil
}

// tagEnd is the length of the tag at pos. A > inside quotes is not its end.
func (s *scanner) tagEnd() (int, error) {
	i := 1
	for {
		window := s.buf[s.pos:s.end]
		for i < len(window) {
			switch c := window[i]; c {
			case '>':
				return i + 1, nil
			case '<':
				return 0, s.damaged("a tag is not closed")
			case '"', '\'':
				j := bytes.IndexByte(window[i+1:], c)
				if j < 0 {
					window = window[:0] // the value goes on beyond what was read
					continue
				}
				i += j + 2
			default:
				i++
			}
		}
		if err := s.read(); err != nil {
			return 0, err
		}
	}
}

// scanEnd scans </name>. Nearly always that is the name of the open element and
// nothing else, and all of it has been read.
func (s *scanner) scanEnd() error {
	if len(s.marks) > 0 {
		full := s.open[s.marks[len(s.marks)-1]:]
		if rest := s.buf[s.pos+2 : s.end]; len(rest) > len(full) && rest[len(full)] == '>' && bytes.HasPrefix(rest, full) {
			s.name = localName(rest[:len(full)])
			s.pos += len(full) + 3
			s.pop()
			return nil
		}
	}
	n, err := s.find(2, ">")
	if err != nil {
		return err
	}
	full := bytes.TrimRight(s.buf[s.pos+2:s.pos+n-1], " \t\r\n")
	s.pos += n
	if len(s.marks) == 0 || !bytes.Equal(full, s.open[s.marks[len(s.marks)-1]:]) {
		return s.damaged("a closing tag does not match its opening tag")
	}
	s.name = localName(full)
	s.pop()
	return nil
}

func (s *scanner) pop() {
	last := len(s.marks) - 1
	s.open = s.open[:s.marks[last]]
	s.marks = s.marks[:last]
}

// scanText scans up to the next tag.
func (s *scanner) scanText() (given bool, err error) {
	from := 0
	for {
		window := s.buf[s.pos:s.end]
		if i := bytes.IndexByte(window[from:], '<'); i >= 0 {
			s.text, s.cdata = window[:from+i], false
			s.pos += from + i
			break
		}
		from = len(window)
		err := s.more()
		if err == io.EOF && len(s.marks) == 0 { // white space after the root
			s.text, s.cdata = s.buf[s.pos:s.end], false
			s.pos = s.end
			break
		} else if err == io.EOF {
			return false, s.short()
		} else if err != nil {
			return false, err
		}
	}
	if len(s.marks) > 0 {
		return true, nil
	}
	if len(trimSpace(s.text)) > 0 {
		return false, s.damaged("text stands outside its elements")
	}
	return false, nil
}

// isText tells whether the textRun just given out is more than white space.
func (s *scanner) isText() bool { return len(trimSpace(s.text)) > 0 }

// scanDeclaration scans a comment, CDATA, or what is refused.
func (s *scanner) scanDeclaration() (given bool, err error) {
	if err := s.want(9); err != nil {
		return false, err
	}
	head := s.buf[s.pos:s.end]
	switch {
	case bytes.HasPrefix(head, []byte("<!--")):
		n, err := s.find(4, "-->")
		s.pos += n
		return false, err
	case bytes.HasPrefix(head, []byte("<![CDATA[")):
		n, err := s.find(9, "]]>")
		if err != nil {
			return false, err
		}
		if len(s.marks) == 0 {
			return false, s.damaged("text stands outside its elements")
		}
		s.text, s.cdata = s.buf[s.pos+9:s.pos+n-3], true
		s.pos += n
		return true, nil
	}
	return false, s.damaged("it holds a document type, which workbooks never do")
}

// scanInstruction scans <?…?>; the XML declaration may name an encoding.
func (s *scanner) scanInstruction() error {
	n, err := s.find(2, "?>")
	if err != nil {
		return err
	}
	inside := s.buf[s.pos+2 : s.pos+n-2]
	s.pos += n
	if !bytes.HasPrefix(inside, []byte("xml ")) {
		return nil
	}
	s.attrs = inside[4:]
	for {
		key, value, ok := s.attribute()
		if !ok {
			return s.fault
		}
		if string(key) == "encoding" && !s.isWrittenIn(string(value)) {
			return s.damaged("it is not written in UTF-8 or UTF-16")
		}
	}
}

// isWrittenIn reports whether the encoding that a part declares is its own.
func (s *scanner) isWrittenIn(declared string) bool {
	return strings.EqualFold(declared, s.encoding) || s.encoding == inUTF8 && strings.EqualFold(declared, "us-ascii")
}

// skip passes over the rest of the element whose start tag was just scanned.
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

// finish is met at the end of the bytes.
func (s *scanner) finish() (token, error) {
	if !s.rooted || len(s.marks) > 0 {
		return 0, s.short()
	}
	return endOfPart, nil
}

func (s *scanner) short() error { return s.damaged("it ends too early") }

func (s *scanner) damaged(format string, args ...any) error {
	return damaged(s.part, format, args...)
}
