package mapping

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// orDefault fills in what is not given. A zero Numbers is the default
// notation; with Decimal given, a Group of "" means none.
func (n Numbers) orDefault() Numbers {
	if n == (Numbers{}) {
		return Numbers{Decimal: ".", Group: ","}
	}
	if n.Decimal == "" {
		n.Decimal = "."
	}
	return n
}

// numberFromText reads a trimmed text in the declared notation:
//
//	1234.5  1,234.50  -12  −12  .5  £1,234  -£5  £-5  12 €
//
// Groups are of three digits, all of them, and the first does not begin with
// 0: 0,123 is somebody's decimal comma. One currency symbol may stand before or
// behind. Everything else is refused, a plus sign, a minus behind and the
// bookkeeper's (12) included: a wrong amount costs more than a question.
func numberFromText(s string, n Numbers) (string, *Refusal) {
	if strings.HasSuffix(s, "%") {
		return "", refusePercent()
	}
	body, negative := stripSignAndSymbol(s)
	var buf [2*maxNumberDigits + 2]byte
	plain, ok := appendPlain(buf[:0], body, negative, n)
	if !ok {
		return "", n.refuse(s)
	}
	if string(plain) == s {
		return plainDecimal(s)
	}
	return plainDecimal(string(plain))
}

func (n Numbers) refuse(s string) *Refusal {
	hint := "correct the number, or declare how the sheet writes numbers under sheet.numbers"
	if strings.HasPrefix(s, "(") {
		hint = "write negative amounts with a minus sign in front"
	}
	return refuse("not-number", "is not a number; expected one written like 1"+n.Group+"234"+n.Decimal+"5", hint)
}

// stripSignAndSymbol takes away a minus in front and one currency symbol, with
// the white space around them.
func stripSignAndSymbol(s string) (body string, negative bool) {
	s, negative = cutMinus(s)
	first, size := utf8.DecodeRuneInString(s)
	if unicode.Is(unicode.Sc, first) {
		s = strings.TrimLeftFunc(s[size:], unicode.IsSpace)
		if !negative {
			s, negative = cutMinus(s)
		}
		return s, negative
	}
	if last, size := utf8.DecodeLastRuneInString(s); unicode.Is(unicode.Sc, last) {
		s = strings.TrimRightFunc(s[:len(s)-size], unicode.IsSpace)
	}
	return s, negative
}

func cutMinus(s string) (string, bool) {
	for _, minus := range []string{"-", "−"} {
		if rest, ok := strings.CutPrefix(s, minus); ok {
			return strings.TrimLeftFunc(rest, unicode.IsSpace), true
		}
	}
	return s, false
}

// appendPlain writes body in plain notation. It is not ok when body is not in
// the notation n, or too long for a number.
func appendPlain(out []byte, body string, negative bool, n Numbers) (_ []byte, ok bool) {
	whole, fraction, hasPoint := strings.Cut(body, n.Decimal)
	if hasPoint && !allDigits(fraction) || len(fraction) > maxNumberDigits || whole == "" && !hasPoint {
		return nil, false
	}
	if negative {
		out = append(out, '-')
	}
	start := len(out)
	if out, ok = appendGroups(out, whole, n.Group); !ok || len(out)-start > maxNumberDigits {
		return nil, false
	}
	if len(out) == start {
		out = append(out, '0')
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		out = append(append(out, '.'), fraction...)
	}
	return out, true
}

// appendGroups writes the digits of whole without its group separators.
func appendGroups(out []byte, whole, group string) (_ []byte, ok bool) {
	run, groups := 0, 0 // digits since the last separator; separators seen
	for i := 0; i < len(whole); {
		if whole[i] >= '0' && whole[i] <= '9' {
			if len(out) > maxNumberDigits {
				return nil, false
			}
			out = append(out, whole[i])
			run++
			i++
			continue
		}
		size := groupAt(whole[i:], group)
		wellPlaced := groups == 0 && run >= 1 && run <= 3 && whole[0] != '0' || groups > 0 && run == 3
		if size == 0 || !wellPlaced {
			return nil, false
		}
		run, groups, i = 0, groups+1, i+size
	}
	return out, groups == 0 || run == 3
}

// groupAt is the length of the group separator that s begins with, or 0. A
// declared space stands for the no-break and narrow spaces that programs
// write in its place, an apostrophe for the typographic one.
func groupAt(s, group string) int {
	switch {
	case group == "":
		return 0
	case strings.HasPrefix(s, group):
		return len(group)
	}
	first, size := utf8.DecodeRuneInString(s)
	if group == " " && strings.ContainsRune("\u00a0\u202f\u2009", first) || group == "'" && first == '’' {
		return size
	}
	return 0
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
