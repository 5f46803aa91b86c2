package yamltree

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// source is a file that is not valid YAML, and where and how the library failed.
type source struct {
	*Reader
	text    string // with line feeds as the ends of lines
	lines   []string
	at      Place
	context Place  // where what the library was reading begins
	line    string // at this place
	before  string // what is before the place in its line
	offset  int    // of the place in the text
	message string
}

// slip reports a likely cause. quoted is the end of the hint, which quotes the file; "" for none.
func (s *source) slip(at Place, message, hint, quoted string) bool {
	if quoted != "" && !s.secretive {
		hint += ": " + quoted
	}
	s.WrongAt(at, "yaml", "%s", message).Hint = hint
	return true
}

// syntax reports a file that is not valid YAML: the likely cause at its own place,
// else what the library says. The library notices many mistakes some lines later. Of
// a secretive file nothing is quoted.
func (r *Reader) syntax(err error, data []byte) {
	s := &source{Reader: r, text: normalised(data), at: Place{1, 1}}
	s.lines = strings.Split(s.text, "\n")
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		s.message, s.context = e.Message, Place{e.ContextMark.Line, max(e.ContextMark.Column, 1)}
		switch {
		case e.Mark.Line > 0:
			s.at = Place{e.Mark.Line, max(e.Mark.Column, 1)}
		case e.Mark.Index > 0 && e.Mark.Index <= len(data):
			s.at.Line = 1 + bytes.Count(data[:e.Mark.Index], []byte("\n"))
		}
	}
	if strings.HasPrefix(s.message, "unknown anchor") {
		r.WrongAt(s.at, "alias", "%s", aliasMessage).Hint = aliasHint
		return
	}
	if strings.HasPrefix(s.message, "exceeded max depth") {
		r.WrongAt(s.at, "yaml", "the file is nested too deeply").Hint = "close the brackets and correct the indentation"
		return
	}
	s.at.Line = min(s.at.Line, len(s.lines))
	s.line = s.lines[s.at.Line-1]
	s.before = s.line
	if runes := []rune(s.line); s.at.Column <= len(runes) {
		s.before = string(runes[:s.at.Column-1])
	}
	for _, line := range s.lines[:s.at.Line-1] {
		s.offset += len(line) + 1
	}
	s.offset += len(s.before)
	if s.inLine() || s.unclosed() || s.colon() || s.byMessage() {
		return
	}
	text := "the file is not valid YAML here"
	if s.message != "" && !r.secretive {
		text += ": " + s.message
	}
	r.WrongAt(s.at, "yaml", "%s", problem.OneLine(text)).
		Hint = "check the indentation, the brackets and the quotes here and in the line before"
}

// normalised is a file's text with line feeds as the ends of lines.
func normalised(data []byte) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
}

// placeAt is the place of a byte of a text.
func placeAt(text string, offset int) Place {
	begin := 1 + strings.LastIndexByte(text[:offset], '\n')
	return Place{1 + strings.Count(text[:begin], "\n"), 1 + utf8.RuneCountInString(text[begin:offset])}
}

// inQuotes is a text of the file in double quotes, without a comment behind it.
func inQuotes(text string) string {
	text, _, _ = strings.Cut(text, " #")
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(problem.Shorten(text)) + `"`
}

// lineSlips are mistakes that a line shows by itself. The last group of a pattern is where
// the mistake is. Where the hint quotes the line, it ends with the first group and the last
// one in quotes.
var lineSlips = []struct {
	pattern       *regexp.Regexp
	message, hint string
	isQuoted      bool
}{
	{regexp.MustCompile(`^ *(\t)`), "a tab indents this line, and YAML is indented with spaces only", "replace the tab by spaces", false},
	{regexp.MustCompile(`^\s*(?:- )*([^\s:"'#][^:"'#]*:\s+)(-)\s*(?:#.*)?$`), "a - alone begins an entry of a list, but nothing follows it",
		"put it in quotes if the text - is meant", true},
	{regexp.MustCompile(`(\$\{)`), "${…} is not replaced in this file, and cannot be written here without quotes",
		"write the value itself, or env:NAME for a secret", false},
	{regexp.MustCompile(`^(\s*(?:- )*[^\s:"'#][^:"'#]*:\s+)(\{[^{}]*\}\s*[^\s,#}\]].*)$`), "a text cannot begin with { unless it is in quotes",
		"put it in quotes", true},
	{regexp.MustCompile(`:(\s+)('[^']*'\pL[^']*)'`), "the apostrophe in this text ends it, because the text is in single quotes",
		"put the text in double quotes", true},
}

// inLine finds a mistake that the line shows by itself.
func (s *source) inLine() bool {
	for _, l := range lineSlips {
		m := l.pattern.FindStringSubmatchIndex(s.line)
		if m == nil {
			continue
		}
		last := len(m) - 2
		quoted := ""
		if l.isQuoted {
			quoted = strings.TrimSpace(strings.TrimSpace(s.line[m[2]:m[3]]) + " " + inQuotes(strings.TrimPrefix(s.line[m[last]:m[last+1]], "'")))
		}
		return s.slip(Place{s.at.Line, 1 + utf8.RuneCountInString(s.line[:m[last]])}, l.message, l.hint, quoted)
	}
	return false
}

// openQuote matches a value that begins with a quote and does not end in its line.
var openQuote = regexp.MustCompile(`(?m)^(?:[^"'#\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*[:\[{,-] *("(?:[^"\\\n]|\\.)*|'(?:[^'\n]|'')*)$`)

// unclosed finds a quote or a bracket that is not closed. The library may notice a quote much
// later, where another one begins.
func (s *source) unclosed() bool {
	isBracket := strings.HasPrefix(s.message, "did not find expected ','")
	isQuote := isBracket || strings.Contains(s.message, "end of stream") || strings.HasSuffix(s.message, "expected key") || strings.HasSuffix(s.message, "expected ':'")
	if m := openQuote.FindStringSubmatchIndex(s.text[:s.offset-len(s.before)+len(s.line)]); m != nil && isQuote {
		return s.slip(placeAt(s.text, m[2]), "the quote that begins here is not closed", "close it with "+s.text[m[2]:m[2]+1]+" at the end of the text", "")
	}
	if !isBracket || s.context.Line < 1 || s.context.Line > len(s.lines) {
		return false
	}
	rest := []rune(s.lines[s.context.Line-1])
	if rest = rest[min(s.context.Column-1, len(rest)):]; len(rest) == 0 {
		return false
	}
	closing := map[rune]string{'[': "]", '{': "}"}[rest[0]]
	if closing == "" || strings.Count(string(rest), closing) >= strings.Count(string(rest), string(rest[:1])) {
		return false
	}
	return s.slip(s.context, "the bracket that begins here is not closed", "close it with "+closing, "")
}

// keyBeforeBrace matches a key and the { of its value without a colon between them.
var keyBeforeBrace = regexp.MustCompile(`^\s*(?:- )*[^\s:{}"'#][^:{}"'#]*\{`)

// colon explains a colon where no key can be: in a text, or in a line that is
// indented too far.
func (s *source) colon() bool {
	place := func(offset int) Place { return Place{s.at.Line, 1 + utf8.RuneCountInString(s.line[:offset])} }
	if !strings.HasPrefix(s.line[len(s.before):], ":") || strings.Contains(s.message, "cannot start") {
		return false
	}
	from := strings.LastIndex(s.before, ": ")
	if from < 0 {
		return s.slip(place(len(s.line)-len(strings.TrimLeft(s.line, " "))), "this line is indented further than the key above it, which has its value already",
			"begin it in the same column as the keys that it belongs to", "")
	}
	value := strings.TrimLeft(s.line[from+1:], " ")
	begin := len(s.line) - len(value)
	if key := keyBeforeBrace.FindString(s.line[:begin]); key != "" {
		return s.slip(place(len(key)-1), "a colon is missing between the key and the {", "write “key: {…}”, with a space behind the colon", "")
	}
	word, quote, quoted := strings.TrimSpace(s.before[begin:]), string([]rune(value)[:1]), ""
	switch {
	case word == "env" || word == "file" || word == "cmd":
		return s.slip(place(begin), "“"+word+":” is followed by a space, and YAML takes it for a key", "write "+word+": and the rest without a space between them", "")
	case strings.Contains(problem.DoubleQuotes, quote):
		return s.slip(place(begin), quote+" is a typographic quote, which YAML takes for part of the text", "type straight quotes", "")
	case !strings.ContainsAny(s.line[:begin], "[{"):
		quoted = strings.TrimSpace(s.line[:begin]) + " " + inQuotes(value)
	}
	return s.slip(place(begin), "the text that begins here has a colon and a space in it, which YAML takes for another key", "put the text in quotes", quoted)
}

// byMessage says in our words what the library says.
func (s *source) byMessage() bool {
	const column = "begin it in the same column as the keys or entries that it belongs to"
	rest := s.line[len(s.before):]
	switch message := s.message; {
	case message == "could not find expected ':'":
		return s.noColon()
	case message == "found character that cannot start any token" && rest != "":
		return s.slip(s.at, "a text cannot begin with "+string([]rune(rest)[:1])+" unless it is in quotes", "put it in quotes", inQuotes(rest))
	case strings.HasPrefix(message, "found unknown escape character"):
		return s.slip(s.at, "a backslash in double quotes begins a special character, and this one does not exist", `write \\ for a backslash, or put the text in single quotes`, "")
	case message == "did not find expected key":
		return s.slip(s.at, "this fits neither the keys above it nor a text", column+"; put a text with quotes or brackets in quotes", "")
	case message == "did not find expected '-' indicator":
		return s.slip(s.at, "this fits neither the list above it nor the key of that list", column+"; every entry of a list begins with “- ”", "")
	case strings.Contains(message, "UTF-8"): // the library does not name the line
		invalid := strings.IndexByte(strings.ToValidUTF8(s.text, "\xff"), 0xff) // a byte that UTF-8 never has
		return s.slip(placeAt(s.text, max(invalid, 0)), "the file is not UTF-8 text", "save it as UTF-8 in an editor", "")
	}
	return false
}

// noColon finds the line above that lacks a colon.
func (s *source) noColon() bool {
	for number := s.at.Line; number > 0; number-- {
		line := s.lines[number-1]
		text := strings.TrimSpace(line)
		switch hasColon := strings.Contains(text, ":"); {
		case text == "" || text[0] == '#' || hasColon && number == s.at.Line:
		case hasColon:
			return false
		default:
			return s.slip(Place{number, 1 + len(line) - len(strings.TrimLeft(line, " "))}, "a colon is missing in this line; “key: value” was expected",
				"write a colon and a space between the key and its value", "")
		}
	}
	return false
}

// otherFile says what a file is that is no text; "" for a text.
func otherFile(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return "a workbook or another zip file"
	case bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")):
		return "an old or encrypted workbook"
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "" // UTF-16, which YAML allows
	case bytes.IndexByte(data[:min(len(data), 4096)], 0) >= 0:
		return "a binary file"
	}
	return ""
}

// oddIndent reports a line that another space than the usual one indents, which YAML
// takes for part of a text. It looks like any other.
func (r *Reader) oddIndent(data []byte) bool {
	for i, line := range strings.Split(normalised(data), "\n") {
		indent := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
		odd := strings.IndexFunc(line[:indent], func(c rune) bool { return c > unicode.MaxASCII })
		if odd >= 0 && strings.Contains(line, ":") {
			r.WrongAt(Place{i + 1, 1 + odd}, "yaml", "a no-break space or another special space indents this line, and YAML is indented with usual spaces only").
				Hint = "type the spaces at the beginning of the line again"
			return true
		}
	}
	return false
}
