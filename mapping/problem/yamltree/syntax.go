package yamltree

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// lineSlips are mistakes that a line shows by itself. The last group of a pattern is where the mistake is.
var lineSlips = []struct {
	pattern       *regexp.Regexp
	message, hint string
}{
	{regexp.MustCompile(`^ *(\t)`), "a tab indents this line, and YAML is indented with spaces only", "replace the tab by spaces"},
	{regexp.MustCompile(`^ *([\x{a0}\x{2000}-\x{200a}\x{202f}\x{3000}])`), oddSpace, typeSpaces},
	{regexp.MustCompile(`(\$\{)`), "${…} is not replaced in this file, and cannot be written here without quotes",
		"write the value itself, or env:NAME for a secret"},
	{regexp.MustCompile(`:\s+((?:env|file|cmd):\s)`), "a space follows env:, file: or cmd:, and YAML takes it for a key",
		"write it and the rest without a space between them"},
	{regexp.MustCompile(`^\s*(?:- )*[^\s:"'#][^:"'#]*:\s+(\{[^{}]*\}\s*[^\s,#}\]].*)$`), "a text cannot begin with { unless it is in quotes",
		"put it in quotes"},
	{regexp.MustCompile(`:\s+('[^']*'\pL[^']*)'`), "the apostrophe in this text ends it, because the text is in single quotes",
		"put the text in double quotes"},
}

const (
	oddSpace   = "a no-break space or another special space indents this line, and YAML is indented with usual spaces only"
	typeSpaces = "type the spaces at the beginning of the line again"
	sameColumn = "begin it in the same column as the keys or entries that it belongs to"
)

// What the library says of a second colon in a line, and what stands for it where the line has one.
const (
	isSecondKey = "mapping values are not allowed"
	isIndented  = "a line that is indented too far"
)

// messageSlips are mistakes by what the library says of them.
var messageSlips = []struct {
	says          string
	isAtContext   bool // the mistake is where what the library was reading begins
	message, hint string
}{
	{"found unexpected end of stream", true, "the quote that begins here is not closed", "close it at the end of the text"},
	{"did not find expected ',' or '}'", true, "the bracket that begins here is not closed, or what it holds is not separated by commas",
		"close it with }, and put a text with a colon, a bracket or a quote in it in quotes"},
	{"did not find expected ',' or ']'", true, "the bracket that begins here is not closed, or what it holds is not separated by commas",
		"close it with ], and put a text with a colon, a bracket or a quote in it in quotes"},
	{"could not find expected ':'", true, "a colon is missing in this line; “key: value” was expected",
		"write a colon and a space between the key and its value"},
	{isIndented, false, "this line is indented further than the key above it, which has its value already", sameColumn},
	{isSecondKey, false, "a text with a colon and a space in it stands here without quotes, and YAML takes it for another key",
		"put the text in quotes"},
	{"block sequence entries are not allowed", false, "a - begins an entry of a list, and there can be none here",
		"put it in quotes if the text - is meant"},
	{"found character that cannot start any token", false, "a text cannot begin with %c unless it is in quotes", "put it in quotes"},
	{"found unknown escape character", false, "a backslash in double quotes begins a special character, and this one does not exist",
		`write \\ for a backslash, or put the text in single quotes`},
	{"did not find expected key", false, "this fits neither the keys above it nor a text", sameColumn +
		"; put a text with quotes or brackets in quotes"},
	{"did not find expected '-' indicator", false, "this fits neither the list above it nor the key of that list",
		sameColumn + "; every entry of a list begins with “- ”"},
	{"UTF-8", false, "the file is not UTF-8 text", "save it as UTF-8 in an editor"},
	{"exceeded max depth", false, "the file is nested too deeply", "close the brackets and correct the indentation"},
}

// syntax reports a file that is not valid YAML, at the place of the likely cause: the library
// notices some mistakes later. At most one character of the file is quoted, which may hold secrets.
func (r *Reader) syntax(err error, data []byte) {
	at, context, says := Place{1, 1}, Place{1, 1}, ""
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		says, context = e.Message, Place{e.ContextMark.Line, max(e.ContextMark.Column, 1)}
		switch {
		case e.Mark.Line > 0:
			at = Place{e.Mark.Line, max(e.Mark.Column, 1)}
		case e.Mark.Index <= len(data):
			at = placeAt(normalised(data[:e.Mark.Index]))
		}
	}
	if strings.HasPrefix(says, "unknown anchor") {
		r.WrongAt(at, "alias", "%s", aliasMessage).Hint = aliasHint
		return
	}
	lines := strings.SplitAfter(normalised(data), "\n")
	at.Line = min(at.Line, len(lines))
	line := strings.TrimSuffix(lines[at.Line-1], "\n")
	at.Column = min(at.Column, 1+utf8.RuneCountInString(line)) // for the library a line ends at U+2028 too
	for _, slip := range lineSlips {
		if m := slip.pattern.FindStringSubmatchIndex(line); m != nil {
			r.WrongAt(Place{at.Line, 1 + utf8.RuneCountInString(line[:m[len(m)-2]])}, "yaml", "%s", slip.message).Hint = slip.hint
			return
		}
	}
	until := strings.Join(lines[:at.Line], "")
	m := openQuote.FindStringSubmatchIndex(strings.TrimSuffix(until, "\n"))
	switch {
	case m != nil && strings.HasSuffix(says, "expected key"):
		at, context, says = placeAt(until[:m[2]]), placeAt(until[:m[2]]), messageSlips[0].says
	case strings.Contains(says, isSecondKey) && !strings.Contains(string([]rune(line)[:at.Column-1]), ": "):
		at.Column, says = 1+len(line)-len(strings.TrimLeft(line, " ")), isIndented
	}
	for _, slip := range messageSlips {
		if !strings.Contains(says, slip.says) {
			continue
		}
		if slip.isAtContext && context.IsSet() {
			at = context
		}
		message := slip.message
		if runes := []rune(line); at.Column <= len(runes) {
			message = strings.ReplaceAll(message, "%c", string(runes[at.Column-1]))
		}
		r.WrongAt(at, "yaml", "%s", message).Hint = slip.hint
		return
	}
	text := "the file is not valid YAML here"
	if says != "" && !r.secretive {
		text += ": " + says
	}
	r.WrongAt(at, "yaml", "%s", problem.OneLine(text)).
		Hint = "check the indentation, the brackets and the quotes here and in the line before"
}

// openQuote matches a value that begins with a quote and does not end in its line: the
// library notices it where another quote begins.
var openQuote = regexp.MustCompile(`(?m)^(?:[^"'#\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*[:\[{,-] *("(?:[^"\\\n]|\\.)*|'(?:[^'\n]|'')*)$`)

// normalised is a file's text with line feeds as the ends of lines.
func normalised(data []byte) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
}

// placeAt is the place behind a text.
func placeAt(before string) Place {
	return Place{1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):])}
}
