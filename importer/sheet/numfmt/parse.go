// Package numfmt shows a number as a spreadsheet program shows it: Parse reads a
// cell's number format code, and Append writes a number in that format.
//
// A number is a date where the section of the format that shows it is one; dates
// and times are shown as ISO 8601, whatever their order of day and month in the
// format. A number that its format shows nothing of, or in a rare way, is shown as
// in General: fractions, exponents, elapsed time ([h]:mm), thousands (0,) and
// conditions ([>100]) are not rendered.
package numfmt

import (
	"regexp"
	"slices"
	"strings"
)

// Format is a parsed number format. A nil *Format is General.
type Format struct {
	code     string
	sections []section // of positive numbers, negative ones and zero; none shows all as in General
}

// Code returns the format code, "" for General.
func (f *Format) Code() string {
	if f == nil {
		return ""
	}
	return f.code
}

const (
	maxCode     = 1_000 // spreadsheet programs stop at 255 characters
	maxSections = 4     // the last is for texts
)

// Parse reads a number format code, such as #,##0.00. A number that the code shows
// in a way that cannot be rendered is shown as in General: all its digits are
// better than a few wrong ones. An empty code and General give nil.
func Parse(code string) *Format {
	if code == "" || strings.EqualFold(code, "General") {
		return nil
	}
	f := &Format{code: code}
	sections := scan(code)
	if len(sections) > maxSections {
		return f
	}
	for _, tokens := range sections {
		if len(f.sections) == maxSections-1 || slices.ContainsFunc(tokens, func(t token) bool { return t.kind == textPlace }) {
			break
		}
		f.sections = append(f.sections, compile(tokens))
	}
	return f
}

// token is one piece of a number format code.
type token struct {
	kind tokenKind
	text string // what a literal shows; else as in the code
}

type tokenKind uint8

const (
	literal   tokenKind = iota // shown as it is: quoted, escaped, or of no other meaning
	places                     // digit places: a run of 0, # and ?
	point                      // the decimal point
	comma                      // sets thousands apart, or leaves them out
	percent                    // %
	general                    // General
	dateUnit                   // a run of y, m, d, h or s, or AM/PM
	digit                      // 1 to 9
	textPlace                  // @
	elapsed                    // a unit of elapsed time: [h], [mm] or [ss]
	unknown                    // what cannot be rendered beside digits
)

// codePattern matches one token.
var codePattern = regexp.MustCompile(`(?is);|"([^"]*)"?|\\(.?)|_.?|\*.?|\[(?:h+|m+|s+)\]|\[([^\]]*)\]|\[.*|[0#?]+|General|AM/PM|A/P|上午/下午|d+|h+|m+|s+|y+|[abegr]+|.`)

// scan splits a format code into tokens, section by section; it returns nothing for a code with a condition. Quoted and escaped
// text has no other meaning, _x is a space of the character's width, and *x, which fills the cell with it, shows nothing here.
func scan(code string) [][]token {
	if len(code) > maxCode {
		return nil
	}
	sections := [][]token{nil}
	for _, at := range codePattern.FindAllStringSubmatch(code, -1) {
		t := token{literal, at[0]}
		switch c := t.text[0] | 0x20; {
		case t.text == ";":
			sections = append(sections, nil)
			continue
		case t.text[0] == '"', t.text[0] == '\\':
			t.text = at[1] + at[2]
		case t.text[0] == '_':
			t.text = " "
		case t.text[0] == '*':
			t.text = ""
		case strings.HasSuffix(t.text, "]") && t.text[0] == '[':
			switch inside := at[3]; {
			case inside == "":
				t.kind = elapsed
			case strings.ContainsAny(inside[:1], "<>="):
				return nil
			default:
				t = bracket(inside)
			}
		case strings.ContainsAny(t.text[:1], "0#?"):
			t.kind = places
		case t.text == ".":
			t.kind = point
		case t.text == ",":
			t.kind = comma
		case t.text == "%":
			t.kind = percent
		case t.text >= "1" && t.text <= "9":
			t.kind = digit
		case t.text == "@":
			t.kind = textPlace
		case strings.EqualFold(t.text, "General"):
			t.kind = general
		case strings.ContainsRune("dhmsy", rune(c)), len(t.text) > 1 && strings.Contains(t.text, "/"):
			t.kind = dateUnit
		case t.text == "/", t.text[0] == '[', strings.ContainsRune("abegr", rune(c)):
			t.kind = unknown
		}
		sections[len(sections)-1] = append(sections[len(sections)-1], t)
	}
	return sections
}

// bracket returns the token of what stands between brackets: [$£-809] shows the currency before the dash, colours show nothing.
func bracket(inside string) token {
	lower := strings.ToLower(inside)
	if currency, ok := strings.CutPrefix(inside, "$"); ok {
		currency, _, _ = strings.Cut(currency, "-")
		return token{literal, currency}
	}
	if slices.Contains(colours, lower) || strings.HasPrefix(lower, "color") { // [Color10]
		return token{}
	}
	return token{kind: unknown}
}

var colours = []string{"black", "blue", "cyan", "green", "magenta", "red", "white", "yellow"}

// section is what a format shows of positive numbers, of negative ones or of zero.
type section struct {
	date, clock bool // what is shown of a day count; of a number neither is

	items    []token // of a number, each digit place by itself; none shows it as in General
	digits   int     // digit places before the point
	decimals int     // and after it
	scale    int     // powers of ten that the number is multiplied by: 2 for %
	group    bool    // thousands are set apart
}

// isDate reports whether the section shows a number as a date or a time of day.
func (s *section) isDate() bool { return s != nil && (s.date || s.clock) }

// compile reads the tokens of one section. A section that cannot be rendered gets no items.
func compile(tokens []token) (s section) {
	if s.date, s.clock = dateParts(tokens); s.isDate() {
		return s
	}
	var has [unknown + 1]bool
	kindOf := func(i int) tokenKind {
		if i < 0 || i >= len(tokens) {
			return literal
		}
		return tokens[i].kind
	}
	for i, t := range tokens {
		isBroken := false
		switch t.kind {
		case places:
			for _, c := range t.text {
				s.items = append(s.items, token{places, string(c)})
			}
			if has[point] {
				s.decimals += len(t.text)
			} else {
				s.digits += len(t.text)
			}
		case point:
			isBroken = has[point] || kindOf(i-1) != places && kindOf(i+1) != places
			s.items = append(s.items, t)
		case comma:
			if !has[places] {
				s.items = append(s.items, token{literal, t.text})
				break
			}
			s.group, isBroken = true, kindOf(i-1) != places || kindOf(i+1) != places || has[point] // others leave thousands out
		case percent:
			s.scale += 2
			s.items = append(s.items, token{literal, t.text})
		case digit: // behind a place it is part of a fraction
			isBroken = has[places]
			s.items = append(s.items, token{literal, t.text})
		case literal, general:
			s.items = append(s.items, t)
		default:
			isBroken = true
		}
		if has[t.kind] = true; isBroken || has[general] && has[places] {
			return section{}
		}
	}
	return s
}

// dateParts reports whether a section shows a day and a time of day. Both are
// false for a section that shows a number: one with a digit place other than a
// second's fraction, or one of elapsed time ([h]:mm): 26:30 is not a time of day.
func dateParts(tokens []token) (date, clock bool) {
	var letters []byte // the date and time units in order, one letter each
	for i, t := range tokens {
		switch t.kind {
		case elapsed, general:
			return false, false
		case dateUnit:
			c := t.text[0] | 0x20
			if strings.Contains(t.text, "/") {
				c = 'a' // AM/PM
			}
			letters = append(letters, c)
		case places:
			if i == 0 || tokens[i-1].kind != point || len(letters) == 0 {
				return false, false
			}
		}
	}
	for i, c := range letters {
		isMinute := c == 'm' && (i > 0 && letters[i-1] == 'h' || i+1 < len(letters) && letters[i+1] == 's')
		if isMinute || c == 'h' || c == 's' || c == 'a' {
			clock = true
		} else {
			date = true
		}
	}
	return date, clock
}
