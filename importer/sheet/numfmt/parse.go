// Package numfmt shows a number as a spreadsheet program shows it: Parse reads a
// cell's number format code, and Append writes a number in that format.
//
// A number is a date where the section of the format that shows it is one; dates
// and times are shown as ISO 8601, whatever their order of day and month in the
// format. A number that its format shows nothing of, or in a rare way, is shown as
// in General: fractions, elapsed time ([h]:mm), thousands (0,) and conditions ([>100])
// are not rendered. With a condition, a number is a date where any section is one.
package numfmt

import (
	"regexp"
	"slices"
	"strings"
)

// Format is a parsed number format. A nil *Format is General.
type Format struct {
	code     string
	sections []section // of numbers, one to three; nil shows them as in General
}

// Code returns the format code, "" for General.
func (f *Format) Code() string {
	if f == nil {
		return ""
	}
	return f.code
}

// maxCode bounds a format code; spreadsheet programs stop at 255.
const maxCode = 1_000

// Parse reads a number format code, such as #,##0.00. A number that the code shows
// in a way that cannot be rendered is shown as in General: all its digits are
// better than a few wrong ones. An empty code and General give nil.
func Parse(code string) *Format {
	if code == "" || strings.EqualFold(code, "General") {
		return nil
	}
	f := &Format{code: code}
	if len(code) > maxCode {
		return f
	}
	conditional := false
	for _, tokens := range scanCode(code) {
		if slices.ContainsFunc(tokens, func(t codeToken) bool { return t.kind == valueCode }) || len(f.sections) == maxSections-1 {
			break
		}
		conditional = conditional || slices.ContainsFunc(tokens, codeToken.isCondition)
		f.sections = append(f.sections, compileSection(tokens))
	}
	if conditional {
		f.sections = slices.DeleteFunc(f.sections, func(s section) bool { return !s.isDate() })
		f.sections = f.sections[:min(1, len(f.sections))]
	}
	return f
}

// section is one of up to three parts of a number's format, for positive
// numbers, negative ones and zero.
type section struct {
	date, clock bool // what of a day count is shown; of a number neither is

	items    []item // of a number; none shows it as in General
	digits   int    // digit places before the point
	decimals int    // and after it
	scale    int    // powers of ten that the number is multiplied by: 2 for %
	group    bool   // thousands are set apart
	exponent int    // digit places of the exponent; 0 for no exponent
	general  bool   // the digits are shown as in General
}

// isDate reports whether the section shows a number as a date or a time of day.
func (s *section) isDate() bool { return s != nil && (s.date || s.clock) }

// item is one piece of the shown text.
type item struct {
	kind itemKind
	text string // of a literal; the place's character (0 # ?) of a digit
}

type itemKind uint8

const (
	literal      itemKind = iota
	wholeDigit            // before the point
	point                 // the decimal point
	decimalDigit          // after it
	exponentSign          // E+ and the digits after it
	generalDigits
)

// compileSection reads the tokens of one section. A section that cannot be
// rendered (fractions, digits of other scripts, dates beside numbers) gets no
// items.
func compileSection(tokens []codeToken) section {
	var s section
	if s.date, s.clock = dateParts(tokens); s.isDate() {
		return s
	}
	if b := (sectionBuilder{tokens: tokens}); b.build() {
		return b.s
	}
	return s
}

// sectionBuilder builds a section token by token.
type sectionBuilder struct {
	s          section
	tokens     []codeToken
	afterPoint bool
	commas     bool // there is a comma after a digit
	trailing   bool // no digit follows it
}

// build adds all tokens; false means that the section cannot be rendered.
func (b *sectionBuilder) build() bool {
	for i := range b.tokens {
		if !b.add(i) {
			return false
		}
	}
	s := &b.s
	s.group = b.commas
	return !b.trailing && (!s.general || s.digits+s.decimals == 0)
}

// is reports whether token i exists and is of this kind.
func (b *sectionBuilder) is(i int, kind codeKind) bool {
	return i >= 0 && i < len(b.tokens) && b.tokens[i].kind == kind
}

// add adds token i; false means that it cannot be rendered.
func (b *sectionBuilder) add(i int) bool {
	t := b.tokens[i]
	switch t.kind {
	case textCode:
		b.literal(t.text)
	case digitCode:
		if b.s.digits+b.s.decimals > 0 {
			return false // of a fraction, 0/8, or a place for nothing
		}
		b.literal(t.text)
	case percentCode:
		b.s.scale += 2
		b.literal(t.text)
	case placesCode:
		return b.places(t.text)
	case commaCode:
		switch {
		case b.is(i-1, placesCode) && !b.afterPoint:
			b.commas, b.trailing = true, true
		case b.s.digits+b.s.decimals == 0:
			b.literal(",")
		default:
			return false
		}
	case pointCode:
		return b.point(i)
	case exponentCode:
		if b.s.exponent != 0 || b.s.digits == 0 || !b.is(i+1, placesCode) {
			return false
		}
		b.s.exponent = len(b.tokens[i+1].text)
		b.s.items = append(b.s.items, item{kind: exponentSign})
	case generalCode:
		b.s.general = true
		b.s.items = append(b.s.items, item{kind: generalDigits})
	case bracketCode:
		return b.bracket(t.text)
	default:
		return false
	}
	return true
}

func (b *sectionBuilder) literal(text string) {
	b.s.items = append(b.s.items, item{kind: literal, text: text})
}

// places adds a run of digit places.
func (b *sectionBuilder) places(run string) bool {
	s := &b.s
	if s.exponent != 0 { // those of the exponent were taken with its sign
		return s.items[len(s.items)-1].kind == exponentSign
	}
	for _, c := range run {
		if b.afterPoint {
			s.decimals++
			s.items = append(s.items, item{kind: decimalDigit, text: string(c)})
			continue
		}
		s.digits++
		s.items = append(s.items, item{kind: wholeDigit, text: string(c)})
	}
	b.trailing = false
	return true
}

// point adds a point.
func (b *sectionBuilder) point(i int) bool {
	if b.afterPoint || b.trailing || !b.is(i-1, placesCode) && !b.is(i+1, placesCode) {
		return false
	}
	b.afterPoint = true
	b.s.items = append(b.s.items, item{kind: point})
	return true
}

// bracket adds the text between brackets: colours show nothing, [$£-809] shows the
// currency before the dash.
func (b *sectionBuilder) bracket(inside string) bool {
	if currency, ok := strings.CutPrefix(inside, "$"); ok {
		currency, _, _ = strings.Cut(currency, "-")
		b.literal(currency)
		return true
	}
	lower := strings.ToLower(inside)
	return slices.Contains(colours, lower) || strings.HasPrefix(lower, "color") // [Color10]
}

var colours = []string{"black", "blue", "cyan", "green", "magenta", "red", "white", "yellow"}

// dateParts reports whether a section shows a day and a time of day. Both are
// false for a section that shows a number: one with a digit place other than a
// second's fraction, or one of elapsed time ([h]:mm): 26:30 is not a time of day.
func dateParts(tokens []codeToken) (date, clock bool) {
	var letters []byte // the date and time codes in order, one letter each
	for i, t := range tokens {
		switch t.kind {
		case elapsedCode, generalCode:
			return false, false
		case dateCode:
			if c := dateLetter(t.text); c != 0 {
				letters = append(letters, c)
			}
		case placesCode:
			if i == 0 || tokens[i-1].kind != pointCode || len(letters) == 0 {
				return false, false
			}
		}
	}
	for i, c := range letters {
		switch {
		case c == 'm' && (i > 0 && letters[i-1] == 'h' || i+1 < len(letters) && letters[i+1] == 's'):
			clock = true // minutes: beside hours or seconds
		case c == 'h' || c == 's' || c == 'a':
			clock = true
		default:
			date = true
		}
	}
	return date, clock
}

// dateLetter returns the letter of a date or time code: y m d h s, e for a year of
// an era, a for AM/PM; 0 for a letter without a meaning.
func dateLetter(code string) byte {
	lower := strings.ToLower(code)
	if strings.Contains(lower, "/") { // AM/PM, A/P and their like
		return 'a'
	}
	switch c := lower[0]; c {
	case 'y', 'm', 'd', 'h', 's':
		return c
	case 'e', 'g', 'b':
		return 'e'
	}
	return 0
}

// codeToken is one piece of a number format code.
type codeToken struct {
	kind codeKind
	text string // for a text what it shows; else as in the code, without a bracket's brackets
}

type codeKind uint8

const (
	textCode     codeKind = iota // shown as it is: quoted, escaped, or of no other meaning
	placesCode                   // digit places: a run of 0, # and ?
	digitCode                    // 1 to 9
	pointCode                    // the decimal point
	commaCode                    // sets thousands apart, or leaves them out
	percentCode                  // %
	slashCode                    // of a fraction or a date
	exponentCode                 // E+
	dateCode                     // a run of one letter, or AM/PM
	elapsedCode                  // a unit of elapsed time: [h], [mm] or [ss]
	bracketCode                  // a condition, a currency, a colour …
	generalCode                  // General
	valueCode                    // @, the place of a text
	unknownCode                  // a bracket that is not closed
	spaceCode                    // _ and a character; becomes a text
	fillCode                     // * and a character; becomes a text
)

func (t codeToken) isCondition() bool {
	return t.kind == bracketCode && strings.IndexAny(t.text, "<>=") == 0
}

// maxSections is how many sections a format code can have; the last is for
// texts.
const maxSections = 4

// codePattern matches one token. Its groups are those of codeKinds, but for the first, which is a semicolon between sections.
var codePattern = regexp.MustCompile(`(?is)(;)|"([^"]*)"?|\\(.?)|_.?()|\*.?()|\[(h+|m+|s+)\]|\[([^\]]*)\]|(\[.*)|([0#?]+)|(\.)|(,)|(%)|(/)|(@)|(E\+)|(General)|` +
	`(AM/PM|A/P|上午/下午|a+|b+|d+|e+|g+|h+|m+|r+|s+|y+)|([1-9])|(.)`)

var codeKinds = []codeKind{textCode, textCode, spaceCode, fillCode, elapsedCode, bracketCode, unknownCode, placesCode, pointCode, commaCode, percentCode, slashCode,
	valueCode, exponentCode, generalCode, dateCode, digitCode, textCode}

// scanCode splits a format code into tokens, section by section. It returns nil
// for a code with too many sections. Quoted, escaped and bracketed text does not
// separate sections and has no other meaning: \x shows the character, _x is a space of its width, *x fills the cell with it and shows nothing
// here.
func scanCode(code string) [][]codeToken {
	sections := [][]codeToken{nil}
	for _, at := range codePattern.FindAllStringSubmatchIndex(code, -1) {
		if at[2] >= 0 {
			sections = append(sections, nil)
			continue
		}
		last := len(sections) - 1
		for i, kind := range codeKinds {
			from, to := at[2*i+4], at[2*i+5]
			if from < 0 {
				continue
			}
			t := codeToken{kind, code[from:to]}
			switch kind {
			case spaceCode:
				t = codeToken{textCode, " "}
			case fillCode:
				t = codeToken{textCode, ""}
			}
			sections[last] = append(sections[last], t)
		}
	}
	if len(sections) > maxSections {
		return nil
	}
	return sections
}
