package sheet

import (
	"strconv"
	"strings"

	"github.com/xuri/nfp"
)

// section is one of up to three parts of a number's format, for positive
// numbers, negative ones and zero unless conditions say otherwise.
type section struct {
	items    []item
	operator string // of its condition, "" for none
	operand  float64

	digits   int  // digit places before the point
	decimals int  // and after it
	scale    int  // powers of ten that the number is multiplied by: 2 for %, -3 for a trailing comma
	group    bool // thousands are set apart
	exponent int  // digit places of the exponent; 0 for no exponent
	general  bool // the digits are shown as in General
	elapsed  byte // the first unit of elapsed time: h, m or s; 0 for none
}

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

// compileSection reads the tokens of one section; ok is false for what cannot
// be rendered: fractions, digits of other scripts, dates beside numbers.
func compileSection(tokens []nfp.Token) (section, bool) {
	s := section{}
	b := sectionBuilder{s: &s}
	for i, t := range tokens {
		if !b.add(t, i, tokens) {
			return section{}, false
		}
	}
	s.group = b.commas > 0 && b.digitAfterComma
	s.scale -= 3 * b.trailing
	ok := !s.general || s.digits+s.decimals == 0
	if s.elapsed != 0 {
		ok = s.digits == 0 && !s.general && s.exponent == 0
	}
	return s, ok
}

// sectionBuilder is what is known while the tokens are read.
type sectionBuilder struct {
	s               *section
	afterPoint      bool
	commas          int  // met so far
	trailing        int  // met since the last digit
	digitAfterComma bool // a comma stands between two digits before the point
}

// add takes one token; false is a token that cannot be rendered.
func (b *sectionBuilder) add(t nfp.Token, i int, all []nfp.Token) bool {
	s := b.s
	switch t.TType {
	case nfp.TokenTypeLiteral:
		// The parser takes the second of two commas for a literal.
		if t.TValue == "," && i > 0 && all[i-1].TType == nfp.TokenTypeThousandsSeparator {
			b.trailing++
			return true
		}
		if strings.Contains(t.TValue, "/") && s.digits > 0 && i+1 < len(all) && isPlace(all[i+1]) {
			return false // a fraction, such as 0/0
		}
		s.items = append(s.items, item{kind: literal, text: t.TValue})
	case nfp.TokenTypeAlignment:
		s.items = append(s.items, item{kind: literal, text: " "})
	case nfp.TokenTypePercent:
		s.scale += 2 * len(t.TValue)
		s.items = append(s.items, item{kind: literal, text: t.TValue})
	case nfp.TokenTypeZeroPlaceHolder, nfp.TokenTypeHashPlaceHolder, nfp.TokenTypeDigitalPlaceHolder:
		return b.places(t.TValue)
	case nfp.TokenTypeThousandsSeparator:
		b.commas++
		b.trailing++
	case nfp.TokenTypeDecimalPoint:
		if b.afterPoint {
			return false
		}
		b.afterPoint = true
		s.items = append(s.items, item{kind: point})
	case nfp.TokenTypeExponential:
		if s.exponent != 0 || s.digits == 0 || i+1 == len(all) || !isPlace(all[i+1]) {
			return false
		}
		s.exponent = len(all[i+1].TValue)
		s.items = append(s.items, item{kind: exponentSign})
	case nfp.TokenTypeGeneral:
		s.general = true
		s.items = append(s.items, item{kind: generalDigits})
	case nfp.TokenTypeCurrencyLanguage:
		for _, p := range t.Parts {
			if p.Token.TType == nfp.TokenSubTypeCurrencyString {
				s.items = append(s.items, item{kind: literal, text: p.Token.TValue})
			}
		}
	case nfp.TokenTypeCondition:
		return b.condition(t)
	case nfp.TokenTypeElapsedDateTimes, nfp.TokenTypeDateTimes:
		return b.unit(t)
	case nfp.TokenTypeColor, nfp.TokenTypeRepeatsChar:
	case nfp.TokenTypeUnknown:
		return strings.HasPrefix(strings.ToLower(t.TValue), "color") // [Color10]
	default:
		return false
	}
	return true
}

func isPlace(t nfp.Token) bool {
	return t.TType == nfp.TokenTypeZeroPlaceHolder || t.TType == nfp.TokenTypeHashPlaceHolder ||
		t.TType == nfp.TokenTypeDigitalPlaceHolder
}

// places takes a run of digit places.
func (b *sectionBuilder) places(run string) bool {
	s := b.s
	if s.exponent != 0 { // those of the exponent were taken with its sign
		return len(s.items) > 0 && s.items[len(s.items)-1].kind == exponentSign
	}
	for _, c := range run {
		if c != '0' && c != '#' && c != '?' {
			return false
		}
		if b.afterPoint {
			s.decimals++
			s.items = append(s.items, item{kind: decimalDigit, text: string(c)})
			continue
		}
		b.digitAfterComma = b.digitAfterComma || b.commas > 0
		b.trailing = 0
		s.digits++
		s.items = append(s.items, item{kind: wholeDigit, text: string(c)})
	}
	b.trailing = 0
	return true
}

func (b *sectionBuilder) condition(t nfp.Token) bool {
	if len(t.Parts) != 2 {
		return false
	}
	n, err := strconv.ParseFloat(t.Parts[1].Token.TValue, 64)
	b.s.operator, b.s.operand = t.Parts[0].Token.TValue, n
	return err == nil
}

// unit takes a unit of elapsed time: the first stands in brackets, the others
// follow it in order of size.
func (b *sectionBuilder) unit(t nfp.Token) bool {
	s := b.s
	letter := strings.ToLower(t.TValue)[:min(1, len(t.TValue))]
	if strings.Trim(strings.ToLower(t.TValue), letter) != "" || !strings.Contains("hms", letter) || letter == "" {
		return false
	}
	if t.TType == nfp.TokenTypeElapsedDateTimes {
		if s.elapsed != 0 {
			return false
		}
		s.elapsed = letter[0]
	} else if s.elapsed == 0 || letter == "h" || letter[0] == s.elapsed {
		return false
	}
	s.items = append(s.items, item{kind: unit, text: letter, wide: len(t.TValue) > 1})
	return true
}
