package numfmt

import (
	"bytes"
	"strconv"
)

// ShowsAsWritten reports whether the format shows a number exactly as the file
// spells it. It is quick, and true for most numbers of a sheet.
func (f *Format) ShowsAsWritten(number []byte) bool {
	return (f == nil || len(f.sections) == 0) && isPlain(number)
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
	shown, isDate = f.show(dst, d, date1904)
	return shown, isDate, true
}

// show appends a number as the format shows it and reports whether that is a
// date.
func (f *Format) show(dst []byte, d decimal, date1904 bool) (shown []byte, date bool) {
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

// pick returns the section for a number, nil for General. signless reports that
// the section is for negative numbers only and shows their sign itself.
func (f *Format) pick(d decimal) (s *section, signless bool) {
	switch {
	case f == nil || len(f.sections) == 0:
		return nil, false
	case d.negative && len(f.sections) > 1:
		return &f.sections[1], true
	case len(d.digits) == 0 && len(f.sections) > 2:
		return &f.sections[2], false
	}
	return &f.sections[0], false
}

// render appends a number without its sign. zero reports that it was rounded to
// zero, which has no sign.
func (s *section) render(dst []byte, d decimal) (shown []byte, zero bool) {
	d.negative = false
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

// normalise moves the point for scientific notation and returns the exponent, a
// multiple of the number of places before the point.
func (s *section) normalise(d *decimal) int {
	exponent := d.point - 1
	if s.digits > 1 {
		exponent -= ((exponent % s.digits) + s.digits) % s.digits
	}
	d.point -= exponent
	return exponent
}

// fill writes the digits into their places. Digits beyond the first place are
// written before it; places without a digit show 0, a space or nothing.
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

// separated appends a comma where one belongs after a digit that follow more digits
// come after, before the point.
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
