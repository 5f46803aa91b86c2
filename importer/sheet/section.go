package sheet

import (
	"slices"
	"strconv"
	"strings"
)

// section is one of up to three parts of a number's format, for positive
// numbers, negative ones and zero unless conditions say otherwise.
type section struct {
	operator string // of its condition, "" for none
	operand  float64

	date, clock bool // what of a day count is shown; of a number neither is

	items    []item // of a number; none shows it as in General
	digits   int    // digit places before the point
	decimals int    // and after it
	scale    int    // powers of ten that the number is multiplied by: 2 for %, -3 for a trailing comma
	group    bool   // thousands are set apart
	exponent int    // digit places of the exponent; 0 for no exponent
	general  bool   // the digits are shown as in General
	elapsed  byte   // the first unit of elapsed time: h, m or s; 0 for none
}

// isDate tells whether a number that the section shows is a date or a time of
// day.
func (s *section) isDate() bool { return s != nil && (s.date || s.clock) }

// item is one piece of what is shown.
type item struct {
	kind itemKind
	text string // of a literal; the place's character (0 # ?) of a digit; of a unit its letter
	wide bool   // of a unit: two digits at least
}

type itemKind uint8

const (
	literal      itemKind = iota
	wholeDigit            // before the point
	point                 // the decimal point
	decimalDigit          // after it
	exponentSign          // E+ and the digits after it
	generalDigits
	unit // of elapsed time: hours, minutes or seconds
)

// compileSection reads the tokens of one section. What cannot be rendered
// (fractions, digits of other scripts, dates beside numbers) has no items; ok
// is false for a condition that cannot be read, for then it is not known to
// which numbers the section applies.
func compileSection(tokens []codeToken) (s section, ok bool) {
	for _, t := range tokens {
		if t.kind != bracketCode || !isCondition(t.text) {
			continue
		}
		if s.operator, s.operand, ok = condition(t.text); !ok {
			return section{}, false
		}
	}
	if s.date, s.clock = dateParts(tokens); s.isDate() {
		return s, true
	}
	b := sectionBuilder{s: s, tokens: tokens}
	if !b.build() {
		return s, true
	}
	return b.s, true
}

func isCondition(inside string) bool { return strings.IndexAny(inside, "<>=") == 0 }

// condition reads what stands in brackets: <=9999999.
func condition(text string) (operator string, operand float64, ok bool) {
	operator = text[:len(text)-len(strings.TrimLeft(text, "<>="))]
	if !slices.Contains([]string{"<", "<=", ">", ">=", "<>", "="}, operator) {
		return "", 0, false
	}
	number := strings.TrimSpace(text[len(operator):])
	if strings.Trim(number, "0123456789.+-eE") != "" {
		return "", 0, false
	}
	operand, err := strconv.ParseFloat(number, 64)
	return operator, operand, err == nil
}

// sectionBuilder is what is known while the tokens are read.
type sectionBuilder struct {
	s               section
	tokens          []codeToken
	afterPoint      bool
	commas          int  // met so far
	trailing        int  // met since the last digit
	digitAfterComma bool // a comma stands between two digits before the point
}

// build takes all tokens; false is a section that cannot be rendered.
func (b *sectionBuilder) build() bool {
	for i := range b.tokens {
		if !b.add(i) {
			return false
		}
	}
	s := &b.s
	s.group = b.commas > 0 && b.digitAfterComma
	s.scale -= 3 * b.trailing
	if s.elapsed != 0 {
		return s.digits == 0 && !s.general && s.exponent == 0
	}
	return !s.general || s.digits+s.decimals == 0
}

// is tells whether token i is of a kind; there may be no such token.
func (b *sectionBuilder) is(i int, kind codeKind) bool {
	return i >= 0 && i < len(b.tokens) && b.tokens[i].kind == kind
}

// add takes token i; false is one that cannot be rendered.
func (b *sectionBuilder) add(i int) bool {
	t := b.tokens[i]
	switch t.kind {
	case textCode:
		b.literal(t.text)
	case slashCode:
		if b.s.digits > 0 && b.is(i+1, placesCode) {
			return false // a fraction, such as 0/0
		}
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
		return b.comma(i)
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
	case elapsedCode, dateCode:
		return b.unit(t)
	default:
		return false
	}
	return true
}

func (b *sectionBuilder) literal(text string) {
	b.s.items = append(b.s.items, item{kind: literal, text: text})
}

// places takes a run of digit places.
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
		b.digitAfterComma = b.digitAfterComma || b.commas > 0
		s.digits++
		s.items = append(s.items, item{kind: wholeDigit, text: string(c)})
	}
	b.trailing = 0
	return true
}

// comma takes a comma, which is text before the first digit. After a digit
// something else may stand before it: programs differ about that one.
func (b *sectionBuilder) comma(i int) bool {
	switch {
	case b.is(i-1, placesCode) || b.is(i-1, commaCode) && b.commas > 0:
		b.commas++
		b.trailing++
	case b.s.digits+b.s.decimals == 0:
		b.literal(",")
	default:
		return false
	}
	return true
}

// point takes a point, which in elapsed time may be text.
func (b *sectionBuilder) point(i int) bool {
	switch {
	case b.s.elapsed != 0 && !b.is(i+1, placesCode):
		b.literal(".")
		return true
	case b.afterPoint || !b.is(i-1, placesCode) && !b.is(i-1, commaCode) && !b.is(i+1, placesCode):
		return false
	}
	b.afterPoint = true
	b.s.items = append(b.s.items, item{kind: point})
	return true
}

// bracket takes what stands in brackets: conditions and colours show nothing,
// [$£-809] shows the currency before the dash.
func (b *sectionBuilder) bracket(inside string) bool {
	if currency, ok := strings.CutPrefix(inside, "$"); ok {
		currency, _, _ = strings.Cut(currency, "-")
		b.literal(currency)
		return true
	}
	lower := strings.ToLower(inside)
	return isCondition(inside) || slices.Contains(colours, lower) ||
		strings.HasPrefix(lower, "color") // [Color10]
}

var colours = []string{"black", "blue", "cyan", "green", "magenta", "red", "white", "yellow"}

// unit takes a unit of elapsed time: the first stands in brackets, the others
// follow it in order of size.
func (b *sectionBuilder) unit(t codeToken) bool {
	s := &b.s
	letter := strings.ToLower(t.text[:1])
	switch {
	case !isElapsed(t.text):
		return false
	case t.kind == elapsedCode && s.elapsed != 0:
		return false
	case t.kind == elapsedCode:
		s.elapsed = letter[0]
	case s.elapsed == 0 || letter == "h" || letter[0] == s.elapsed:
		return false
	}
	s.items = append(s.items, item{kind: unit, text: letter, wide: len(t.text) > 1})
	return true
}
