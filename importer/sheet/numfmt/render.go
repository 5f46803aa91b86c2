package numfmt

import (
	"bytes"
	"math"
	"strconv"
)

// significant is how many digits a spreadsheet keeps of a number: files hold 1.1000000000000001 for 1.1.
const significant = 15

// parse reads a number as files spell it: 12, -0.5, 1.2E-7. ok is false for
// text that is not a number, and for a number beyond a spreadsheet's range.
func parse(number []byte) (value float64, ok bool) {
	for _, c := range number { // ParseFloat reads more
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(string(number), 64)
	return value, err == nil
}

// decimal is a number without its sign, by its digits: 0.digits × 10^point. Zero has no digits.
type decimal struct {
	digits []byte // without zeros at either end
	point  int
}

func decimalOf(value float64) (d decimal) {
	if value == 0 {
		return d
	}
	b := strconv.AppendFloat(make([]byte, 0, 24), math.Abs(value), 'e', significant-1, 64)
	exponent, _ := strconv.Atoi(string(b[significant+2:]))
	return decimal{bytes.TrimRight(append(b[:1], b[2:significant+1]...), "0"), exponent + 1}
}

// fixed returns the digits before the point, none for a number below one, and so many decimals, the last rounded half away from zero.
func (d decimal) fixed(scale, decimals int) (whole, fraction []byte) {
	point := d.point + scale
	if len(d.digits) == 0 {
		point = 0
	}
	all := append(make([]byte, 0, 48), '0') // takes what is carried
	for range -point {
		all = append(all, '0')
	}
	all = append(all, d.digits...)
	point = 1 + max(point, 0)
	for len(all) <= point+decimals {
		all = append(all, '0')
	}
	isUp := all[point+decimals] >= '5'
	all = all[:point+decimals]
	for i := len(all) - 1; isUp; i-- {
		if all[i]++; all[i] <= '9' {
			break
		}
		all[i] = '0'
	}
	return bytes.TrimLeft(all[:point], "0"), all[point:]
}

// appendGeneral appends all digits of a number, never with an exponent.
func appendGeneral(dst []byte, value float64) []byte {
	d := decimalOf(value)
	whole, fraction := d.fixed(0, max(len(d.digits)-d.point, 0))
	if value < 0 {
		dst = append(dst, '-')
	}
	if len(whole) == 0 {
		dst = append(dst, '0')
	}
	if dst = append(dst, whole...); len(fraction) > 0 {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst
}

// ShowsAsWritten reports whether the format shows a number exactly as the file
// spells it. It is quick, and true for most numbers of a sheet.
func (f *Format) ShowsAsWritten(number []byte) bool {
	if f != nil && len(f.sections) > 0 || len(number) > significant {
		return false
	}
	point := -1
	for i, c := range number {
		switch {
		case c == '.' && point < 0:
			point = i
		case c < '0' || c > '9':
			return false
		}
	}
	last := len(number) - 1
	return last >= 0 && point != 0 && (number[0] != '0' || last == 0 || point == 1) && (point < 0 || number[last] > '0')
}

// Append appends a number, spelt as in a file (12, -0.5, 1.2E-7), to dst as the
// format shows it. isDate reports that the format shows it as a date or a time of
// day. A number that the format shows nothing of, or cannot show, is shown as in
// General. ok is false for text that is not a number, and for a number beyond a
// spreadsheet's range; dst is then unchanged.
func (f *Format) Append(dst, number []byte, date1904 bool) (shown []byte, isDate, ok bool) {
	value, ok := parse(number)
	if !ok {
		return dst, false, false
	}
	s, hasSign := f.pick(value)
	from := len(dst)
	switch {
	case s.isDate():
		if shown, ok := s.appendSerial(dst, value, date1904); ok {
			return shown, true, true
		}
	case s != nil && len(s.items) > 0:
		if value < 0 && !hasSign {
			dst = append(dst, '-')
		}
		body, isZero := len(dst), false
		if dst, isZero = s.render(dst, value); isZero {
			dst = append(dst[:from], dst[body:]...)
			body = from
		}
		if len(bytes.TrimSpace(dst[body:])) > 0 {
			return append(dst[:from], bytes.TrimSpace(dst[from:])...), false, true
		}
	}
	return appendGeneral(dst[:from], value), s.isDate(), true
}

// pick returns the section for a number, nil for General. hasSign reports that
// the section is for negative numbers only and shows their sign itself.
func (f *Format) pick(value float64) (s *section, hasSign bool) {
	switch {
	case f == nil || len(f.sections) == 0:
		return nil, false
	case value < 0 && len(f.sections) > 1:
		return &f.sections[1], true
	case value == 0 && len(f.sections) > 2:
		return &f.sections[2], false
	}
	return &f.sections[0], false
}

// render appends a number without its sign. Digits beyond the first place stand
// before it; places without a digit show 0, a space or nothing. isZero reports
// that it was rounded to zero, which has no sign.
func (s *section) render(dst []byte, value float64) (shown []byte, isZero bool) {
	whole, fraction := decimalOf(value).fixed(s.scale, s.decimals)
	known := len(bytes.TrimRight(fraction, "0")) // decimals that are not only filled up
	isZero = len(whole) == 0 && known == 0
	left := s.digits // places before the point that are not filled yet
	add := func(c byte, follow int) {
		if dst = append(dst, c); s.group && follow > 0 && follow%3 == 0 {
			dst = append(dst, ',')
		}
	}
	for _, t := range s.items {
		switch isWhole := left > 0; {
		case t.kind == general:
			dst, isZero = appendGeneral(dst, math.Abs(value)), value == 0
		case t.kind == point && s.digits == 0:
			dst = append(append(dst, whole...), '.')
		case t.kind != places:
			dst = append(dst, t.text...)
		case isWhole:
			own := max(len(whole)-left+1, 0) // the digits of this place
			for i := range own {
				add(whole[i], len(whole)-1-i)
			}
			if whole = whole[own:]; own == 0 && t.text == "0" {
				add('0', left-1)
			} else if own == 0 && t.text == "?" {
				dst = append(dst, ' ')
			}
			left--
		default:
			if known > 0 || t.text == "0" {
				dst = append(dst, fraction[0])
			} else if t.text == "?" {
				dst = append(dst, ' ')
			}
			fraction, known = fraction[1:], known-1
		}
	}
	return dst, isZero
}
