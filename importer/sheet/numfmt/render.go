package numfmt

import (
	"bytes"
	"math"
	"strconv"
)

// significant is the number of digits that a spreadsheet keeps of a number: files hold 1.1000000000000001 for 1.1.
const significant = 15

// decimal is a number by its digits: 0.digits × 10^point. Zero has no digits.
type decimal struct {
	value  float64
	digits []byte // without zeros at either end
	point  int
}

// parseDecimal reads a number as files spell it: 12, -0.5, 1.2E-7. ok is false for
// text that is not a number, and for a number beyond a spreadsheet's range.
func parseDecimal(number []byte) (d decimal, ok bool) {
	if len(bytes.Trim(number, "0123456789.eE+-")) > 0 { // ParseFloat reads more
		return d, false
	}
	value, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return d, false
	}
	d.value = value
	if value == 0 {
		return d, true
	}
	b := strconv.AppendFloat(make([]byte, 0, 24), math.Abs(value), 'e', significant-1, 64)
	mantissa, exponent, _ := bytes.Cut(b, []byte("e"))
	d.point, _ = strconv.Atoi(string(exponent))
	d.point++
	d.digits = bytes.TrimRight(append(mantissa[:1], mantissa[2:]...), "0")
	return d, true
}

// fixed returns the digits before the point, none for a number below one, and so many decimals, the last rounded half away from zero.
func (d decimal) fixed(scale, decimals int) (whole, fraction []byte) {
	point := d.point + scale
	if len(d.digits) == 0 {
		point = 0
	}
	all := append(append([]byte{'0'}, bytes.Repeat([]byte("0"), max(-point, 0))...), d.digits...) // the first takes what is carried
	point = 1 + max(point, 0)
	if more := point + decimals + 1 - len(all); more > 0 {
		all = append(all, bytes.Repeat([]byte("0"), more)...)
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

// appendGeneral appends all digits of the number, never with an exponent.
func (d decimal) appendGeneral(dst []byte) []byte {
	whole, fraction := d.fixed(0, max(len(d.digits)-d.point, 0))
	if d.value < 0 {
		dst = append(dst, '-')
	}
	if len(whole) == 0 {
		whole = []byte("0")
	}
	if dst = append(dst, whole...); len(fraction) > 0 {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst
}

// ShowsAsWritten reports whether the format shows a number exactly as the file
// spells it. It is quick, and true for most numbers of a sheet.
func (f *Format) ShowsAsWritten(number []byte) bool {
	return (f == nil || len(f.sections) == 0) && 0 < len(number) && len(number) <= significant &&
		(number[0] != '0' || len(number) == 1) && len(bytes.Trim(number, "0123456789")) == 0
}

// Append appends a number, spelt as in a file (12, -0.5, 1.2E-7), to dst as the
// format shows it. isDate reports that the format shows it as a date or a time of
// day. A number that the format shows nothing of, or cannot show, is shown as in
// General. ok is false for text that is not a number, and for a number beyond a
// spreadsheet's range; dst is then unchanged.
func (f *Format) Append(dst, number []byte, date1904 bool) (shown []byte, isDate, ok bool) {
	d, ok := parseDecimal(number)
	if !ok {
		return dst, false, false
	}
	s, hasSign := f.pick(d)
	from := len(dst)
	if s.isDate() {
		if shown, ok := s.appendSerial(dst, d.value, date1904); ok {
			return shown, true, true
		}
	} else if s != nil && len(s.items) > 0 {
		body, isZero := s.render(d)
		if d.value < 0 && !hasSign && !isZero {
			dst = append(dst, '-')
		}
		if dst = append(dst, body...); len(bytes.TrimSpace(body)) > 0 {
			return append(dst[:from], bytes.TrimSpace(dst[from:])...), false, true
		}
	}
	return d.appendGeneral(dst[:from]), s.isDate(), true
}

// pick returns the section for a number, nil for General. hasSign reports that
// the section is for negative numbers only and shows their sign itself.
func (f *Format) pick(d decimal) (s *section, hasSign bool) {
	switch {
	case f == nil || len(f.sections) == 0:
		return nil, false
	case d.value < 0 && len(f.sections) > 1:
		return &f.sections[1], true
	case d.value == 0 && len(f.sections) > 2:
		return &f.sections[2], false
	}
	return &f.sections[0], false
}

// render returns a number without its sign. Digits beyond the first place stand
// before it; places without a digit show 0, a space or nothing. isZero reports
// that it was rounded to zero, which has no sign.
func (s *section) render(d decimal) (shown []byte, isZero bool) {
	d.value = math.Abs(d.value)
	whole, fraction := d.fixed(s.scale, s.decimals)
	known := len(bytes.TrimRight(fraction, "0")) // decimals that are not only filled up
	isZero = len(whole) == 0 && known == 0
	left := s.digits // places before the point that are not filled yet
	add := func(c byte, follow int) {
		if shown = append(shown, c); s.group && follow > 0 && follow%3 == 0 {
			shown = append(shown, ',')
		}
	}
	for _, t := range s.items {
		switch isWhole := left > 0; {
		case t.kind == general:
			shown, isZero = d.appendGeneral(shown), d.value == 0
		case t.kind == point && s.digits == 0:
			shown = append(append(shown, whole...), '.')
		case t.kind != places:
			shown = append(shown, t.text...)
		case isWhole:
			own := max(len(whole)-left+1, 0) // the digits of this place
			for i := range own {
				add(whole[i], len(whole)-1-i)
			}
			if whole = whole[own:]; own == 0 && t.text == "0" {
				add('0', left-1)
			} else if own == 0 && t.text == "?" {
				shown = append(shown, ' ')
			}
			left--
		default:
			if known > 0 || t.text == "0" {
				shown = append(shown, fraction[0])
			} else if t.text == "?" {
				shown = append(shown, ' ')
			}
			fraction, known = fraction[1:], known-1
		}
	}
	return shown, isZero
}
