package sheet

import (
	"bytes"
	"strconv"
)

// show appends a number as the format shows it, and tells whether that is a
// date. What it shows nothing of, or cannot show, is shown as in General.
func (f *format) show(dst []byte, d decimal, date1904 bool) (shown []byte, date bool) {
	s, signless := f.pick(d)
	if s.isDate() {
		if shown, ok := s.renderSerial(dst, d, date1904); ok {
			return shown, true
		}
		return d.appendGeneral(dst), true
	}
	from := len(dst)
	if s != nil && len(s.items) > 0 {
		if d.negative && !signless {
			dst = append(dst, '-')
		}
		body, zero := len(dst), false
		if dst, zero = s.render(dst, d); zero {
			dst = append(dst[:from], dst[body:]...)
			body = from
		}
		if len(bytes.TrimSpace(dst[body:])) > 0 {
			return append(dst[:from], bytes.TrimSpace(dst[from:])...), false
		}
	}
	return d.appendGeneral(dst[:from]), false
}

// render appends a number without its sign. zero tells that it is rounded to
// zero, which has none.
func (s *section) render(dst []byte, d decimal) (shown []byte, zero bool) {
	d.negative = false
	if s.elapsed != 0 {
		return s.renderElapsed(dst, d)
	}
	if s.general {
		return s.fill(dst, nil, nil, d.appendGeneral(nil), 0), len(d.digits) == 0
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
	return s.fill(dst, d.whole(nil), d.decimals(nil, s.decimals), nil, exponent), len(d.digits) == 0
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
func (s *section) renderElapsed(dst []byte, d decimal) (shown []byte, zero bool) {
	total := d.float()*secondsPerDay + 0.5
	if total >= 1<<53 {
		return d.appendGeneral(dst), false
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
	return dst, seconds == 0
}
