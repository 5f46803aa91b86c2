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

// syntax reports a file that is not valid YAML: the likely cause at its own place,
// else what the library says. The library notices many mistakes some lines later. Of
// a secretive file nothing is quoted.
func (r *Reader) syntax(err error, data []byte) {
	at, message := Place{1, 1}, ""
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		message = e.Message
		switch {
		case e.Mark.Line > 0:
			at = Place{e.Mark.Line, max(e.Mark.Column, 1)}
		case e.Mark.Index > 0 && e.Mark.Index <= len(data):
			at.Line = 1 + bytes.Count(data[:e.Mark.Index], []byte("\n"))
		}
	}
	if strings.HasPrefix(message, "unknown anchor") {
		r.WrongAt(at, "alias", "%s", aliasMessage).Hint = aliasHint
		return
	}
	at.Line = min(at.Line, r.lastLine)
	lines := sourceLines(data)
	for _, find := range slips {
		if s, ok := find(lines, at, message); ok {
			hint := s.hint
			if s.quoted != "" && !r.secretive {
				hint += ": " + s.quoted
			}
			r.WrongAt(s.at, "yaml", "%s", s.message).Hint = hint
			return
		}
	}
	text := "the file is not valid YAML here"
	if message != "" && !r.secretive {
		text += ": " + message
	}
	r.WrongAt(at, "yaml", "%s", problem.OneLine(text)).
		Hint = "check the indentation, the brackets and the quotes here and in the line before"
}

// slip is a likely cause of a file that is not valid YAML.
type slip struct {
	at            Place
	message, hint string
	quoted        string // the end of the hint, which quotes the file; "" for none
}

// slips look for the usual mistakes, given the lines of the file and where and how
// the library failed. The first that finds one counts.
var slips = []func(lines []string, at Place, message string) (slip, bool){
	tabSlip, dashSlip, quoteSlip, variableSlip, bracketSlip, braceSlip, colonSlip, noColonSlip, characterSlip, apostropheSlip, fixedSlip,
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

// sourceLines returns the lines of a file without their ends.
func sourceLines(data []byte) []string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	return strings.Split(text, "\n")
}

// lineAt returns a line of the file, "" behind the last.
func lineAt(lines []string, number int) string {
	if number < 1 || number > len(lines) {
		return ""
	}
	return lines[number-1]
}

// place is the place of a byte of a line.
func place(lines []string, number, offset int) Place {
	return Place{number, 1 + utf8.RuneCountInString(lineAt(lines, number)[:offset])}
}

// offset is the byte of a line at a place; the line's length behind its end.
func offset(line string, at Place) int {
	column := 1
	for i := range line {
		if column == at.Column {
			return i
		}
		column++
	}
	return len(line)
}

func tabSlip(lines []string, at Place, _ string) (slip, bool) {
	line := lineAt(lines, at.Line)
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	tab := strings.IndexByte(indent, '\t')
	if tab < 0 {
		return slip{}, false
	}
	return slip{at: place(lines, at.Line, tab), message: "a tab indents this line, and YAML is indented with spaces only",
		hint: "replace the tab by spaces"}, true
}

// opener is a quote or a bracket that begins something.
type opener struct {
	at   Place
	sign byte
}

// scan reads the lines before a place as YAML does and returns the brackets that are
// open there, the last opened last, and a quote that is most likely never closed:
// it has no end, or more text follows where it ends in a later line.
func scan(lines []string, before Place) (brackets []opener, unclosed *opener) {
	var quote *opener
	for number := 1; number <= min(before.Line, len(lines)); number++ {
		line, end := lineAt(lines, number), len(lineAt(lines, number))
		if number == before.Line {
			end = offset(line, before)
		}
		begins := true // a value may begin here
		for i := 0; i < len(line) && (i < end || quote != nil); i++ {
			c := line[i]
			if quote != nil {
				switch {
				case c == '\\' && quote.sign == '"', c == quote.sign && quote.sign == '\'' && strings.HasPrefix(line[i+1:], "'"):
					i++
				case c == quote.sign:
					if number > quote.at.Line && !endsValue(line[i+1:]) {
						return brackets, quote
					}
					quote, begins = nil, false
				}
				continue
			}
			switch {
			case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
				i = len(line)
				continue
			case (c == '"' || c == '\'') && begins:
				quote = &opener{place(lines, number, i), c}
			case (c == '[' || c == '{') && (begins || len(brackets) > 0):
				brackets = append(brackets, opener{place(lines, number, i), c})
			case (c == ']' || c == '}') && len(brackets) > 0:
				brackets = brackets[:len(brackets)-1]
			}
			switch c {
			case ' ', '\t':
			case '[', '{', ',':
				begins = begins || len(brackets) > 0
			case ':', '-':
				begins = strings.HasPrefix(line[i+1:], " ")
			default:
				begins = false
			}
		}
	}
	return brackets, quote
}

// endsValue reports whether nothing but the end of a value follows.
func endsValue(rest string) bool {
	rest = strings.TrimLeft(rest, " \t,]}")
	return rest == "" || rest[0] == '#' || rest[0] == ':'
}

func quoteSlip(lines []string, at Place, _ string) (slip, bool) {
	_, quote := scan(lines, at)
	if quote == nil {
		return slip{}, false
	}
	return slip{at: quote.at, message: "the quote that begins here is not closed",
		hint: "close it with " + string(quote.sign) + " at the end of the text"}, true
}

// loneDash matches a value that is a dash.
var loneDash = regexp.MustCompile(`^\s*(?:- )*([^\s:"'#][^:"'#]*:)\s+-\s*(?:#.*)?$`)

func dashSlip(lines []string, at Place, _ string) (slip, bool) {
	line := lineAt(lines, at.Line)
	m := loneDash.FindStringSubmatch(line)
	if m == nil {
		return slip{}, false
	}
	return slip{at: place(lines, at.Line, strings.Index(line, "-")), message: "a - alone begins an entry of a list, but nothing follows it",
		hint: "put it in quotes if the text - is meant: " + m[1] + ` "-"`}, true
}

func variableSlip(lines []string, at Place, _ string) (slip, bool) {
	line := lineAt(lines, at.Line)
	i := strings.LastIndex(line[:min(len(line), offset(line, at)+1)], "${")
	if i < 0 {
		return slip{}, false
	}
	return slip{at: place(lines, at.Line, i), message: "${…} is not replaced in this file, and cannot be written here without quotes",
		hint: "write the value itself, or env:NAME for a secret"}, true
}

func bracketSlip(lines []string, at Place, message string) (slip, bool) {
	if !strings.HasPrefix(message, "did not find expected ','") {
		return slip{}, false
	}
	brackets, _ := scan(lines, at)
	if len(brackets) == 0 && lineAt(lines, at.Line) != "" { // the library may name the beginning of the line
		brackets, _ = scan(lines, Place{at.Line + 1, 1})
	} else if len(brackets) > 0 && brackets[len(brackets)-1].at.Line == at.Line {
		return slip{}, false
	}
	if len(brackets) == 0 {
		return slip{}, false
	}
	open := brackets[len(brackets)-1]
	closing := map[byte]string{'[': "]", '{': "}"}[open.sign]
	return slip{at: open.at, message: "the bracket that begins here is not closed", hint: "close it with " + closing}, true
}

// bracedText matches a value that begins with {Column} and goes on after it.
var bracedText = regexp.MustCompile(`^(\s*(?:- )*[^\s:"'#][^:"'#]*:\s+)(\{[^{}]*\}\s*[^\s,#}\]].*)$`)

func braceSlip(lines []string, at Place, _ string) (slip, bool) {
	m := bracedText.FindStringSubmatchIndex(lineAt(lines, at.Line))
	if m == nil {
		return slip{}, false
	}
	line := lineAt(lines, at.Line)
	return slip{at: place(lines, at.Line, m[4]), message: "a text cannot begin with { unless it is in quotes",
		hint: "put it in quotes", quoted: strings.TrimSpace(line[:m[4]]) + " " + inQuotes(line[m[4]:])}, true
}

// inQuotes is a text of the file in double quotes, without a comment behind it.
func inQuotes(text string) string {
	text, _, _ = strings.Cut(text, " #")
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(problem.Shorten(text)) + `"`
}

// keyBeforeBrace matches a key and the { of its value without a colon between them.
var keyBeforeBrace = regexp.MustCompile(`^\s*(?:- )*[^\s:{}"'#][^:{}"'#]*\{`)

// colonSlip explains a colon where no key can be: in a text, or in a line that is
// indented too far.
func colonSlip(lines []string, at Place, message string) (slip, bool) {
	line := lineAt(lines, at.Line)
	colon := offset(line, at)
	if colon >= len(line) || line[colon] != ':' || strings.Contains(message, "cannot start") {
		return slip{}, false
	}
	from := strings.LastIndex(line[:colon], ": ")
	if from < 0 {
		first := len(line) - len(strings.TrimLeft(line, " "))
		return slip{at: place(lines, at.Line, first), message: "this line is indented further than the key above it, which has its value already",
			hint: "begin it in the same column as the keys that it belongs to"}, true
	}
	value := strings.TrimLeft(line[from+1:], " ")
	begin := len(line) - len(value)
	if key := keyBeforeBrace.FindString(line[:begin]); key != "" {
		return slip{at: place(lines, at.Line, len(key)-1), message: "a colon is missing between the key and the {", hint: "write “key: {…}”, with a space behind the colon"}, true
	}
	s := slip{at: place(lines, at.Line, begin), message: "the text that begins here has a colon and a space in it, which YAML takes for another key", hint: "put the text in quotes"}
	word := strings.TrimSpace(line[begin:colon])
	quote, _ := utf8.DecodeRuneInString(value)
	brackets, _ := scan(lines, at)
	switch {
	case word == "env" || word == "file" || word == "cmd":
		s.message, s.hint = "“"+word+":” is followed by a space, and YAML takes it for a key", "write "+word+": and the rest without a space between them"
	case strings.ContainsRune(problem.DoubleQuotes, quote):
		s.message, s.hint = string(quote)+" is a typographic quote, which YAML takes for part of the text", "type straight quotes"
	case len(brackets) == 0:
		s.quoted = strings.TrimSpace(line[:begin]) + " " + inQuotes(value)
	}
	return s, true
}

func noColonSlip(lines []string, at Place, message string) (slip, bool) {
	if message != "could not find expected ':'" {
		return slip{}, false
	}
	for number := at.Line; number > 0; number-- {
		text := strings.TrimSpace(lineAt(lines, number))
		if text == "" || text[0] == '#' {
			continue
		}
		if strings.Contains(text, ":") {
			if number < at.Line {
				break
			}
			continue
		}
		line := lineAt(lines, number)
		return slip{at: place(lines, number, len(line)-len(strings.TrimLeft(line, " "))), message: "a colon is missing in this line; “key: value” was expected",
			hint: "write a colon and a space between the key and its value"}, true
	}
	return slip{}, false
}

func characterSlip(lines []string, at Place, message string) (slip, bool) {
	line := lineAt(lines, at.Line)
	i := offset(line, at)
	if message != "found character that cannot start any token" || i >= len(line) {
		return slip{}, false
	}
	sign, _ := utf8.DecodeRuneInString(line[i:])
	return slip{at: at, message: "a text cannot begin with " + string(sign) + " unless it is in quotes", hint: "put it in quotes", quoted: inQuotes(line[i:])}, true
}

// apostrophe matches a text in single quotes that an apostrophe ends too early.
var apostrophe = regexp.MustCompile(`:\s+('[^']*'\pL[^']*)'`)

func apostropheSlip(lines []string, at Place, _ string) (slip, bool) {
	line := lineAt(lines, at.Line)
	m := apostrophe.FindStringSubmatchIndex(line)
	if m == nil {
		return slip{}, false
	}
	text := line[m[2]+1 : m[3]]
	return slip{at: place(lines, at.Line, m[2]), message: "the apostrophe in this text ends it, because the text is in single quotes",
		hint: "put the text in double quotes", quoted: inQuotes(text)}, true
}

// oddIndent reports a line that another space than the usual one indents, which YAML
// takes for part of a text. It looks like any other.
func (r *Reader) oddIndent(data []byte) bool {
	lines := sourceLines(data)
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
		odd := strings.IndexFunc(line[:indent], func(c rune) bool { return c > unicode.MaxASCII })
		if odd >= 0 && strings.Contains(line, ":") {
			r.WrongAt(place(lines, i+1, odd), "yaml", "a no-break space or another special space indents this line, and YAML is indented with usual spaces only").
				Hint = "type the spaces at the beginning of the line again"
			return true
		}
	}
	return false
}

// fixedSlip says in our words what the library says.
func fixedSlip(lines []string, at Place, message string) (slip, bool) {
	const column = "begin it in the same column as the keys or entries that it belongs to"
	s := slip{at: at}
	switch {
	case strings.HasPrefix(message, "found unknown escape character"):
		s.message, s.hint = "a backslash in double quotes begins a special character, and there is none like this", `write \\ for a backslash, or put the text in single quotes`
	case message == "did not find expected key":
		s.message, s.hint = "this fits neither the keys above it nor a text", column+"; put a text with quotes or brackets in quotes"
	case message == "did not find expected '-' indicator":
		s.message, s.hint = "this fits neither the list above it nor the key of that list", column+"; every entry of a list begins with “- ”"
	case strings.Contains(message, "UTF-8"):
		s.at, s.message, s.hint = notUTF8(lines), "the file is not UTF-8 text", "save it as UTF-8 in an editor"
	case strings.HasPrefix(message, "exceeded max depth"):
		s.message, s.hint = "the file is nested too deeply", "close the brackets and correct the indentation"
	default:
		return s, false
	}
	return s, true
}

// notUTF8 is the place of the first byte that is no part of a character; the library
// does not name its line.
func notUTF8(lines []string) Place {
	for i, line := range lines {
		for at, c := range line {
			if c == utf8.RuneError && !strings.HasPrefix(line[at:], string(utf8.RuneError)) {
				return place(lines, i+1, at)
			}
		}
	}
	return Place{1, 1}
}
