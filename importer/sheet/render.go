package sheet

import (
	"bytes"
	"strconv"
)

// render appends a number as the format shows it. What it shows nothing of, or
// cannot show, is shown as in General.
func (f *format) render(dst []byte, d decimal) []byte {
	from := len(dst)
	if f != nil && len(f.sections) > 0 {
		s, signless := f.pick(d)
		if s != nil {
			if signless {
				d.negative = false
			}
			dst = s.render(dst, d)
			shown := bytes.TrimSpace(dst[from:])
			dst = append(dst[:from], shown...)
		}
	}
	if len(dst) == from {
		dst = d.appendGeneral(dst)
	}
	return dst
}

// pick is the section for a number. signless tells that the section itself
// says that the number is negative.
func (f *format) pick(d decimal) (s *section, signless bool) {
	v := d.float()
	last := len(f.sections) - 1
	for i := range f.sections {
		s := &f.sections[i]
		var holds bool
		switch {
		case s.operator != "":
			holds = compare(v, s.operator, s.operand)
		case i == last && i > 0:
			return s, i == 1 && f.sections[0].operator == ""
		case last == 0:
			holds = true
		case i == 0:
			holds = v > 0 || v == 0 && last == 1
		default:
			holds = v < 0
			signless = true
		}
		if holds {
			return s, signless && s.operator == ""
		}
	}
	return nil, false
}

func compare(v float64, operator string, operand float64) bool {
	switch operator {
	case "<":
		return v < operand
	case "<=":
		return v <= operand
	case ">":
		return v > operand
	case ">=":
		return v >= operand
	case "<>":
		return v != operand
	}
	return v == operand
}

func (s *section) render(dst []byte, d decimal) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	if s.elapsed != 0 {
		return s.renderElapsed(dst, d)
	}
	if s.general {
		d.negative = false
		return s.fill(dst, nil, nil, d.appendGeneral(nil), 0)
	}
	d.digits = bytes.Clone(d.digits)
	exponent := 0
	if len(d.digits) > 0 {
		d.point += s.scale
		if s.exponent > 0 {
			exponent = s.normalise(&d)
		}
	}
	d.round(d.point + s.decimals)
	if s.exponent > 0 && s.digits == 1 && d.point > 1 { // 9.99 rounded up to 10.0
		d.point--
		exponent++
	}
	if len(d.digits) == 0 {
		d.point = 0
	}
	return s.fill(dst, d.whole(nil), d.decimals(nil, s.decimals), nil, exponent)
}

// normalise moves the point for scientific notation and gives the exponent: a
// multiple of the number of places before the point.
func (s *section) normalise(d *decimal) int {
	exponent := d.point - 1
	if s.digits > 1 {
		exponent -= ((exponent % s.digits) + s.digits) % s.digits
	}
	d.point -= exponent
	return exponent
}

// fill puts the digits into their places. Digits without a place of their own
// stand before the first; places without a digit show 0, a space or nothing.
func (s *section) fill(dst, whole, decimals, general []byte, exponent int) []byte {
	left := s.digits // places before the point not filled yet
	shown := len(bytes.TrimRight(decimals, "0"))
	next := 0 // decimal place
	for _, it := range s.items {
		switch it.kind {
		case literal:
			dst = append(dst, it.text...)
		case generalDigits:
			dst = append(dst, general...)
		case wholeDigit:
			for len(whole) > left {
				dst = s.separated(append(dst, whole[0]), len(whole)-1)
				whole = whole[1:]
			}
			switch {
			case len(whole) == left:
				dst = s.separated(append(dst, whole[0]), left-1)
				whole = whole[1:]
			case it.text == "0":
				dst = s.separated(append(dst, '0'), left-1)
			case it.text == "?":
				dst = append(dst, ' ')
			}
			left--
		case point:
			if s.digits == 0 {
				dst = append(dst, whole...)
			}
			dst = append(dst, '.')
		case decimalDigit:
			if next < shown || it.text == "0" {
				dst = append(dst, decimals[next])
			} else if it.text == "?" {
				dst = append(dst, ' ')
			}
			next++
		case exponentSign:
			dst = s.appendExponent(dst, exponent)
		}
	}
	return dst
}

// separated sets thousands apart: follow digits stand before the point after
// this one.
func (s *section) separated(dst []byte, follow int) []byte {
	if s.group && follow > 0 && follow%3 == 0 {
		dst = append(dst, ',')
	}
	return dst
}

func (s *section) appendExponent(dst []byte, exponent int) []byte {
	sign := byte('+')
	if exponent < 0 {
		sign, exponent = '-', -exponent
	}
	dst = append(dst, 'E', sign)
	digits := strconv.Itoa(exponent)
	for range s.exponent - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// renderElapsed shows a number of days as hours, minutes and seconds, the
// first unit holding all that is above it, rounded to the second.
func (s *section) renderElapsed(dst []byte, d decimal) []byte {
	d.negative = false
	total := d.float()*secondsPerDay + 0.5
	if total >= 1<<53 {
		return d.appendGeneral(dst)
	}
	seconds := int64(total)
	first := true
	for _, it := range s.items {
		switch it.kind { // a point and decimals are left out
		case literal:
			dst = append(dst, it.text...)
		case unit:
			n := map[string]int64{"h": seconds / 3600, "m": seconds / 60, "s": seconds}[it.text]
			if !first {
				n %= 60
			}
			first = false
			if it.wide && n < 10 {
				dst = append(dst, '0')
			}
			dst = strconv.AppendInt(dst, n, 10)
		}
	}
	return dst
}
